/** After a run: how often detections passed each node, and the nodes that a chosen detection is made of. */
import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { Canvas } from "../api/types";
import { foundOf } from "../state/found";
import { useStudio } from "../state/store";
import { nodeOf, operandsOf, textOfField } from "./model";
import { useGraph } from "./state";

/** Detections that are asked about one by one, where the structure does not say what they passed. */
const ASKED = 300;
const NONE: ReadonlySet<string> = new Set();

/** Nodes that every detection passes, and those that only some may pass. What is negated is passed by none. */
export function passes(canvas: Canvas): { all: Set<string>; some: Set<string> } {
  const all = new Set<string>();
  const some = new Set<string>();
  const walk = (id: string, sure: boolean) => {
    const one = nodeOf(canvas, id);
    if (!one || all.has(id) || some.has(id)) return;
    (sure ? all : some).add(id);
    if (one.kind === "Not") return;
    operandsOf(canvas, id).forEach((link, i) => {
      // an alternative, or what may be repeated no times
      const maybe = one.kind === "Or" || (one.kind === "Until" && i === 0);
      walk(link.from, sure && !maybe);
    });
  };
  const complex = canvas.nodes.find((one) => one.kind === "ComplexEvent");
  if (complex) walk(complex.id, true);
  return { all, some };
}

/** The nodes of a drawing that events with these roles passed: the events, and the operators above them. */
export function passedBy(canvas: Canvas, roles: ReadonlySet<string>): Set<string> {
  const out = new Set<string>();
  for (const one of canvas.nodes) {
    const tag = textOfField(one, "tag");
    if (one.kind !== "Event" || !roles.has(tag || one.id)) continue;
    let id: string | undefined = one.id;
    while (id !== undefined && !out.has(id)) {
      const now: string = id;
      out.add(now);
      id = canvas.links.find((link) => link.from === now)?.to;
    }
  }
  return out;
}

async function rolesOf(job: string, label: string, signal: AbortSignal): Promise<Set<string>> {
  const { constituents } = await api.why(job, label, 1, signal);
  return new Set(constituents.flatMap(({ role }) => (role === null ? [] : [role.replace(/\[\d+\]$/, "")])));
}

async function labelsOf(job: string, type: string, signal: AbortSignal): Promise<string[]> {
  const { columns, rows } = await api.rows(job, { type, limit: ASKED }, signal);
  const at = columns.findIndex((column) => column.name === "label");
  return rows.flatMap((row) => (typeof row[at] === "string" ? [row[at]] : []));
}

async function counted(canvas: Canvas, job: string, type: string, found: number, signal: AbortSignal) {
  const { all, some } = passes(canvas);
  const out = new Map([...all].map((id) => [id, found]));
  if (!some.size || found > ASKED) return out;
  for (const id of some) out.set(id, 0);
  for (const label of await labelsOf(job, type, signal))
    for (const id of passedBy(canvas, await rolesOf(job, label, signal)))
      if (some.has(id)) out.set(id, (out.get(id) ?? 0) + 1);
  return out;
}

export function usePassed(): { passed: ReadonlyMap<string, number> | null; lit: ReadonlySet<string> } {
  const job = useStudio((state) => state.job);
  const selection = useStudio((state) => state.selection);
  const view = useStudio((state) => state.view);
  const canvas = useGraph((state) => state.canvas);
  const isDraft = useGraph((state) => Boolean(state.path && state.drafts[state.path]?.[state.chosen ?? ""]));
  const [passed, setPassed] = useState<ReadonlyMap<string, number> | null>(null);
  const [lit, setLit] = useState<ReadonlySet<string>>(NONE);
  const type = canvas?.head.into ?? null;
  const found = type ? foundOf(job, type) : null;
  const done = job?.state === "done" && !isDraft ? job.id : null;
  const shown = view === "Graph";

  useEffect(() => {
    if (!canvas || !done || !type || found === null || !shown) {
      if (shown) setPassed(null);
      return;
    }
    const control = new AbortController();
    counted(canvas, done, type, found, control.signal).then(
      (now) => !control.signal.aborted && setPassed(now),
      () => !control.signal.aborted && setPassed(null),
    );
    return () => control.abort();
  }, [canvas, done, type, found, shown]);

  const label = selection && selection.job === done && selection.type === type ? selection.label : null;
  useEffect(() => {
    if (!canvas || !label || !done || !shown) {
      if (shown) setLit(NONE);
      return;
    }
    const control = new AbortController();
    rolesOf(done, label, control.signal).then(
      (roles) => !control.signal.aborted && setLit(passedBy(canvas, roles)),
      () => !control.signal.aborted && setLit(NONE),
    );
    return () => control.abort();
  }, [canvas, label, done, shown]);
  return { passed, lit };
}

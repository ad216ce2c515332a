/** The types of events that a pattern can use: declared, derived, or in the events of the project; with attributes. */
import { create } from "zustand";
import { api } from "../api/client";
import type { OutlineEntry, Statement } from "../api/types";
import { derives } from "../parts/order";
import { get, useStudio } from "../state/store";
import { columnsOf } from "./model";
import { getGraph } from "./state";

export interface Attribute {
  name: string;
  type: string | null;
}

export interface Known {
  /** by type, of the events of the project */
  events: Record<string, Attribute[]>;
}

export const useKnown = create<Known>()(() => ({ events: {} }));

/** The attributes that a text `create schema T(a int, b string)` declares. */
export function declared(text: string): { name: string; attributes: Attribute[] } | null {
  const plain = text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, " ");
  const found = /create\s+(?:\w+\s+)*?schema\s+(`[^`]+`|[\w$]+)\s*(?:as\s*)?\(([\s\S]*)\)/i.exec(plain);
  if (!found) return null;
  const attributes = (found[2] ?? "")
    .split(",")
    .map((part) => part.trim().split(/\s+/))
    .flatMap(([name, ...type]) => (name ? [{ name: bare(name), type: type.join(" ") || null }] : []));
  return { name: bare(found[1] ?? ""), attributes };
}

function bare(name: string): string {
  return name.replace(/^`|`$/g, "");
}

function ofStatements(statements: readonly Statement[], type: string): Attribute[] {
  for (const one of statements) {
    if (one.kind === "schema") {
      const found = declared(one.text);
      if (found?.name === type) return found.attributes;
    }
    const complex = one.canvas?.nodes.find((node) => node.kind === "ComplexEvent");
    if (complex?.fields.typeName === type)
      return columnsOf(complex).flatMap(({ name }) => (name ? [{ name, type: null }] : []));
  }
  return [];
}

/** The attributes of a type, as far as they are known. */
export function attributesOf(type: string): Attribute[] {
  const own = ofStatements(getGraph().statements, type);
  if (own.length) return own;
  const given = useKnown.getState().events[type];
  if (given?.length) return given;
  const planned = get().plan?.inputs.find((one) => one.type === type);
  return planned?.attributes ?? [];
}

/** The types of a program: those that come in, then those that statements derive, but for the statement's own. */
export function typesOf(
  outline: readonly OutlineEntry[],
  events: Known["events"],
  own: string | null,
): string[] {
  const made = new Set(outline.filter(derives).flatMap(({ output }) => output ?? []));
  const all = new Set([
    ...Object.keys(events),
    ...outline.flatMap(({ output, reads }) => [output ?? "", ...reads]),
  ]);
  all.delete(own ?? "");
  all.delete("");
  const sorted = [...all].sort((a, b) => a.localeCompare(b));
  return [...sorted.filter((name) => !made.has(name)), ...sorted.filter((name) => made.has(name))];
}

let asked = "";

/** Looks into the events of the project, when they have changed. */
export async function lookIntoEvents(): Promise<void> {
  const { project, files } = get();
  const events = project.program?.events;
  const stamp = JSON.stringify([
    events,
    project.program?.options,
    files.filter((f) => f.kind === "event").map((f) => f.etag),
  ]);
  if (stamp === asked) return;
  asked = stamp;
  if (events ? events.length === 0 : !files.some((file) => file.kind === "event"))
    return useKnown.setState({ events: {} });
  try {
    const { types } = await api.peek(undefined, undefined, 0);
    useKnown.setState({
      events: Object.fromEntries(
        types.map(({ name, schema }) => [
          name,
          Object.entries(schema).map(([attribute, type]) => ({ name: attribute, type })),
        ]),
      ),
    });
  } catch {
    // events that cannot be read: Run says why; patterns can still use declared types
    useKnown.setState({ events: {} });
  }
}

useStudio.subscribe(
  (state) => [state.project, state.files] as const,
  () => void lookIntoEvents(),
  { equalityFn: (a, b) => a.every((one, i) => one === b[i]) },
);

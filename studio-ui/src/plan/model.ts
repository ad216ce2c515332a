/** The plan as boxes: definitions and the types that come in, and who reads whom. */
import type { Definition, OutlineEntry, PlanAnswer } from "../api/types";
import type { Box } from "./layout";

export interface PlanBox extends Box {
  /** `input`: a type that comes in; `timer`: one that the clock makes */
  kind: "input" | "timer" | "definition";
  name: string;
  definition: Definition | null;
}

/** Attributes of the key, each once, in the order of the types that are read. */
export function keyOf({ key }: Definition): string[] {
  const given = Array.isArray(key) ? key : Object.values(key as Record<string, string[]>).flat();
  return [...new Set(given)];
}

/** The key type by type, if types call it differently. */
export function keyText({ key }: Definition): string {
  if (Array.isArray(key)) return key.join(", ");
  const parts = Object.entries(key as Record<string, string[]>);
  const texts = new Set(parts.map(([, names]) => names.join(", ")));
  if (texts.size <= 1) return [...texts][0] ?? "";
  return parts.map(([type, names]) => `${type}: ${names.join(", ")}`).join("; ");
}

export function isUnbounded({ retention, state }: Definition): boolean {
  return state === "grows" || retention.some((one) => one.unbounded);
}

/** What the execution of a definition costs; unbounded state is shown with the retention. */
export function costsOf({ warnings }: Definition): Definition["warnings"] {
  return warnings.filter(({ kind }) => kind !== "unbounded-state");
}

/** Names of definitions as they are addressed: a second equal one has `_2`. */
export function addresses(definitions: readonly Definition[]): string[] {
  const seen = new Map<string, number>();
  return definitions.map(({ name }) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}_${count}`;
  });
}

/** Beside the names that several definitions have, where each of them is: `:65`, or `b.tesla:65` among several files. */
export function placesOf(definitions: readonly Definition[]): string[] {
  return definitions.map(({ name, file, line }) => {
    const same = definitions.filter((other) => other.name === name);
    if (same.length === 1 || line === null) return "";
    const files = new Set(same.map((other) => other.file));
    return files.size > 1 ? `${file?.replace(/^.*\//, "")}:${line}` : `:${line}`;
  });
}

export function boxesOf({ definitions }: PlanAnswer): PlanBox[] {
  const names = addresses(definitions);
  const makers = new Map<string, string[]>();
  definitions.forEach(({ output }, i) => {
    makers.set(output, [...(makers.get(output) ?? []), `d:${names[i]}`]);
  });
  const inputs = new Map<string, PlanBox>();
  const boxes = definitions.map((definition, i): PlanBox => {
    const id = `d:${names[i]}`;
    const reads = definition.reads.flatMap((type) => {
      const made = makers.get(type);
      if (made) return made.filter((other) => other !== id);
      const input = `t:${type}`;
      const kind = /^Timer\b/.test(type) ? "timer" : "input";
      if (!inputs.has(input))
        inputs.set(input, { id: input, kind, name: type, level: 0, reads: [], definition: null });
      return [input];
    });
    return { id, kind: "definition", name: definition.name, level: definition.level, reads, definition };
  });
  return [...inputs.values(), ...boxes];
}

/** All that a box reads, and all that reads it, through any number of links. */
export function related(boxes: readonly PlanBox[], id: string): Set<string> {
  const out = new Set([id]);
  const readers = (one: string) => boxes.filter((box) => box.reads.includes(one)).map((box) => box.id);
  const reads = (one: string) => boxes.find((box) => box.id === one)?.reads ?? [];
  for (const next of [reads, readers]) {
    const todo = [id];
    for (let at = todo.pop(); at !== undefined; at = todo.pop())
      for (const other of next(at))
        if (!out.has(other)) {
          out.add(other);
          todo.push(other);
        }
  }
  return out;
}

/** The plan of a statement: two definitions of one name are told apart by their place. */
export function plannedOf(plan: PlanAnswer | null, entry: OutlineEntry | undefined): Definition | undefined {
  const named = plan?.definitions.filter((one) => one.name === entry?.name) ?? [];
  const { file, span } = entry ?? {};
  return (
    named.find(
      (one) => one.file === file && one.span?.line === span?.line && one.span?.column === span?.column,
    ) ??
    named.find((one) => one.file === file) ??
    named[0]
  );
}

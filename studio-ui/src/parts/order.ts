/** The order of a program's types: that in which their definitions are evaluated, so that colours are as in a plot. */
import type { OutlineEntry } from "../api/types";

const DECLARATIONS = new Set(["schema", "event", "table", "input", "fact"]);

/** Whether a statement derives events, and does not only declare those that come in. */
export function derives(entry: OutlineEntry): boolean {
  return entry.output !== null && !(DECLARATIONS.has(entry.kind) && entry.reads.length === 0);
}

/** Derived types, a definition after all those that it reads; ties by the place in the program. */
export function evaluationOrder(outline: readonly OutlineEntry[]): string[] {
  const made = outline.filter(derives);
  const makers = new Map<string, number[]>();
  made.forEach((entry, i) => {
    const type = entry.output ?? "";
    makers.set(type, [...(makers.get(type) ?? []), i]);
  });
  const waits = made.map((entry) => {
    const others = entry.reads.filter((type) => type !== entry.output);
    return new Set(others.flatMap((type) => makers.get(type) ?? []));
  });
  const out: string[] = [];
  const left = new Set(made.keys());
  while (left.size) {
    // in a cycle, which the check reports, the first in the text goes on
    const next = [...left].find((i) => ![...(waits[i] ?? [])].some((j) => left.has(j))) ?? Math.min(...left);
    left.delete(next);
    out.push(made[next]?.output ?? "");
  }
  return [...new Set(out)];
}

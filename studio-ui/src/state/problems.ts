/** Problems of the program and of drawings; what both have is listed once, with its node. */
import type { Problem } from "../api/types";

export function merged(program: readonly Problem[], drawn: readonly Problem[]): Problem[] {
  const keyOf = ({ kind, file, span }: Problem) =>
    span ? `${kind}\n${file}\n${span.line}:${span.column}` : "";
  const nodes = new Map(drawn.filter((one) => one.span && one.node).map((one) => [keyOf(one), one]));
  const known = new Set(program.map(keyOf));
  return [
    ...program.map((one) => {
      const at = one.span ? nodes.get(keyOf(one)) : undefined;
      return at ? { ...one, node: at.node, definition: at.definition } : one;
    }),
    ...drawn.filter((one) => !one.span || !known.has(keyOf(one))),
  ];
}

/** The line of a problem; a problem of a draft, which is in no text, comes after those of its file. */
export function lineOf(problem: Problem): number {
  return problem.span?.line ?? Number.MAX_SAFE_INTEGER;
}

/** Problems that one can go to, in texts and in drafts, in the order of files and texts. */
export function inOrder(program: readonly Problem[], drawn: readonly Problem[]): Problem[] {
  return merged(program, drawn)
    .filter((one) => one.file && (one.span || drawn.includes(one)))
    .sort(
      (a, b) =>
        (a.file ?? "").localeCompare(b.file ?? "") ||
        lineOf(a) - lineOf(b) ||
        (a.span?.column ?? 0) - (b.span?.column ?? 0),
    );
}

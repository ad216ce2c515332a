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

import { expect, it } from "vitest";
import type { Problem } from "../api/types";
import { inOrder } from "./problems";

function problem(message: string, more: Partial<Problem>): Problem {
  const base = {
    kind: "syntax",
    severity: "error",
    hint: null,
    file: "a.epl",
    span: null,
    related: [],
  } as const;
  return { ...base, related: [], node: null, row: null, definition: null, message, ...more };
}

const at = (line: number) => ({ line, column: 1, end_line: line, end_column: 2 });

it("has problems of drafts after those of their file's text", () => {
  const program = [
    problem("other file", { file: "b.epl", span: at(1) }),
    problem("second", { span: at(9) }),
    problem("first", { span: at(2) }),
    problem("of the whole program", { file: null }),
    problem("of a file", {}),
  ];
  const drawn = [problem("draft", { definition: "Q", node: "a1" }), problem("unnamed", { definition: "Q" })];
  const found = inOrder(program, drawn).map((one) => one.message);
  expect(found).toEqual(["first", "second", "draft", "unnamed", "other file"]);
});

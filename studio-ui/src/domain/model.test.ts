import { expect, it, vi } from "vitest";
import type { Statement } from "../api/types";
import { differences, freeName, typesOf } from "./model";

vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => {} });

const span = { line: 1, column: 1, end_line: 1, end_column: 2 };
const schema: Statement = {
  id: "A",
  kind: "schema",
  span,
  text: "create schema A(x int, y string)",
  canvas: null,
  draft: false,
};
const outline = [
  { file: "q.epl", name: "A", kind: "schema", output: "A", reads: [], span },
  { file: "q.epl", name: "Q", kind: "pattern", output: "R", reads: ["A", "B"], span },
];

it("lists the types of the file first, then those of events, then derived ones", () => {
  const types = typesOf([schema], outline, { B: [{ name: "z", type: "int" }] });
  expect(types.map((one) => [one.name, one.editable, one.derived])).toEqual([
    ["A", true, false],
    ["B", false, false],
    ["R", false, true],
  ]);
  expect(types[0]?.read.map((one) => one.name)).toEqual(["Q"]);
});

it("finds what the events have and the file does not declare", () => {
  const events = {
    A: [
      { name: "x", type: "float" },
      { name: "w", type: "int" },
    ],
    C: [
      { name: "p", type: "int" },
      { name: "q", type: "string" },
    ],
    R: [{ name: "n", type: "int" }],
  };
  const found = differences(typesOf([schema], outline, events), events).map((one) => one.change);
  expect(found).toEqual([
    { op: "retype-attribute", type: "A", attribute: "x", to: "float" },
    { op: "add-attribute", type: "A", attribute: "w", to: "int" },
    { op: "add-type", type: "C", attribute: "p", to: "int" },
    { op: "add-attribute", type: "C", attribute: "q", to: "string" },
  ]);
  expect(freeName(["Type1", "Type3"], "Type")).toBe("Type2");
});

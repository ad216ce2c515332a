import { expect, test } from "vitest";
import { evaluationOrder } from "./order";

const entry = (name: string, kind: string, reads: string[], output: string | null = name) => ({
  file: "a",
  name,
  kind,
  output,
  reads,
  span: null,
});

test("types are in the order of their evaluation, declarations are no derived types", () => {
  const outline = [
    entry("In", "event", []),
    entry("Last", "rule", ["Mid"]),
    entry("Mid", "rule", ["First", "In"]),
    entry("First", "event", ["In"]),
    entry("First", "subscription", ["First"], null),
  ];
  expect(evaluationOrder(outline)).toEqual(["First", "Mid", "Last"]);
});

test("rules that read their own type, and cycles, end", () => {
  expect(
    evaluationOrder([entry("A", "rule", ["A"]), entry("B", "rule", ["C"]), entry("C", "rule", ["B"])]),
  ).toEqual(["A", "B", "C"]);
});

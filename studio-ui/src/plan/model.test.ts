import { expect, it } from "vitest";
import type { Definition, PlanAnswer } from "../api/types";
import { placesOf, plannedOf } from "./model";

const at = (line: number) => ({ line, column: 1, end_line: line, end_column: 9 });
const entry = (file: string, line: number) => {
  return { file, name: "Worsening", kind: "rule", output: "Worsening", reads: [], span: at(line) };
};

it("tells two definitions of one name apart by their place", () => {
  const one = (file: string, line: number) =>
    ({ name: "Worsening", file, line, span: at(line) }) as Definition;
  const definitions = [one("a.tesla", 3), one("a.tesla", 9), one("b.tesla", 3)];
  const plan = { inputs: [], definitions, spark: [], stream: {}, text: "" } satisfies PlanAnswer;
  expect(plannedOf(plan, entry("a.tesla", 9))).toBe(definitions[1]);
  expect(plannedOf(plan, entry("b.tesla", 3))).toBe(definitions[2]);
  expect(plannedOf(plan, entry("b.tesla", 5))).toBe(definitions[2]); // it has moved since
  expect(plannedOf(plan, undefined)).toBeUndefined();
  expect(plannedOf(null, entry("a.tesla", 9))).toBeUndefined();
});

it("marks the definitions of one name by their lines, and by their files if these differ", () => {
  const one = (name: string, file: string, line: number) => ({ name, file, line }) as Definition;
  expect(
    placesOf([one("Late", "a.tesla", 3), one("Late", "a.tesla", 9), one("Other", "a.tesla", 12)]),
  ).toEqual([":3", ":9", ""]);
  expect(placesOf([one("Late", "rules/a.tesla", 3), one("Late", "b.tesla", 3)])).toEqual([
    "a.tesla:3",
    "b.tesla:3",
  ]);
});

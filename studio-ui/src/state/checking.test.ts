import { expect, it } from "vitest";
import type { OutlineEntry, Problem } from "../api/types";
import { next } from "./checking";
import type { Check } from "./store";

const entry = (file: string, name: string, reads: string[] = ["In"]): OutlineEntry => ({
  file,
  name,
  kind: "rule",
  output: name,
  reads,
  span: null,
});
const problem = (kind: string, file: string, severity: Problem["severity"] = "error"): Problem => ({
  kind,
  severity,
  message: kind,
  hint: null,
  file,
  span: null,
  related: [],
  node: null,
  row: null,
  definition: null,
});
const nothing: Check = {
  state: "none",
  checked: false,
  problems: [],
  outline: [],
  stale: [],
  order: [],
  error: null,
};
const names = (entries: OutlineEntry[]) => entries.map(({ name }) => name);

it("keeps the definitions of a file with a syntax error, and the order of all types", () => {
  const a = [entry("a", "A"), entry("a", "B")];
  const b = [entry("b", "C")];
  const good = next(nothing, [], [...a, ...b]);
  expect(good).toMatchObject({ checked: true, order: ["A", "B", "C"], stale: [] });
  const torn = next(good, [problem("syntax", "a")], [entry("a", "B"), ...b, entry("b", "D")]);
  expect(names(torn.stale)).toEqual(["A"]);
  expect(torn.order).toEqual(["A", "B", "C", "D"]);
  const worse = next(torn, [problem("syntax", "a")], b);
  expect(names(worse.stale).sort()).toEqual(["A", "B"]);
  const mended = next(worse, [], [...b, ...a]);
  expect(mended).toMatchObject({ stale: [], order: ["C", "A", "B"] });
});

it("forgets what was taken out of a file without errors", () => {
  const good = next(nothing, [], [entry("a", "A"), entry("b", "B")]);
  const other = next(good, [problem("syntax", "b")], [entry("b", "B")]);
  expect(other.stale).toEqual([]);
  expect(next(good, [problem("unknown-name", "a")], [entry("b", "B")]).stale).toEqual([]);
});

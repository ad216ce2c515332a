import { Text } from "@codemirror/state";
import { expect, it } from "vitest";
import type { OutlineEntry } from "../api/types";
import { atomsOf, clausesOf, definitionOf, type Explained, marksOf } from "./explained";

const one = (type: string, role: string | null = null, ...constituents: Explained[]): Explained => ({
  type,
  role,
  constituents,
});
const words = (text: string, of: Explained) => atomsOf(text, of).map(({ from, to }) => text.slice(from, to));

it("finds the words that stand for a constituent, but none in strings and comments", () => {
  const epl = "select a.x from pattern [every a=Temp(x > 1) -> b = `Temp`(name = 'Temp')] // Temp";
  expect(words(epl, one("Temp", "a"))).toEqual(["a=Temp"]);
  expect(words(epl, one("Temp", "b"))).toEqual(["b = `Temp`"]);
  expect(words(epl, one("Temp", "c"))).toEqual(["Temp", "`Temp`"]);
  expect(words("define X from Temp(v > 1) as t and each Temp", one("Temp", "t"))).toEqual([
    "Temp(v > 1) as t",
  ]);
  expect(words("Temperature Temp $Temp x.Temp", one("Temp"))).toEqual(["Temp"]);
  expect(words("nothing", one("a+b"))).toEqual([]);
});

const lines = [
  "create schema Temp(x int);",
  "insert into Hot",
  "select a.x from pattern [every a=Temp];",
  "insert into Hot select b.x from pattern [every b=Ice];",
  "insert into Later select h.x from pattern [every h=Hot -> c=Temp];",
];
const entry = (name: string, line: number, end: number, reads: string[]): OutlineEntry => ({
  file: "a.epl",
  name,
  kind: "pattern",
  output: name,
  reads,
  span: { line, column: 1, end_line: end, end_column: (lines[end - 1]?.length ?? 0) + 1 },
});
const outline = [
  { ...entry("Temp", 1, 1, []), kind: "schema" },
  entry("Hot", 2, 3, ["Temp"]),
  entry("Hot", 4, 4, ["Ice"]),
  entry("Later", 5, 5, ["Hot", "Temp"]),
];

it("takes the definition that reads all constituents", () => {
  expect(definitionOf(one("Hot", null, one("Ice", "b")), outline)).toBe(outline[2]);
  expect(definitionOf(one("Hot", null, one("Temp", "a")), outline)).toBe(outline[1]);
  expect(definitionOf(one("Temp"), outline)).toBeNull();
});

it("marks the definition of the detection, and in turn those of its constituents", () => {
  const doc = Text.of(lines);
  const why = one("Later", null, one("Hot", "h", one("Temp", "a")), one("Temp", "c"));
  const marks = marksOf(doc, "a.epl", outline, why);
  const shown = marks.atoms.map(({ from, to }) => doc.sliceString(from, to));
  expect(shown).toEqual(["a=Temp", "h=Hot", "c=Temp"]);
  expect(marks.lines && doc.lineAt(marks.lines.from).number).toBe(5);
  expect(marksOf(doc, "other.epl", outline, why)).toEqual({ lines: null, atoms: [] });
  expect(marksOf(doc, "a.epl", outline, null)).toEqual({ lines: null, atoms: [] });
});

it("finds clauses where they stand, in the order of the text", () => {
  const doc = Text.of(["define Hot(v)", "from Temp(v > 45)"]);
  const span = (line: number, column: number, end: number) => ({
    line,
    column,
    end_line: line,
    end_column: end,
  });
  const clause = (message: string, at: ReturnType<typeof span>) => ({ file: "a", span: at, message });
  const marks = clausesOf(doc, [
    clause("second", span(2, 11, 17)),
    clause("first", span(1, 8, 11)),
    clause("gone", span(3, 1, 4)),
    clause("nothing", span(1, 1, 1)),
  ]);
  expect(marks.map(({ from, to, message }) => [doc.sliceString(from, to), message])).toEqual([
    ["Hot", "first"],
    ["v > 45", "second"],
  ]);
});

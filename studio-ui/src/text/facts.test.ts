import { EditorState, type TransactionSpec } from "@codemirror/state";
import { expect, it } from "vitest";
import { type Fact, facts, factsIn, keepFacts, setFacts } from "./facts";

const fact = (name: string, line: number, end = line): Fact => {
  return { name, line, end, found: 3, key: [], unbounded: false, text: name };
};
const doc = "define A()\n  from X()\ndefine B() from Y()\ndefine C() from Z()";
const start = EditorState.create({ doc, extensions: facts(() => {}) });
const shown = start.update({ effects: setFacts.of([fact("A", 1, 2), fact("B", 3), fact("C", 4)]) }).state;
const after = (...specs: TransactionSpec[]) => {
  const state = specs.reduce((now, spec) => now.update(spec).state, shown);
  return factsIn(state.update({ effects: keepFacts.of(null) }).state);
};

it("keeps the facts of statements that have not changed while another one is wrong", () => {
  expect(factsIn(shown)).toEqual([
    ["A", 1],
    ["B", 3],
    ["C", 4],
  ]);
  const inside = doc.indexOf("X");
  expect(after({ changes: { from: inside, insert: "((" } })).toEqual([
    ["B", 3],
    ["C", 4],
  ]);
  // undone, it is what it was
  const undone = { changes: { from: inside, to: inside + 2 } };
  expect(after({ changes: { from: inside, insert: "((" } }, undone)).toHaveLength(3);
});

it("moves facts with their statements, and drops them with these", () => {
  expect(after({ changes: { from: 0, insert: "wrong\n" } })).toEqual([
    ["A", 2],
    ["B", 4],
    ["C", 5],
  ]);
  expect(after({ changes: { from: doc.length, insert: "\nwrong" } })).toHaveLength(3);
  expect(after({ changes: { from: doc.length, insert: " wrong" } })).toHaveLength(2);
  expect(after({ changes: { from: 0, insert: "x" } })).toHaveLength(2);
  expect(after({ changes: { from: 0, to: doc.indexOf("define C") } })).toEqual([["C", 1]]);
  expect(after({ changes: { from: 0, to: doc.length } })).toEqual([]);
});

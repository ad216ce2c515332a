import { EditorState, Text } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import {
  applied,
  fromOffset,
  offsetIn,
  offsetOf,
  placeOf,
  pointsOf,
  positionOf,
  rangeOf,
  separatorOf,
  unitsOf,
} from "./offsets";

const TEXTS = ["", "plain", "ä😀b", "😀😀😀", "a\ud83db", "\ude00x", "𝒳 = '🇩🇪'", "\ufeffa"];

describe("code points and units", () => {
  it("counts code points as Python does", () => {
    expect(pointsOf("😀a")).toBe(2);
    expect(unitsOf("😀a", 1)).toBe(2);
    for (const text of TEXTS) expect(pointsOf(text)).toBe([...text].length);
  });

  it("is its own inverse at every code point", () => {
    for (const text of TEXTS) {
      let units = 0;
      for (const [n, character] of [...text].entries()) {
        expect(unitsOf(text, n)).toBe(units);
        expect(pointsOf(text, units)).toBe(n);
        units += character.length;
      }
      expect(unitsOf(text, 99)).toBe(text.length);
    }
  });
});

describe("places in a document", () => {
  const lines = ["define 😀😀 X", "", "b😀"];
  const doc = Text.of(lines);

  it("finds lines and columns", () => {
    expect(positionOf(doc, 1, 11)).toBe("define 😀😀 ".length);
    expect(placeOf(doc, positionOf(doc, 3, 2))).toEqual({ line: 3, column: 2 });
    expect(positionOf(doc, 9, 1)).toBe(doc.length);
    expect(positionOf(doc, 2, 7)).toBe(doc.line(2).from);
  });

  it("marks at least one character", () => {
    const marked = (column: number) => {
      const { from, to } = rangeOf(doc, { line: 1, column, end_line: 1, end_column: column });
      return doc.sliceString(from, to);
    };
    expect(marked(8)).toBe("😀");
    expect(marked(12)).toBe("X");
  });

  it("turns offsets of files into places and back, whatever ends the lines", () => {
    for (const separator of ["\n", "\r\n"]) {
      const file = [...lines.join(separator)];
      for (let position = 0; position <= doc.length; position++) {
        const before = doc.sliceString(0, position, separator);
        if (/[\ud800-\udbff]$/.test(before)) continue;
        const offset = offsetOf(doc, position, separator);
        expect(file.slice(0, offset).join("")).toBe(before);
        expect(fromOffset(doc, offset, separator)).toBe(position);
        const { line, column } = placeOf(doc, position);
        expect(offsetIn(file.join(""), line, column)).toBe(offset);
      }
    }
  });
});

describe("ends of lines", () => {
  it("keeps every text as it was", () => {
    const texts = [
      "a\nb",
      "a\r\nb",
      "a\r\nb\nc",
      "a\rb\r\nc",
      "a\rb",
      "a\r\n",
      "a\n\r\n",
      "",
      "\r\n\r\n",
      "\ufeffa\r\n",
    ];
    for (const text of texts) {
      const separator = separatorOf(text);
      const state = EditorState.create({ doc: text, extensions: EditorState.lineSeparator.of(separator) });
      expect(state.sliceDoc()).toBe(text);
    }
    expect(separatorOf("a\r\nb\r\n")).toBe("\r\n");
    expect(separatorOf("a\r\nb\n")).toBe("\n");
  });
});

it("applies edits whose offsets count code points", () => {
  const text = "a😀b😀c\r\nend";
  expect(applied(text, [])).toBe(text);
  expect(
    applied(text, [
      { from: 0, to: 1, insert: "A😀" },
      { from: 2, to: 3, insert: "" },
      { from: 3, to: 5, insert: "x" },
      { from: 7, to: 7, insert: "the " },
    ]),
  ).toBe("A😀😀x\r\nthe end");
});

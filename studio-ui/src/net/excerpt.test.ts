import { expect, it } from "vitest";
import { excerpt } from "./excerpt";

it("marks a part of a line, by code points", () => {
  const text = "one\n𝔞bc def ghi\nthree";
  expect(excerpt(text, { line: 2, column: 5, end_line: 2, end_column: 8 })).toEqual({
    before: "𝔞bc ",
    marked: "def",
    after: " ghi",
  });
});

it("marks several lines, whatever ends them", () => {
  expect(excerpt("a b\r\nc d\re f", { line: 1, column: 3, end_line: 3, end_column: 2 })).toEqual({
    before: "a ",
    marked: "b\nc d\ne",
    after: " f",
  });
});

it("knows of no line beyond the text", () => {
  expect(excerpt("a", { line: 5, column: 1, end_line: 5, end_column: 2 })).toBeNull();
});

import { SearchQuery } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { expect, it } from "vitest";
import { matchesOf } from "./count";

it("finds where the matches of a search begin, up to a number", () => {
  const state = EditorState.create({ doc: "Temp Hot temp\nHotter" });
  expect(matchesOf(state, new SearchQuery({ search: "temp" }))).toEqual([0, 9]);
  expect(matchesOf(state, new SearchQuery({ search: "temp", caseSensitive: true }))).toEqual([9]);
  expect(matchesOf(state, new SearchQuery({ search: "hot", wholeWord: true }))).toEqual([5]);
  expect(matchesOf(state, new SearchQuery({ search: "[th]", regexp: true }), 2)).toHaveLength(3);
  expect(matchesOf(state, new SearchQuery({ search: "cold" }))).toEqual([]);
  expect(matchesOf(state, new SearchQuery({ search: "" }))).toBeNull();
  expect(matchesOf(state, new SearchQuery({ search: "(", regexp: true }))).toBeNull();
});

import { ensureSyntaxTree } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { expect, it } from "vitest";
import type { Words } from "../api/types";
import { highlighter } from "./highlight";

const EPL: Words = {
  line_comments: ["//"],
  line_start_comments: ["--", "#"],
  block_comments: [["/*", "*/"]],
  strings: ['"', "'"],
  escape: "\\",
  quoted_names: "`",
  word_signs: "$",
  variable_marks: "",
  ignore_case: true,
  keywords: ["select", "every", "every-distinct", "timer:within", "@Name", "not null"],
  constants: ["true"],
  types: ["int"],
  units: ["min"],
  functions: ["abs"],
  operators: ["->", ">="],
  snippets: [],
  meanings: {},
  calls: {},
};

/** The pieces of a text with what they are taken for. */
function tokens(text: string, words: Words, types: string[] = []): string[] {
  const state = EditorState.create({ doc: text, extensions: highlighter(words, new Set(types)) });
  const out: string[] = [];
  ensureSyntaxTree(state, text.length)?.iterate({
    enter(node) {
      if (!node.node.firstChild && node.to > node.from)
        out.push(`${state.sliceDoc(node.from, node.to)} ${node.name}`);
    },
  });
  return out;
}

it("reads a language from its words", () => {
  expect(tokens("@Name('D') SELECT abs(a.x) from every-distinct(A) -> B", EPL, ["A", "x"])).toEqual([
    "@Name keyword",
    "( punctuation",
    "'D' string",
    ") punctuation",
    "SELECT keyword",
    "abs function",
    "( punctuation",
    "a name",
    ". punctuation",
    "x name",
    ") punctuation",
    "from name",
    "every-distinct keyword",
    "( punctuation",
    "A typeName",
    ") punctuation",
    "-> operator",
    "B name",
  ]);
});

it("knows comments, of a line, of the start of a line, of several lines", () => {
  expect(tokens("# a\nx /* b\nc */ y // d", EPL)).toEqual([
    "# a comment",
    "x name",
    "/* b comment",
    "c */ comment",
    "y name",
    "// d comment",
  ]);
  expect(tokens("x -- 1", EPL)).not.toContain("-- 1 comment");
});

it("ends texts where they end", () => {
  expect(tokens("'a\\'b' c", EPL)).toEqual(["'a\\'b' string", "c name"]);
  const doubled = { ...EPL, escape: "", ignore_case: false, variable_marks: "$", word_signs: "" };
  expect(tokens("'a''b' $v Select", doubled)).toEqual(["'a''b' string", "$v parameter", "Select name"]);
});

it("takes a word for a unit only behind an amount", () => {
  const units = tokens("a=min(v > 3 min) select Min, x min, (1 + 2) min", EPL).filter((one) =>
    /^min /i.test(one),
  );
  expect(units).toEqual(["min name", "min unit", "Min name", "min unit", "min unit"]);
});

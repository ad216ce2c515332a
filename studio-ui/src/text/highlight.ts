/** Colours for a language that the server describes by its words: no language is known here. */
import { HighlightStyle, StreamLanguage, type StringStream, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";
import type { Words } from "../api/types";

interface State {
  /** what was read last can be an amount: a unit is one behind it only */
  amount: boolean;
  /** the mark that ends the comment we are in */
  until: string | null;
}

const NUMBER = /^(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/;

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** One pattern that takes the longest of many words. */
function oneOf(words: readonly string[], flags: string, after = ""): RegExp | null {
  if (!words.length) return null;
  const longest = [...words].sort((a, b) => b.length - a.length).map(escaped);
  return new RegExp(`^(?:${longest.join("|")})${after}`, flags);
}

/** `types`: the names that are types of events; all others are names. */
export function highlighter(words: Words, types: ReadonlySet<string> = new Set()): StreamLanguage<State> {
  const fold = (word: string) => (words.ignore_case ? word.toLowerCase() : word);
  const signs = escaped(words.word_signs).replaceAll("-", "\\-");
  const word = new RegExp(`^[\\p{L}_${signs}][\\p{L}\\p{N}_${signs}]*`, "u");
  const isWord = (text: string) => word.exec(text)?.[0] === text;
  const table = new Map<string, string>();
  const kinds = [
    ["function", words.functions],
    ["basetype", words.types],
    ["unit", words.units],
    ["constant", words.constants],
    ["keyword", words.keywords],
  ] as const;
  for (const [kind, list] of kinds) for (const one of list) table.set(fold(one), kind);
  const flags = words.ignore_case ? "iu" : "u";
  const compound = oneOf(
    words.keywords.filter((one) => !isWord(one)),
    flags,
    `(?![\\p{L}\\p{N}_])`,
  );
  const operator = oneOf(words.operators, "u");
  const variable = words.variable_marks
    ? new RegExp(`^[${escaped(words.variable_marks)}][\\p{L}_][\\p{L}\\p{N}_]*`, "u")
    : null;

  function comment(stream: StringStream, state: State): string {
    while (!stream.eol()) {
      if (state.until && stream.match(state.until)) {
        state.until = null;
        break;
      }
      stream.next();
    }
    return "comment";
  }

  function string(stream: StringStream, mark: string): string {
    while (!stream.eol()) {
      if (words.escape && stream.match(words.escape)) stream.next();
      else if (stream.match(mark)) {
        if (words.escape || !stream.match(mark)) break; // a doubled mark stands for one
      } else stream.next();
    }
    return "string";
  }

  function read(stream: StringStream, state: State): string | null {
    if (state.until !== null) return comment(stream, state);
    const first = stream.string.slice(0, stream.pos).trim() === "";
    if (stream.eatSpace()) return null;
    for (const mark of first ? [...words.line_comments, ...words.line_start_comments] : words.line_comments) {
      if (!stream.match(mark)) continue;
      stream.skipToEnd();
      return "comment";
    }
    for (const [open, close] of words.block_comments) {
      if (!stream.match(open)) continue;
      state.until = close;
      return comment(stream, state);
    }
    for (const mark of words.strings) if (stream.match(mark)) return string(stream, mark);
    if (words.quoted_names && stream.match(words.quoted_names)) {
      while (!stream.eol() && !stream.match(words.quoted_names)) stream.next();
      return types.has(stream.current().slice(1, -1)) ? "typeName" : "name";
    }
    if (compound && stream.match(compound)) return "keyword";
    if (variable && stream.match(variable)) return "parameter";
    if (stream.match(/^@[\p{L}_][\p{L}\p{N}_]*/u)) return "annotation";
    if (stream.match(NUMBER)) return "number";
    const found = stream.match(word) as RegExpMatchArray | null;
    if (found)
      return table.get(fold(found[0])) ?? (types.has(found[0]) && !after(stream, ".") ? "typeName" : "name");
    if (operator && stream.match(operator)) return "operator";
    stream.next();
    return "punctuation";
  }

  return StreamLanguage.define<State>({
    name: "rules",
    startState: () => ({ until: null, amount: false }),
    token(stream, state) {
      const kind = read(stream, state);
      const unit = kind === "unit" && !state.amount;
      if (kind !== null && kind !== "comment")
        state.amount = kind === "number" || kind === "name" || stream.current() === ")";
      return unit ? (types.has(stream.current()) ? "typeName" : "name") : kind;
    },
    tokenTable: {
      keyword: tags.keyword,
      function: tags.function(tags.variableName),
      unit: tags.unit,
      constant: tags.bool,
      basetype: tags.standard(tags.typeName),
      typeName: tags.typeName,
      name: tags.variableName,
      parameter: tags.special(tags.variableName),
      annotation: tags.meta,
      number: tags.number,
      string: tags.string,
      comment: tags.comment,
      operator: tags.operator,
      punctuation: tags.punctuation,
    },
    languageData: { commentTokens: commentTokens(words) },
  });
}

/** Whether the word that was just read stands after a sign. */
function after(stream: StringStream, sign: string): boolean {
  return stream.start > 0 && stream.string[stream.start - 1] === sign;
}

/** What Ctrl+/ writes. */
export function commentTokens(words: Words): { line?: string; block?: { open: string; close: string } } {
  const line = words.line_comments[0] ?? words.line_start_comments[0];
  const block = words.block_comments[0];
  return { ...(line && { line }), ...(block && { block: { open: block[0], close: block[1] } }) };
}

export const colours: Extension = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.keyword, color: "var(--code-keyword)" },
    { tag: tags.function(tags.variableName), color: "var(--code-function)" },
    { tag: tags.standard(tags.typeName), color: "var(--code-function)" },
    { tag: tags.typeName, color: "var(--code-type)" },
    { tag: [tags.unit, tags.number, tags.bool], color: "var(--code-number)" },
    { tag: tags.string, color: "var(--code-string)" },
    { tag: [tags.meta, tags.special(tags.variableName)], color: "var(--code-annotation)" },
    { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
    { tag: [tags.operator, tags.punctuation], color: "var(--dim)" },
  ]),
);

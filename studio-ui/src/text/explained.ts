/** Why, in the text: the definition of the chosen detection, and the words that stand for its constituents. */
import { RangeSet, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import type { OutlineEntry, Span } from "../api/types";
import type { MarkedClause } from "../state/store";
import { positionOf } from "./offsets";

/** A detection or one of its constituents, as far as the text shows it. */
export interface Explained {
  type: string;
  role: string | null;
  constituents: readonly Explained[];
}

export interface Marks {
  /** from the first to the last line of the definition */
  lines: { from: number; to: number } | null;
  atoms: { from: number; to: number; role: string }[];
}

/** The definition that made a detection: of several of one type, one that reads all its constituents. */
export function definitionOf(one: Explained, outline: readonly OutlineEntry[]): OutlineEntry | null {
  const makers = outline.filter((entry) => entry.span && entry.output === one.type && entry.reads.length > 0);
  const types = one.constituents.map(({ type }) => type);
  return makers.find((entry) => types.every((type) => entry.reads.includes(type))) ?? makers[0] ?? null;
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** A name as a word, also in back-quotes. */
function word(name: string): string {
  return `(?<![\\w$.])(?:\`${escaped(name)}\`|${escaped(name)}(?![\\w$]))`;
}

/**
 * The words of a definition that stand for a constituent: `role=Type` where that is written, else the places of the type.
 * Texts of strings and comments are not looked at.
 */
export function atomsOf(text: string, one: Explained): { from: number; to: number }[] {
  const code = text.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|--[^\n]*|^[ \t]*#[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/gm,
    (part) => " ".repeat(part.length),
  );
  const found = (pattern: string) =>
    [...code.matchAll(new RegExp(pattern, "gu"))].map(({ index, 0: piece }) => ({
      from: index,
      to: index + piece.length,
    }));
  const tagged = one.role ? found(`${word(one.role)}\\s*=\\s*${word(one.type)}`) : [];
  if (tagged.length) return tagged;
  const named = one.role ? found(`${word(one.type)}\\s*(?:\\([^()]*\\)\\s*)?as\\s+${word(one.role)}`) : [];
  return named.length ? named : found(word(one.type));
}

/** What to mark in the text of a file. Constituents that are derived have their own definitions marked in turn. */
export function marksOf(
  doc: Text,
  path: string,
  outline: readonly OutlineEntry[],
  why: Explained | null,
): Marks {
  const marks: Marks = { lines: null, atoms: [] };
  const seen = new Set<OutlineEntry>();
  const walk = (one: Explained, first: boolean) => {
    const entry = definitionOf(one, outline);
    if (!entry?.span || seen.has(entry)) return;
    seen.add(entry);
    if (entry.file === path) {
      const range = rangeOf(doc, entry.span);
      if (first) marks.lines = range;
      const text = doc.sliceString(range.from, range.to, "\n");
      const atoms = one.constituents.flatMap((part) =>
        atomsOf(text, part).map(({ from, to }) => ({
          from: range.from + from,
          to: range.from + to,
          role: part.role ?? part.type,
        })),
      );
      for (const atom of atoms)
        if (!marks.atoms.some(({ from, to }) => from < atom.to && atom.from < to)) marks.atoms.push(atom);
    }
    for (const part of one.constituents) walk(part, false);
  };
  if (why) walk(why, true);
  marks.atoms.sort((a, b) => a.from - b.from);
  return marks;
}

function rangeOf(doc: Text, span: Span): { from: number; to: number } {
  return {
    from: positionOf(doc, span.line, span.column),
    to: positionOf(doc, span.end_line, span.end_column),
  };
}

export const setMarks = StateEffect.define<Marks>();

const line = Decoration.line({ class: "cm-explained" });

const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    let out = shown.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setMarks)) continue;
      const { doc } = transaction.state;
      const { lines, atoms } = effect.value;
      const first = lines ? doc.lineAt(lines.from).number : 1;
      const last = lines ? doc.lineAt(lines.to).number : 0;
      const ranges = Array.from({ length: last - first + 1 }, (_, i) => line.range(doc.line(first + i).from));
      const words = atoms.map(({ from, to, role }) =>
        Decoration.mark({ class: "cm-constituent", attributes: { title: role } }).range(from, to),
      );
      out = RangeSet.of([...ranges, ...words], true);
    }
    return out;
  },
  provide: (own) => EditorView.decorations.from(own),
});

export const explainedMarks = field;

/** A clause without which a detection would be there. */
export interface ClauseMark {
  from: number;
  to: number;
  message: string;
}

/** Where clauses stand in a text, in its order; one that is elsewhere by now is not marked. */
export function clausesOf(doc: Text, clauses: readonly MarkedClause[]): ClauseMark[] {
  return clauses
    .filter(({ span }) => span.end_line <= doc.lines)
    .map(({ span, message }) => ({ ...rangeOf(doc, span), message }))
    .filter(({ from, to }) => from < to)
    .sort((a, b) => a.from - b.from);
}

export const setClauses = StateEffect.define<readonly ClauseMark[]>();

export const clauseMarks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    let out = shown.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setClauses)) continue;
      const marks = effect.value.map(({ from, to, message }) =>
        Decoration.mark({ class: "cm-clause", attributes: { title: message } }).range(from, to),
      );
      out = RangeSet.of(marks, true);
    }
    return out;
  },
  provide: (own) => EditorView.decorations.from(own),
});

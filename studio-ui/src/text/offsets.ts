/** The server counts code points, JavaScript and CodeMirror count UTF-16 units. */
import type { Text } from "@codemirror/state";
import type { Span } from "../api/types";

function pairAt(text: string, i: number): boolean {
  const high = text.charCodeAt(i);
  if (high < 0xd800 || high > 0xdbff || i + 1 >= text.length) return false;
  const low = text.charCodeAt(i + 1);
  return low >= 0xdc00 && low <= 0xdfff;
}

/** How many code points the first `units` units of a text are. */
export function pointsOf(text: string, units = text.length): number {
  let points = 0;
  for (let i = 0; i < Math.min(units, text.length); i += pairAt(text, i) ? 2 : 1) points += 1;
  return points;
}

/** How many units the first `points` code points of a text are. */
export function unitsOf(text: string, points: number): number {
  let i = 0;
  for (let n = 0; n < points && i < text.length; n++) i += pairAt(text, i) ? 2 : 1;
  return i;
}

/** The place in the document of a line and column (from 1, columns in code points); beyond its end: the end. */
export function positionOf(doc: Text, line: number, column: number): number {
  if (line < 1) return 0;
  if (line > doc.lines) return doc.length;
  const { from, text } = doc.line(line);
  return from + unitsOf(text, column - 1);
}

/** A span as a range of at least one character, where the line has any; without a span: the first line. */
export function rangeOf(doc: Text, span: Span | null): { from: number; to: number } {
  if (!span) return { from: 0, to: doc.line(1).to };
  const from = positionOf(doc, span.line, span.column);
  const to = Math.max(from, positionOf(doc, span.end_line, span.end_column));
  if (to > from) return { from, to };
  const line = doc.lineAt(from);
  if (from < line.to) return { from, to: from + unitsOf(line.text.slice(from - line.from), 1) };
  return { from: Math.max(line.from, from - 1), to: from };
}

/** The line and column (code points) of a place in the document. */
export function placeOf(doc: Text, position: number): { line: number; column: number } {
  const line = doc.lineAt(position);
  return { line: line.number, column: pointsOf(line.text, position - line.from) + 1 };
}

/** The offset in code points of a place in the document, whose lines are joined by `separator` in the file. */
export function offsetOf(doc: Text, position: number, separator: string): number {
  const last = doc.lineAt(position);
  let points = 0;
  for (let n = 1; n < last.number; n++) points += pointsOf(doc.line(n).text) + separator.length;
  return points + pointsOf(last.text, position - last.from);
}

/** The place in the document of an offset in code points of the file. */
export function fromOffset(doc: Text, offset: number, separator: string): number {
  let left = offset;
  for (let n = 1; n <= doc.lines; n++) {
    const line = doc.line(n);
    const size = pointsOf(line.text);
    if (left <= size) return line.from + unitsOf(line.text, left);
    left -= size + separator.length;
    if (left < 0) return line.to;
  }
  return doc.length;
}

/** The offset in code points of a line and column of a text that is in no document. */
export function offsetIn(text: string, line: number, column: number): number {
  let start = 0;
  for (let n = 1; n < line; n++) {
    const end = text.indexOf("\n", start);
    if (end < 0) break;
    start = end + 1;
  }
  return pointsOf(text, start) + column - 1;
}

/** How the lines of a file end: `\r\n` if all do, else `\n`, which keeps mixed ones as they are. */
export function separatorOf(text: string): "\n" | "\r\n" {
  // a carriage return of its own would be taken for the end of a line, as would a lone line feed
  return text.includes("\r\n") && !/[\r\n]/.test(text.replaceAll("\r\n", "")) ? "\r\n" : "\n";
}

export interface Edit {
  from: number;
  to: number;
  insert: string;
}

/** A text with edits, whose offsets count its code points; they are sorted and do not overlap. */
export function applied(text: string, edits: readonly Edit[]): string {
  let out = "";
  let units = 0;
  let points = 0;
  for (const { from, to, insert } of edits) {
    const start = units + unitsOf(text.slice(units), from - points);
    const end = start + unitsOf(text.slice(start), to - from);
    out += text.slice(units, start) + insert;
    units = end;
    points = to;
  }
  return out + text.slice(units);
}

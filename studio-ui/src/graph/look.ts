/** How nodes look: their rows of text, and the sizes that follow from them, so that a layout needs no browser. */
import type { CanvasNode } from "../api/types";
import { texts } from "../texts";
import { columnsOf, conditionsOf, textOfField } from "./model";

export interface RowText {
  text: string;
  /** a property, a limit or a condition is a chip; a column has a name before it */
  name?: string;
  /** of which condition, key, column or limit (from 1) it is a part */
  row: number | null;
}

const t = texts.graph;

/** A condition in its parts: one line for each part of a conjunction. */
export function conjuncts(text: string): string[] {
  const out: string[] = [];
  let depth = 0;
  let quote = "";
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] ?? "";
    if (quote) {
      if (c === "\\") i += 1;
      else if (c === quote) quote = "";
    } else if (c === "'" || c === '"' || c === "`") quote = c;
    else if ("([{".includes(c)) depth += 1;
    else if (")]}".includes(c)) depth -= 1;
    else if (
      depth === 0 &&
      /\s/.test(c) &&
      /^\s+and\s/i.test(text.slice(i)) &&
      !betweenAt(text.slice(start, i))
    ) {
      out.push(text.slice(start, i).trim());
      start = i + (/^\s+/.exec(text.slice(i))?.[0].length ?? 0);
      i = start + 2;
    }
  }
  out.push(text.slice(start).trim());
  return out.map((part) => part.replace(/\s+/g, " "));
}

/** `x between 1 and 2` has an `and` that joins no conditions. */
function betweenAt(text: string): boolean {
  return /\bbetween\b(?!.*\band\b)/is.test(text);
}

/** The lines below a node's title. */
export function rowsOf(one: CanvasNode): RowText[] {
  const field = (name: string) => textOfField(one, name);
  const plain = (text: string): RowText[] => (text ? [{ text, row: null }] : []);
  switch (one.kind) {
    case "Event":
      return [
        ...conditionsOf(one).flatMap((text, i) =>
          conjuncts(text).map((part) => ({ text: part || t.emptyRow, row: i + 1 })),
        ),
        ...plain(Number(one.fields.consume) ? t.consumes(field("consume")) : ""),
      ];
    case "ComplexEvent":
      return columnsOf(one).map(({ name, value }, i) => ({
        ...(name !== null && { name }),
        text: value.replace(/\s+/g, " ") || t.emptyRow,
        row: i + 1,
      }));
    case "EveryDistinct":
      return [
        ...((one.fields.keys as string[] | undefined) ?? []).map((text, i) => ({
          text: text || t.emptyRow,
          row: i + 1,
        })),
        ...plain(field("expiry") && t.expires(field("expiry"))),
      ];
    case "FollowedBy":
      return ((one.fields.limits as (number | null)[] | undefined) ?? []).flatMap((limit, i) =>
        limit === null ? [] : [{ text: t.limited(i + 1, limit), row: i + 1 }],
      );
    case "Repeat":
      return plain(t.times(field("count")));
    case "Until": {
      const { low, high } = one.fields;
      if (low === null && high === null) return [];
      return plain(t.range(field("low"), field("high")));
    }
    case "While":
      return conjuncts(field("condition")).map((text) => ({ text: text || t.emptyRow, row: null }));
    case "Within":
      return [...plain(field("duration")), ...plain(field("count") && t.atMost(field("count")))];
    case "TimeInterval":
      return plain(field("duration"));
    case "TimeSchedule":
      return plain(
        ["minute", "hour", "dayOfMonth", "month", "dayOfWeek", "second"]
          .map(field)
          .filter(Boolean)
          .join(", "),
      );
    case "Text":
      return field("text")
        .split("\n")
        .slice(0, 8)
        .map((text) => ({ text, row: null }));
    default:
      return [];
  }
}

/** The first line of a node: its type or its kind. */
export function titleOf(one: CanvasNode): string {
  if (one.kind === "Event") return textOfField(one, "typeName") || t.noType;
  if (one.kind === "ComplexEvent") return textOfField(one, "typeName") || t.kinds.ComplexEvent || one.kind;
  return t.kinds[one.kind] ?? one.kind;
}

export interface Size {
  width: number;
  height: number;
}

/** As in the style sheet. */
export const HEAD_HEIGHT = 32;
export const ROW_HEIGHT = 22;
const FOOT = 6;
const LEAST = 112;
const MOST = 320;
export const MONO = 7.3;
/** titles are bold */
const SANS = 8;

export function sizeOf(one: CanvasNode): Size {
  const rows = rowsOf(one);
  const tag = one.kind === "Event" ? textOfField(one, "tag") : "";
  const head = 44 + titleOf(one).length * SANS + (tag ? 20 + tag.length * MONO : 0);
  const widest = Math.max(
    ...rows.map(({ name, text }) => 36 + text.length * MONO + (name ? name.length * MONO + 22 : 0)),
    0,
  );
  const width = Math.min(MOST, Math.max(LEAST, head + 24, widest));
  return {
    width: Math.ceil(width / 4) * 4,
    height: HEAD_HEIGHT + rows.length * ROW_HEIGHT + (rows.length ? FOOT : 0),
  };
}

/** Values of detections as the table and Why show them. */
import type { Row, RowsAnswer } from "../api/types";
import { grouped } from "../texts";

/** Columns that every row has, before its attributes, which may be called the same. */
const ALWAYS = new Set(["row", "type", "time", "ticks", "end", "end_ticks", "open", "label"]);

function special(columns: RowsAnswer["columns"]): number {
  const seen = new Set<string>();
  return columns.findIndex(({ name }) => !ALWAYS.has(name) || seen.size === seen.add(name).size);
}

/** The attributes among the columns. */
export function attributesOf({ columns }: RowsAnswer): RowsAnswer["columns"] {
  const first = special(columns);
  return first < 0 ? [] : columns.slice(first);
}

export function rowsOf(answer: RowsAnswer): Row[] {
  const own = attributesOf(answer);
  const first = answer.columns.length - own.length;
  return answer.rows.map((cells) => {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < first; i++) row[answer.columns[i]?.name ?? ""] = cells[i];
    const values: Record<string, unknown> = {};
    own.forEach(({ name }, i) => {
      const value = cells[first + i];
      if (value !== null && value !== undefined) values[name] = value;
    });
    return { ...row, values } as unknown as Row;
  });
}

/** The values of a row in the order of its type's attributes, others behind them. */
export function inOrder(values: Row["values"], attributes: readonly string[] = []): [string, unknown][] {
  const known = attributes.filter((name) => name in values);
  const more = Object.keys(values).filter((name) => !attributes.includes(name));
  return [...known, ...more].map((name) => [name, values[name]]);
}

const CUT = 2000;
/** Whole numbers whose name ends so are identities, which are not read in thousands; so are very large ones. */
const IDENTITY = /(^|_)(id|number|code|year|label)$|(?<=[a-z])(Id|ID)$/i;
const LARGE = 1e8;

/** The beginning of a text; a character of two code units is not cut in two. */
function cut(text: string, most: number): string {
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
}

/** A value as text; long ones are cut after `most` characters. */
export function valueText(value: unknown, name = "", most = CUT): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "bigint")
    return IDENTITY.test(name) || Math.abs(Number(value)) >= LARGE ? String(value) : grouped(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > most ? `${cut(text, most)}…` : text;
}

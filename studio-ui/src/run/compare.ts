/** Two runs, before and after an edit: which detections are new, which are gone, by their labels. */
import type { Row, RowsAnswer, Ticks } from "../api/types";
import { rowsOf } from "./rows";

/** A page is as large as the server gives; of more detections than these a comparison would take too long. */
const PAGE = 1000;
export const MOST = 50_000;

export interface Change {
  row: Row;
  gained: boolean;
}

export interface Compared {
  types: { type: string; gained: number; lost: number; same: number }[];
  /** what is new and what is gone, in the order of time */
  changes: Change[];
}

/** All rows of a run, page by page. */
export async function allRows(ask: (offset: number, limit: number) => Promise<RowsAnswer>): Promise<Row[]> {
  const out: Row[] = [];
  for (let total = 1; out.length < total; ) {
    const answer = await ask(out.length, PAGE);
    if (answer.rows.length === 0) break;
    total = answer.total;
    out.push(...rowsOf(answer));
  }
  return out;
}

function earlier(a: Ticks, b: Ticks): number {
  const [x, y] = [BigInt(a), BigInt(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

export function compared(before: readonly Row[], after: readonly Row[]): Compared {
  const types = new Map<string, { type: string; gained: number; lost: number; same: number }>();
  const of = (type: string) => {
    const known = types.get(type) ?? { type, gained: 0, lost: 0, same: 0 };
    types.set(type, known);
    return known;
  };
  const labels = new Set(after.map((row) => row.label));
  const old = new Set(before.map((row) => row.label));
  const changes: Change[] = [];
  for (const row of after) {
    const gained = !old.has(row.label);
    of(row.type)[gained ? "gained" : "same"]++;
    if (gained) changes.push({ row, gained });
  }
  for (const row of before)
    if (!labels.has(row.label)) {
      of(row.type).lost++;
      changes.push({ row, gained: false });
    }
  changes.sort((a, b) => earlier(a.row.ticks, b.row.ticks));
  return { types: [...types.values()], changes };
}

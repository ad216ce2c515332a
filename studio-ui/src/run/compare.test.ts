import { expect, test } from "vitest";
import type { Row } from "../api/types";
import { allRows, compared } from "./compare";

const row = (type: string, label: string, ticks: number | string): Row => {
  return { row: 0, type, time: null, ticks, end: null, end_ticks: null, open: false, label, values: {} };
};

test("detections are gained, lost or the same by their labels", () => {
  const before = [row("A", "a", 1), row("A", "b", 2), row("B", "c", 9)];
  const after = [row("A", "b", 2), row("A", "d", "9007199254740993"), row("C", "e", 3)];
  const { types, changes } = compared(before, after);
  expect(types).toEqual([
    { type: "A", gained: 1, lost: 1, same: 1 },
    { type: "C", gained: 1, lost: 0, same: 0 },
    { type: "B", gained: 0, lost: 1, same: 0 },
  ]);
  expect(changes.map(({ row, gained }) => `${gained ? "+" : "-"}${row.label}`)).toEqual([
    "-a",
    "+e",
    "-c",
    "+d",
  ]);
});

test("all pages are read, and an empty one ends it", async () => {
  const columns = ["row", "type", "time", "ticks", "end", "end_ticks", "open", "label"].map((name) => {
    return { name, type: "string" };
  });
  const ask = async (offset: number, limit: number) => {
    const n = Math.max(0, Math.min(limit, 2500 - offset));
    const rows = Array.from({ length: n }, (_, i) => [
      i,
      "A",
      null,
      i,
      null,
      null,
      false,
      String(offset + i),
    ]);
    return { columns, rows, total: 2500 };
  };
  const rows = await allRows(ask);
  expect(new Set(rows.map((one) => one.label)).size).toBe(2500);
  expect(await allRows(async () => ({ columns, rows: [], total: 5 }))).toEqual([]);
});

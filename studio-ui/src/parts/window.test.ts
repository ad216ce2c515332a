import { expect, test } from "vitest";
import { Latest } from "../run/latest";
import { PAGE, pagesOf, scrollTo, windowOf } from "./window";

test("the rows on screen, with some more", () => {
  const seen = windowOf(1000, 28, 2800, 280);
  expect(seen.first).toBe(94);
  expect(seen.first + seen.count).toBeGreaterThanOrEqual(110);
  expect(windowOf(3, 28, 0, 280).count).toBe(3);
  expect(windowOf(0, 28, 0, 280).count).toBe(0);
});

test("ten million rows: the first, the last and every row can be reached", () => {
  const total = 10_000_000;
  const room = 300;
  expect(windowOf(total, 28, 0, room).first).toBe(0);
  const end = windowOf(total, 28, 8_000_000 - room, room);
  expect(end.first + end.count).toBe(total);
  for (const at of [0, 1, 12_345, 5_000_000, total - 1]) {
    const seen = windowOf(total, 28, scrollTo(at, total, 28, 0, room), room);
    expect(at).toBeGreaterThanOrEqual(seen.first);
    expect(at).toBeLessThan(seen.first + seen.count);
  }
});

test("pages that hold rows", () => {
  expect(pagesOf(PAGE - 1, 2)).toEqual([0, 1]);
  expect(pagesOf(0, 0)).toEqual([]);
});

test("of many questions the first and the last are asked, and only wanted answers count", async () => {
  const asked: number[] = [];
  const got: number[] = [];
  const open: (() => void)[] = [];
  const latest = new Latest<number, number>(
    (n) => {
      asked.push(n);
      return new Promise((resolve) => open.push(() => resolve(n)));
    },
    (n) => got.push(n),
    () => got.push(-1),
  );
  const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
  for (const n of [1, 2, 3]) latest.send(n);
  expect(asked).toEqual([1]);
  open[0]?.();
  await settle();
  expect(asked).toEqual([1, 3]);
  latest.drop();
  latest.send(4);
  open[1]?.();
  open[2]?.();
  await settle();
  expect(asked).toEqual([1, 3, 4]);
  expect(got).toEqual([1, 4]);
});

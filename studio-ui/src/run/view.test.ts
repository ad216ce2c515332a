import { expect, test } from "vitest";
import { limitsOf, mostZoom, moved, rangeOf, showing, shownOf, transformOf, within, zoomed } from "./view";

const limits = { from: 0, to: 1000 };

test("zooming keeps what is under the cursor in its place", () => {
  for (const share of [0.2, 0.5, 0.7]) {
    const range = { from: 300, to: 500 };
    const next = zoomed(range, limits, 2, share);
    expect(next.to - next.from).toBeCloseTo(100);
    expect(next.from + share * 100).toBeCloseTo(300 + share * 200);
  }
});

test("a range never leaves the limits, is never longer, never shorter than a few ticks", () => {
  expect(zoomed({ from: 0, to: 900 }, limits, 0.1)).toEqual(limits);
  expect(moved({ from: 900, to: 1000 }, limits, 3)).toEqual({ from: 900, to: 1000 });
  const tiny = zoomed({ from: 10, to: 20 }, limits, 1e9);
  expect(tiny.to - tiny.from).toBe(8);
  expect(within({ from: 0, to: 50 }, { from: 5, to: 7 })).toEqual({ from: 5, to: 7 });
});

test("a single instant has limits, too", () => {
  const one = limitsOf(5, 5);
  expect(one.to).toBeGreaterThan(one.from);
  expect(mostZoom(one)).toBeGreaterThanOrEqual(1);
});

test("d3's transform and a range are the same thing", () => {
  const range = { from: 123.5, to: 177.25 };
  const back = rangeOf(transformOf(range, limits, 1400), limits, 1400);
  expect(back.from).toBeCloseTo(range.from, 9);
  expect(back.to).toBeCloseTo(range.to, 9);
});

test("what is outside the range is brought into its middle, what is inside changes nothing", () => {
  const range = { from: 100, to: 200 };
  expect(showing(range, limits, 120, 130)).toBe(range);
  expect(showing(range, limits, 500, 500)).toEqual({ from: 450, to: 550 });
});

test("what is asked about in view lies within all that happened", () => {
  for (const [first, last] of [
    [0, 38],
    [0, 5000],
  ] as const) {
    const limits = limitsOf(first, last);
    const all = shownOf(limits, limits);
    expect(all.from).toBeCloseTo(first, 6);
    expect(all.to).toBeCloseTo(last, 6);
  }
  expect(shownOf({ from: 10, to: 20 }, limitsOf(0, 5000))).toEqual({ from: 10, to: 20 });
});

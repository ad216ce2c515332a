import { expect, test } from "vitest";
import type { TimelineAnswer } from "../api/types";
import {
  around,
  barPlace,
  hit,
  type Mark,
  nearest,
  nextMark,
  offMiddle,
  pictureOf,
  pile,
  stack,
  strips,
} from "./lanes";
import { Clock } from "./time";

const clock = new Clock({ timestamp: false, unit: "min" }, 10n);
const point = (start: number, row: number): Mark => ({
  start,
  end: start,
  open: false,
  lasting: false,
  row,
  depth: 0,
  among: 1,
});
const bar = (start: number, end: number, row: number): Mark => ({ ...point(start, row), end, lasting: true });

const answer: TimelineAnswer = {
  total: 5,
  count: 5,
  exact: true,
  from: 10,
  to: 70,
  more: 0,
  lanes: [
    {
      name: "A",
      type: "A",
      input: true,
      count: 2,
      marks: [
        [20, 20, 0],
        [60, 60, 1],
      ],
    },
    {
      name: "B",
      type: "B",
      input: false,
      count: 3,
      marks: [
        [10, 40, 0],
        [30, 50, 1],
        [70, null, 2],
      ],
    },
  ],
};

test("bars that overlap stand below one another", () => {
  const marks = [bar(0, 10, 0), bar(5, 20, 1), bar(11, 12, 2)];
  expect(stack(marks)).toBe(2);
  expect(marks.map((mark) => mark.depth)).toEqual([0, 1, 0]);
});

test("many bars at once take ten rows at most", () => {
  const marks = Array.from({ length: 50 }, (_, i) => bar(i, 1000, i));
  expect(stack(marks)).toBe(10);
});

test("the mark under the pointer is found, and nothing where there is none", () => {
  const range = { from: 0, to: 100 };
  const picture = pictureOf(answer, clock, range);
  const at = strips(picture.lanes, 300);
  const middle = (lane: number) => (at[lane]?.top ?? 0) + (at[lane]?.height ?? 0) / 2;
  expect(hit(picture, at, range, 1000, 103, middle(0))?.mark.row).toBe(0);
  expect(hit(picture, at, range, 1000, 300, middle(0))).toBeNull();
  const second = picture.lanes[1];
  expect(second?.depths).toBe(2);
  const place = barPlace(at[1] ?? { top: 0, height: 0 }, 1, 2);
  expect(hit(picture, at, range, 1000, 350, place.top + 1)?.mark.row).toBe(1);
  // an open bar runs on to the end
  expect(hit(picture, at, range, 1000, 990, middle(1))?.mark.row).toBe(2);
  expect(hit(picture, at, range, 1000, 100, 5000)).toBeNull();
});

test("points at the same time stand above one another", () => {
  const marks = [point(1, 0), point(1, 1), point(1, 2), bar(1, 4, 3), point(2, 4)];
  pile(marks);
  expect(marks.map((mark) => [mark.depth, mark.among])).toEqual([
    [0, 3],
    [1, 3],
    [2, 3],
    [0, 1],
    [0, 1],
  ]);
  const strip = { top: 0, height: 40 };
  expect(marks.slice(0, 3).map((mark) => offMiddle(mark, strip))).toEqual([10, 0, -10]);
});

test("lanes are as high as there is room, those of inputs thin", () => {
  const lane = (input: boolean, depths = 1) => ({ input, depths });
  expect(strips([lane(true), lane(false), lane(false)], 200).map((strip) => strip.height)).toEqual([
    24, 56, 56,
  ]);
  expect(strips(Array(30).fill(lane(false)), 200).every((strip) => strip.height === 28)).toBe(true);
  expect(strips([lane(false, 10)], 30)[0]?.height).toBe(58);
});

test("keys go from mark to mark", () => {
  const marks = [point(1, 0), point(5, 1), point(9, 2)];
  const range = { from: 4, to: 20 };
  expect(nextMark(marks, null, 1, range)?.row).toBe(1);
  expect(nextMark(marks, null, -1, range)?.row).toBe(2);
  expect(nextMark(marks, marks[1] as Mark, 1, range)?.row).toBe(2);
  expect(nextMark(marks, marks[2] as Mark, 1, range)).toBeNull();
  expect(nearest(marks, 6)?.row).toBe(1);
});

test("an empty place reaches up to the marks beside it", () => {
  const picture = { from: 0, to: 100 };
  const lane = { name: "A", type: "A", count: 2, depths: 1, most: 0, input: false, counts: null };
  const marks = [point(10, 0), bar(40, 50, 1)];
  expect(around({ ...lane, marks }, picture, 30, 5)).toEqual({ from: 25, to: 35 });
  expect(around({ ...lane, marks }, picture, 30, 50)).toEqual({ from: 11, to: 39 });
  expect(around({ ...lane, marks }, picture, 70, 50)).toEqual({ from: 51, to: 120 });
  expect(around({ ...lane, marks }, picture, 10, 5)).toBeNull();
  expect(around({ ...lane, marks }, picture, 45, 5)).toBeNull();
  const open = { ...bar(60, 60, 2), open: true };
  expect(around({ ...lane, marks: [open] }, picture, 70, 5)).toBeNull();
  const counts = [0, 3, 0, 0, 0, 0, 0, 0, 0, 0];
  expect(around({ ...lane, marks: [], counts }, picture, 55, 8)).toEqual({ from: 47, to: 63 });
  expect(around({ ...lane, marks: [], counts }, picture, 25, 8)).toBeNull();
});

/** The lanes of a timeline: where they stand, where their marks are, and which mark is at a place. */
import type { Lane, TimelineAnswer } from "../api/types";
import type { Clock, Range } from "./time";

/** A point, or a bar that lasts; an `open` bar runs on to the right. */
export interface Mark {
  start: number;
  end: number;
  open: boolean;
  lasting: boolean;
  /** which row of its type it is */
  row: number;
  /** of bars that overlap, the ones further down; of points at the same time, the ones further up */
  depth: number;
  /** how many points are at the same time */
  among: number;
}

export interface DrawnLane {
  name: string;
  type: string;
  count: number;
  counts: number[] | null;
  marks: Mark[];
  /** how many bars stand below one another */
  depths: number;
  most: number;
  input: boolean;
}

/** An answer of the server as it is drawn: offsets from the clock's origin. */
export interface Picture {
  range: Range;
  exact: boolean;
  total: number;
  count: number;
  lanes: DrawnLane[];
  /** lanes that are left out */
  more: number;
}

/** More bars than these are not told apart in a lane. */
const MOST_DEPTHS = 10;

export function pictureOf(answer: TimelineAnswer, clock: Clock, range: Range): Picture {
  const lanes = answer.lanes.map((lane) => drawnLane(lane, clock));
  const { exact, total, count, more } = answer;
  return { range, exact, total, count, lanes, more };
}

/** The lanes of a run before the server has said what is in them. */
export function emptyPicture(
  inputs: readonly string[],
  found: readonly { type: string; count: number }[],
  range: Range,
): Picture {
  const lane = (type: string, count: number, input: boolean): DrawnLane => {
    return { name: type, type, count, counts: null, marks: [], depths: 1, most: 0, input };
  };
  const total = found.reduce((sum, one) => sum + one.count, 0);
  const lanes = [
    ...inputs.map((type) => lane(type, 0, true)),
    ...found.map((one) => lane(one.type, one.count, false)),
  ];
  return { range, exact: total <= 2000, total, count: total, lanes, more: 0 };
}

function drawnLane(lane: Lane, clock: Clock): DrawnLane {
  const { name, type, count, input } = lane;
  const marks = (lane.marks ?? []).map(([start, end, row]): Mark => {
    const at = clock.offset(start);
    const stop = end === null ? at : clock.offset(end);
    return {
      start: at,
      end: stop,
      open: end === null,
      lasting: end === null || stop > at,
      row,
      depth: 0,
      among: 1,
    };
  });
  pile(marks);
  const counts = lane.counts ?? null;
  const most = counts ? counts.reduce((a, b) => Math.max(a, b), 0) : 0;
  return { name, type, count, counts, marks, depths: stack(marks), most, input };
}

/** Points at the same time stand above one another, so that each of them is seen. */
export function pile(marks: Mark[]): void {
  for (let i = 0; i < marks.length; ) {
    const first = marks[i] as Mark;
    let end = i + 1;
    if (!first.lasting) while (marks[end] && !marks[end]?.lasting && marks[end]?.start === first.start) end++;
    for (let j = i; j < end; j++) {
      const mark = marks[j] as Mark;
      if (!mark.lasting) [mark.depth, mark.among] = [j - i, end - i];
    }
    i = end;
  }
}

/** Are the marks of a lane strokes? Where points would cover each other only their density is seen. */
export function asStrokes(lane: DrawnLane, range: Range, width: number): boolean {
  if (lane.input) return true;
  const most = width / 14;
  let shown = 0;
  for (const mark of lane.marks)
    if (!mark.lasting && mark.start >= range.from && mark.start <= range.to && ++shown > most) return true;
  return false;
}

/** How far a mark stands from the middle of its strip, down if positive; `depths`: the rows of bars of its lane. */
export function offMiddle(mark: Mark, strip: Strip, depths = 1): number {
  if (mark.lasting) {
    const place = barPlace(strip, mark.depth, depths);
    return place.top + place.height / 2 - strip.top - strip.height / 2;
  }
  if (mark.among < 2) return 0;
  const each = Math.min(10, (strip.height - 10) / (mark.among - 1));
  return ((mark.among - 1) / 2 - mark.depth) * each;
}

/** Puts bars that overlap below one another; returns how many rows that takes. Marks are in order of their start. */
export function stack(marks: Mark[]): number {
  const ends: number[] = [];
  for (const mark of marks) {
    if (!mark.lasting) continue;
    let depth = ends.findIndex((end) => end < mark.start);
    if (depth < 0) depth = ends.length < MOST_DEPTHS ? ends.length : ends.indexOf(Math.min(...ends));
    ends[depth] = mark.open ? Infinity : mark.end;
    mark.depth = depth;
  }
  return Math.max(1, ends.length);
}

export interface Strip {
  top: number;
  height: number;
}

/** Lanes below one another in `room` pixels: as high as there is room, between 28 and 56, and as their bars need. */
export function strips(lanes: readonly { input: boolean; depths: number }[], room: number): Strip[] {
  const inputs = lanes.filter((lane) => lane.input).length;
  const thin = inputs > 4 ? 18 : 24;
  const own = lanes.length - inputs;
  const each = Math.floor(Math.min(56, Math.max(28, own ? (room - inputs * thin) / own : 28)));
  let top = 0;
  return lanes.map((lane) => {
    const strip = { top, height: lane.input ? thin : Math.max(each, 8 + lane.depths * 5) };
    top += strip.height;
    return strip;
  });
}

/** Where a bar of a lane stands within its strip. */
export function barPlace(strip: Strip, depth: number, depths: number): Strip {
  const inner = strip.height - 8;
  const each = Math.max(2, Math.min(14, inner / depths));
  const top = strip.top + 4 + (inner - each * depths) / 2 + depth * each;
  return { top, height: Math.max(2, each - 1) };
}

/** A place in pixels of an offset in time. */
export function pixel(range: Range, width: number, at: number): number {
  return ((at - range.from) / (range.to - range.from)) * width;
}

export function offsetAt(range: Range, width: number, x: number): number {
  return range.from + (x / width) * (range.to - range.from);
}

export interface Hit {
  lane: number;
  mark: Mark;
}

/** The mark at a place: the nearest point within 8 pixels, else the bar that is there. */
export function hit(
  picture: Picture,
  at: readonly Strip[],
  range: Range,
  width: number,
  x: number,
  y: number,
): Hit | null {
  const lane = at.findIndex((strip) => y >= strip.top && y < strip.top + strip.height);
  const drawn = picture.lanes[lane];
  const strip = at[lane];
  if (!drawn || !strip) return null;
  const strokes = asStrokes(drawn, range, width);
  let best: Mark | null = null;
  let least = 8;
  for (const mark of drawn.marks) {
    const start = pixel(range, width, mark.start);
    if (!mark.lasting) {
      const middle = strip.top + strip.height / 2 + (strokes ? 0 : offMiddle(mark, strip));
      const across = Math.abs(start - x);
      // of points above one another the one under the pointer, else the lane is enough
      const away = across + Math.abs(middle - y) / strip.height;
      if (across < 8 && away < least) [best, least] = [mark, away];
      continue;
    }
    const end = mark.open ? width : pixel(range, width, mark.end);
    const place = barPlace(strip, mark.depth, drawn.depths);
    const across = Math.max(0, start - x, x - Math.max(end, start + 3));
    const down = Math.max(0, place.top - y, y - place.top - place.height);
    const away = across + down;
    if (away < least) [best, least] = [mark, away];
  }
  return best && { lane, mark: best };
}

/** The time around an empty place of a lane, at most `reach` to both sides, without the marks beside it; null: not empty. */
export function around(lane: DrawnLane, whole: Range, at: number, reach: number): Range | null {
  let [from, to] = [at - reach, at + reach];
  if (lane.counts) {
    const each = (whole.to - whole.from) / lane.counts.length;
    const first = Math.floor((from - whole.from) / each);
    const last = Math.floor((to - whole.from) / each);
    return lane.counts.slice(Math.max(0, first), last + 1).some((count) => count > 0) ? null : { from, to };
  }
  for (const { start, end, open } of lane.marks) {
    if (start <= at && (open || end >= at)) return null;
    if (start > at) to = Math.min(to, start - 1);
    else if (!open) from = Math.max(from, end + 1);
  }
  return from <= to ? { from, to } : null;
}

/** The next mark of a lane in a direction, in order of start; the first in view if none is chosen yet. */
export function nextMark(
  marks: readonly Mark[],
  current: Mark | null,
  step: 1 | -1,
  range: Range,
): Mark | null {
  if (current) {
    const at = marks.findIndex((mark) => mark.row === current.row && mark.start === current.start);
    if (at >= 0) return marks[at + step] ?? null;
  }
  const inView = marks.filter((mark) => mark.start <= range.to && (mark.open || mark.end >= range.from));
  return (step > 0 ? inView[0] : inView.at(-1)) ?? null;
}

/** The mark of a lane that is nearest to a time. */
export function nearest(marks: readonly Mark[], at: number): Mark | null {
  let best: Mark | null = null;
  for (const mark of marks) if (!best || Math.abs(mark.start - at) < Math.abs(best.start - at)) best = mark;
  return best;
}

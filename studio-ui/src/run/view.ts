/** What a timeline shows: a range of time, zoomed and moved within limits, and its places in pixels. */
import type { Range } from "./time";

/** The least number of ticks across the picture. */
const LEAST = 8;

/** The limits around all that happened: a little room at both ends. */
export function limitsOf(first: number, last: number): Range {
  const room = Math.max(1, (last - first) * 0.02);
  return { from: first - room, to: last + room };
}

export function length(range: Range): number {
  return range.to - range.from;
}

/** The range moved back between the limits, its length kept where possible. */
export function within(range: Range, limits: Range): Range {
  const span = Math.min(length(limits), Math.max(length(range), Math.min(LEAST, length(limits))));
  const middle = (range.from + range.to) / 2;
  const from = Math.min(limits.to - span, Math.max(limits.from, middle - span / 2));
  return { from, to: from + span };
}

/** Zoomed by `factor` (2: half as long) so that what is at `share` (0: left, 1: right) stays where it is. */
export function zoomed(range: Range, limits: Range, factor: number, share = 0.5): Range {
  const span = Math.min(length(limits), Math.max(Math.min(LEAST, length(limits)), length(range) / factor));
  const at = range.from + length(range) * share;
  const from = at - span * share;
  return within({ from, to: from + span }, limits);
}

/** Moved by a share of its length. */
export function moved(range: Range, limits: Range, share: number): Range {
  const by = length(range) * share;
  return within({ from: range.from + by, to: range.to + by }, limits);
}

/** The range around something, if it is not in view yet. */
export function showing(range: Range, limits: Range, start: number, end: number): Range {
  if (start >= range.from && end <= range.to) return range;
  const span = Math.max(length(range), (end - start) * 1.2);
  const middle = (start + end) / 2;
  return within({ from: middle - span / 2, to: middle + span / 2 }, limits);
}

/** What of a view lies within all that happened: its limits have a little room around that. */
export function shownOf(range: Range, limits: Range): Range {
  const room = Math.max(1, (length(limits) / 1.04) * 0.02);
  const from = Math.max(range.from, limits.from + room);
  return { from, to: Math.max(from, Math.min(range.to, limits.to - room)) };
}

/** As d3-zoom says it: scaled by `k` and moved by `x` pixels, of a picture of all limits that is `width` wide. */
export interface Transform {
  k: number;
  x: number;
}

export function transformOf(range: Range, limits: Range, width: number): Transform {
  const k = length(limits) / length(range);
  return { k, x: (-(range.from - limits.from) / length(limits)) * width * k };
}

export function rangeOf(transform: Transform, limits: Range, width: number): Range {
  const span = length(limits) / transform.k;
  const from = limits.from - (transform.x / transform.k / width) * length(limits);
  return within({ from, to: from + span }, limits);
}

export function mostZoom(limits: Range): number {
  return Math.max(1, length(limits) / LEAST);
}

export function same(a: Range | null, b: Range | null): boolean {
  return a === b || (a !== null && b !== null && a.from === b.from && a.to === b.to);
}

/** Places on the sheet of a net: lines and their heads, what fits a window, the neighbour in a direction. */
import type { NetArc, NetDrawing, NetPage } from "../api/schema";

export type Point = readonly [number, number];

/** The sheet is drawn `k` times as large, its corner at `x`, `y`. */
export interface Zoom {
  x: number;
  y: number;
  k: number;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The control point of an arc that is a curve through its second point. */
function control(points: readonly Point[]): Point | null {
  const [a, b, c] = points;
  if (!a || !b || !c) return null;
  return [2 * b[0] - (a[0] + c[0]) / 2, 2 * b[1] - (a[1] + c[1]) / 2];
}

const round = (value: number) => Math.round(value * 10) / 10;

/** An arc as the data of an SVG path, moved by `dx`, `dy`. */
export function lineOf(points: readonly Point[], dx = 0, dy = 0): string {
  const at = ([x, y]: Point) => `${round(x + dx)} ${round(y + dy)}`;
  const [first] = points;
  const last = points.at(-1);
  if (!first || !last) return "";
  const bend = control(points);
  return bend ? `M${at(first)}Q${at(bend)} ${at(last)}` : `M${at(first)}L${at(last)}`;
}

const LENGTH = 9;
const HALF = 3.6;

function head(tip: Point, from: Point, dx: number, dy: number): string {
  const [x, y] = tip;
  const length = Math.hypot(x - from[0], y - from[1]) || 1;
  const ux = (x - from[0]) / length;
  const uy = (y - from[1]) / length;
  const at = (along: number, across: number) =>
    `${round(x + dx - ux * along - uy * across)} ${round(y + dy - uy * along + ux * across)}`;
  return `M${at(0, 0)}L${at(LENGTH, HALF)}L${at(LENGTH, -HALF)}Z`;
}

/** The heads of an arc: at the transition, at the place, or at both. */
export function headsOf({ points, into, out }: Pick<NetArc, "points" | "into" | "out">, dx = 0, dy = 0) {
  const bend = control(points);
  const [first] = points;
  const last = points.at(-1);
  if (!first || !last) return "";
  return (into ? head(last, bend ?? first, dx, dy) : "") + (out ? head(first, bend ?? last, dx, dy) : "");
}

/** The point of an arc at a part of its way, from its place (0) to its transition (1). */
export function pointAt(points: readonly Point[], part: number): Point {
  const first = points[0] ?? [0, 0];
  const last = points.at(-1) ?? first;
  const bend = control(points);
  const mix = (a: number, b: number) => a + (b - a) * part;
  if (!bend) return [mix(first[0], last[0]), mix(first[1], last[1])];
  const along = (i: 0 | 1) => mix(mix(first[i], bend[i]), mix(bend[i], last[i]));
  return [along(0), along(1)];
}

/** How a box is shown whole and in the middle of a window. */
export function fitted(box: Box, room: { width: number; height: number }, margin = 16, most = 1.25): Zoom {
  const width = Math.max(1, room.width - 2 * margin);
  const height = Math.max(1, room.height - 2 * margin);
  const k = Math.min(most, width / Math.max(1, box.width), height / Math.max(1, box.height));
  return {
    k,
    x: (room.width - box.width * k) / 2 - box.x * k,
    y: (room.height - box.height * k) / 2 - box.y * k,
  };
}

/** The least move after which a box is seen; a box that does not fit is shown from its corner. */
export function revealing(box: Box, zoom: Zoom, room: { width: number; height: number }, margin = 24): Zoom {
  const shift = (start: number, size: number, whole: number) => {
    if (start < margin || size > whole - 2 * margin) return margin - start;
    return Math.min(0, whole - margin - start - size);
  };
  const { x, y, k } = zoom;
  const seen = (start: number, size: number, whole: number) => start >= 0 && start + size <= whole;
  const left = box.x * k + x;
  const top = box.y * k + y;
  const wide = box.width * k;
  const high = box.height * k;
  return {
    k,
    x: seen(left, wide, room.width) ? x : x + shift(left, wide, room.width),
    y: seen(top, high, room.height) ? y : y + shift(top, high, room.height),
  };
}

/** An element on the sheet, by its middle. */
export interface Spot extends Box {
  name: string;
  kind: "place" | "transition";
}

/** The pages that are shown: all at their places on the sheet, or one at its corner. */
export function shownPages(net: NetDrawing, page: string): { page: NetPage; x: number; y: number }[] {
  const one = net.pages.find(({ name }) => name === page);
  return one ? [{ page: one, x: 0, y: 0 }] : net.pages.map((each) => ({ page: each, x: each.x, y: each.y }));
}

/** The size of what is shown. */
export function sheetOf(net: NetDrawing, page: string): Box {
  const { width, height } = net.pages.find(({ name }) => name === page) ?? net;
  return { x: 0, y: 0, width, height };
}

export function spotsOf(net: NetDrawing, page: string): Spot[] {
  return shownPages(net, page).flatMap(({ page, x, y }) => [
    ...page.places.map((one) => spot("place", one, x, y)),
    ...page.transitions.map((one) => spot("transition", one, x, y)),
  ]);
}

function spot(kind: Spot["kind"], one: Box & { name: string }, x: number, y: number): Spot {
  return { kind, name: one.name, x: one.x + x, y: one.y + y, width: one.width, height: one.height };
}

export type Direction = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

/** The nearest element in a direction; what lies aside counts twice as far. */
export function neighbour(spots: readonly Spot[], name: string, direction: Direction): Spot | null {
  const from = spots.find((one) => one.name === name);
  if (!from) return spots[0] ?? null;
  const sideways = direction === "ArrowLeft" || direction === "ArrowRight";
  const sign = direction === "ArrowLeft" || direction === "ArrowUp" ? -1 : 1;
  let best: Spot | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const one of spots) {
    const along = sign * (sideways ? one.x - from.x : one.y - from.y);
    const across = Math.abs(sideways ? one.y - from.y : one.x - from.x);
    if (along <= 1 || across > 3 * along) continue;
    const way = along + 2 * across;
    if (way < least) {
      least = way;
      best = one;
    }
  }
  return best;
}

const GAP = 24;

/** All pages on one sheet, in rows, so that they are as large as can be in a window of that shape. */
export function arranged(net: NetDrawing, room: { width: number; height: number }): NetDrawing {
  // a sheet that is very wide or very tall is slow to draw
  const shape = Math.min(1.9, Math.max(0.6, room.width / Math.max(1, room.height)));
  let best: NetDrawing | null = null;
  let least = Number.POSITIVE_INFINITY;
  const widest = Math.max(0, ...net.pages.map((page) => page.width));
  const all = net.pages.reduce((sum, page) => sum + page.width + GAP, 0);
  for (let width = widest; width <= Math.max(widest, all); width = width * 1.08 + 1) {
    const drawn = inRows(net, width);
    const size = Math.max(drawn.width, drawn.height * shape);
    if (size < least - 0.5) {
      least = size;
      best = drawn;
    }
  }
  return best ?? net;
}

function inRows(net: NetDrawing, most: number): NetDrawing {
  let x = 0;
  let y = 0;
  let high = 0;
  let width = 0;
  const pages = net.pages.map((page) => {
    if (x > 0 && x + page.width > most) {
      x = 0;
      y += high + GAP;
      high = 0;
    }
    const placed = { ...page, x, y };
    x += page.width + GAP;
    width = Math.max(width, x - GAP);
    high = Math.max(high, page.height);
    return placed;
  });
  return { ...net, pages, width, height: y + high };
}

/** Draws the lanes of a timeline on a canvas. */
import {
  asStrokes,
  barPlace,
  type DrawnLane,
  type Mark,
  offMiddle,
  type Picture,
  pixel,
  type Strip,
} from "./lanes";
import type { AxisTick, Range } from "./time";

const RADIUS = 4.5;
/** The hole in marks of a second type: its height in strokes and bars, its radius in points, and how high it is in a column. */
const HOLE = { size: 3, radius: 1.75, up: 3 };

export interface Theme {
  grid: string;
  strong: string;
  ink: string;
  edge: string;
  accent: string;
  soft: string;
  input: string;
  back: string;
  dim: string;
  error: string;
}

/** Marks of one type that stand out: the chosen detection, its constituents, what is pointed at. */
export interface Spot {
  lane: number;
  start: number;
  end: number;
  /** from the middle of the lane */
  off: number;
  /** around a bar the ring is narrow */
  bar: boolean;
  /** `absent`: a time in which something was looked for and not found; `failed`: a clause failed at it */
  kind: "chosen" | "constituent" | "absent" | "failed" | "pointed" | "focused";
}

/** From so many constituents in a lane on they are marked by colour: rings would hide each other. */
const CROWD = 8;

export interface Scene {
  width: number;
  height: number;
  scroll: number;
  range: Range;
  picture: Picture;
  strips: readonly Strip[];
  colours: readonly string[];
  /** the colours of thin strokes, which need more contrast than areas */
  strokes: readonly string[];
  /** lanes of a type whose colour another type has, too: a hole in each mark tells them apart */
  seconds: readonly boolean[];
  dimmed: readonly boolean[];
  ticks: readonly AxisTick[];
  spots: readonly Spot[];
  brush: Range | null;
  theme: Theme;
}

export function draw(context: CanvasRenderingContext2D, scene: Scene): void {
  const { width, height, scroll, range, picture, strips, theme } = scene;
  context.clearRect(0, 0, width, height);
  context.save();
  context.translate(0, -scroll);
  const bottom = scroll + height;
  context.lineWidth = 1;
  for (const tick of scene.ticks) {
    const x = Math.round(pixel(range, width, tick.at)) + 0.5;
    context.strokeStyle = tick.major ? theme.strong : theme.grid;
    line(context, x, scroll, x, bottom);
  }
  picture.lanes.forEach((lane, i) => {
    const strip = strips[i];
    if (!strip || strip.top > bottom || strip.top + strip.height < scroll) return;
    context.strokeStyle = theme.grid;
    const under = strip.top + strip.height - 0.5;
    line(context, 0, under, width, under);
    context.globalAlpha = scene.dimmed[i] ? 0.25 : 1;
    const colour = scene.colours[i] ?? theme.input;
    if (lane.counts) drawCounts(context, scene, lane, lane.counts, strip, colour, scene.seconds[i] ?? false);
    else
      drawMarks(context, scene, lane, strip, colour, scene.strokes[i] ?? colour, scene.seconds[i] ?? false);
    context.globalAlpha = 1;
  });
  drawSpots(context, scene);
  if (scene.brush) {
    const from = pixel(range, width, scene.brush.from);
    const to = pixel(range, width, scene.brush.to);
    context.fillStyle = theme.accent;
    context.globalAlpha = 0.14;
    context.fillRect(from, scroll, to - from, height);
    context.globalAlpha = 1;
    context.strokeStyle = theme.accent;
    line(context, Math.round(from) + 0.5, scroll, Math.round(from) + 0.5, bottom);
    line(context, Math.round(to) - 0.5, scroll, Math.round(to) - 0.5, bottom);
  }
  context.restore();
}

function line(context: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number) {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

/**
 * Bars from the lane's bottom; heights by the square root, so that single events are seen beside thousands.
 * Each is a rectangle of whole pixels: a browser fills thousands of these in the time that one path of them takes it.
 */
function drawCounts(
  context: CanvasRenderingContext2D,
  { width, range, picture, theme }: Scene,
  lane: DrawnLane,
  counts: readonly number[],
  strip: Strip,
  colour: string,
  second: boolean,
) {
  const room = strip.height - 5;
  const bottom = strip.top + strip.height - 1;
  const from = pixel(range, width, picture.range.from);
  const each = (pixel(range, width, picture.range.to) - from) / counts.length;
  const first = Math.max(0, Math.floor(-from / each));
  const last = Math.min(counts.length, Math.ceil((width - from) / each));
  context.fillStyle = colour;
  for (let i = first; i < last; ) {
    const left = Math.round(from + i * each);
    let count = counts[i] ?? 0;
    let next = i + 1;
    // bars that begin at one pixel are one bar: where the picture is of a longer range than what is shown of it
    while (next < last && Math.round(from + next * each) === left)
      count = Math.max(count, counts[next++] ?? 0);
    if (count) {
      const high = Math.max(3, Math.round(Math.sqrt(count / lane.most) * room));
      const right = Math.round(from + next * each);
      const wide = Math.max(1, right - left);
      context.fillRect(left, bottom - high, wide, high);
      if (second && high > HOLE.up + HOLE.size) {
        context.fillStyle = theme.back;
        context.fillRect(left, bottom - HOLE.up - HOLE.size, wide, HOLE.size);
        context.fillStyle = colour;
      }
    }
    i = next;
  }
}

function drawMarks(
  context: CanvasRenderingContext2D,
  { width, range, theme }: Scene,
  lane: DrawnLane,
  strip: Strip,
  colour: string,
  stroke: string,
  second: boolean,
) {
  const middle = strip.top + strip.height / 2;
  context.fillStyle = colour;
  context.strokeStyle = theme.edge;
  context.lineWidth = 1;
  const faint = context.globalAlpha;
  // bars that touch are told apart, where there is room for a line
  const edged = barPlace(strip, 0, lane.depths).height > 7;
  for (const mark of lane.marks) {
    if (!mark.lasting || !bar(context, mark, range, width, barPlace(strip, mark.depth, lane.depths)))
      continue;
    context.globalAlpha = faint * 0.9;
    context.fill();
    context.globalAlpha = faint / 2;
    if (edged) context.stroke();
    if (second) hole(context, mark, range, width, barPlace(strip, mark.depth, lane.depths), theme.back);
  }
  context.globalAlpha = faint;
  // where points would cover each other they are strokes, whose density is seen
  const shown = lane.marks.filter(
    (mark) => !mark.lasting && mark.start >= range.from && mark.start <= range.to,
  );
  if (asStrokes(lane, range, width)) {
    context.fillStyle = stroke;
    const high = strip.height * (lane.input ? 0.5 : 0.6);
    context.globalAlpha *= lane.input ? 1 : 0.85;
    for (const mark of shown) {
      const x = pixel(range, width, mark.start);
      const part = second ? (high - HOLE.size) / 2 : high;
      context.fillRect(x - 0.75, middle - high / 2, 1.5, part);
      if (second) context.fillRect(x - 0.75, middle + HOLE.size / 2, 1.5, part);
    }
    return;
  }
  for (const mark of shown) {
    context.beginPath();
    context.arc(pixel(range, width, mark.start), middle + offMiddle(mark, strip), RADIUS, 0, 2 * Math.PI);
    context.globalAlpha = faint * 0.9;
    context.fill();
    context.globalAlpha = faint * 0.7;
    context.stroke();
    if (!second) continue;
    context.beginPath();
    context.arc(
      pixel(range, width, mark.start),
      middle + offMiddle(mark, strip),
      HOLE.radius,
      0,
      2 * Math.PI,
    );
    context.globalAlpha = 1;
    context.fillStyle = theme.back;
    context.fill();
    context.fillStyle = colour;
  }
  context.globalAlpha = faint;
}

/** A bar of a second type has a line of the ground along its middle. */
function hole(
  context: CanvasRenderingContext2D,
  mark: Mark,
  range: Range,
  width: number,
  place: Strip,
  back: string,
) {
  const colour = context.fillStyle;
  const middle = place.top + place.height / 2;
  if (place.height < 3 * HOLE.size) return;
  if (!bar(context, mark, range, width, { ...place, top: middle - HOLE.size / 2, height: HOLE.size })) return;
  context.globalAlpha = 1;
  context.fillStyle = back;
  context.fill();
  context.fillStyle = colour;
}

/** Begins the path of a bar, if it is in view: each bar has a path of its own, which is faster than one of many. */
function bar(
  context: CanvasRenderingContext2D,
  mark: Mark,
  range: Range,
  width: number,
  place: Strip,
): boolean {
  const from = Math.max(-4, pixel(range, width, mark.start));
  const to = mark.open ? width + 4 : Math.min(width + 4, pixel(range, width, mark.end));
  if (to < 0 || from > width) return false;
  context.beginPath();
  context.roundRect(from, place.top, Math.max(2, to - from), place.height, 2);
  return true;
}

/** What stands out, and lines from the constituents to the chosen detection. */
function drawSpots(context: CanvasRenderingContext2D, scene: Scene) {
  const { width, range, strips, theme } = scene;
  const place = (spot: Spot) => {
    const strip = strips[spot.lane];
    const start = pixel(range, width, spot.start);
    const end = Math.max(start, Math.min(width, pixel(range, width, spot.end)));
    return strip ? { x: start, end, y: strip.top + strip.height / 2 + spot.off, strip } : null;
  };
  const chosen = scene.spots.find((spot) => spot.kind === "chosen");
  const target = chosen && place(chosen);
  if (target) {
    context.strokeStyle = theme.accent;
    context.lineWidth = 1;
    context.globalAlpha = 0.55;
    context.setLineDash([3, 3]);
    line(context, Math.round(target.x) + 0.5, 0, Math.round(target.x) + 0.5, scene.scroll + scene.height);
    context.setLineDash([]);
    for (const group of byLane(scene.spots)) {
      // of a crowd one line from its middle
      const some = group.length < CROWD ? group : [group[group.length >> 1] as Spot];
      for (const spot of some) {
        const from = place(spot);
        if (!from || from.y === target.y) continue;
        const bend = (from.y + target.y) / 2;
        context.beginPath();
        context.moveTo(from.x, from.y);
        context.bezierCurveTo(from.x, bend, target.x, bend, target.x, target.y);
        context.stroke();
      }
    }
    context.globalAlpha = 1;
  }
  const crowded = new Set(byLane(scene.spots).flatMap((group) => (group.length < CROWD ? [] : group)));
  for (const spot of scene.spots) {
    const at = place(spot);
    if (!at) continue;
    context.save();
    // a ring stays in its lane
    context.beginPath();
    context.rect(0, at.strip.top, width, at.strip.height);
    context.clip();
    context.strokeStyle =
      spot.kind === "pointed" ? theme.ink : spot.kind === "failed" ? theme.error : theme.accent;
    context.lineWidth = spot.kind === "constituent" || spot.kind === "absent" ? 1.5 : 2;
    if (spot.kind === "failed") cross(context, at.x, at.y, Math.min(9, at.strip.height / 2 - 1));
    if (crowded.has(spot)) {
      context.fillStyle = theme.accent;
      context.globalAlpha = 0.8;
      context.fillRect(
        Math.round(at.x) - 1,
        at.strip.top + 2,
        Math.max(2, at.end - at.x),
        at.strip.height - 5,
      );
    } else {
      if (spot.kind === "absent") context.setLineDash([4, 3]);
      const radius = spot.kind === "absent" ? 0 : spot.bar ? 5 : spot.kind === "constituent" ? 6 : 7.5;
      const half = Math.min(spot.kind === "absent" ? 7 : radius, at.strip.height / 2 - 1);
      context.beginPath();
      context.roundRect(at.x - radius, at.y - half, at.end - at.x + 2 * radius, 2 * half, half);
      context.stroke();
    }
    context.restore();
  }
}

/** Not by its colour alone: a row at which a clause failed is crossed out. */
function cross(context: CanvasRenderingContext2D, x: number, y: number, size: number) {
  line(context, x - size, y - size, x + size, y + size);
  line(context, x - size, y + size, x + size, y - size);
}

/** The constituents, lane by lane. */
function byLane(spots: readonly Spot[]): Spot[][] {
  const out = new Map<number, Spot[]>();
  for (const spot of spots)
    if (spot.kind === "constituent") out.set(spot.lane, [...(out.get(spot.lane) ?? []), spot]);
  return [...out.values()];
}

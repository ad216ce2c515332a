/** The timeline as a picture of its own: drawn from data for the range that is shown, with its lanes' names and counts. */
import { api } from "../api/client";
import { isSecond, strokeColour, typeColour } from "../parts/colours";
import { get } from "../state/store";
import { grouped, texts } from "../texts";
import "./actions";
import { draw, type Theme } from "./draw";
import { type Picture, pictureOf, pixel, type Strip, strips } from "./lanes";
import { runOrder } from "./order";
import { getRun, showsInputs } from "./state";
import { themeOf } from "./theme";
import type { AxisTick, Clock, Range } from "./time";

/** Pixels of the page; the picture has twice as many. */
const WIDTH = 1200;
const LABELS = 220;
const EDGE = 16;
const HEAD = 40;
const AXIS = 22;
const SCALE = 2;
/** More lanes than a canvas has room for are left out. */
const MOST_LANES = 200;

/** The picture as PNG. Raises an error if there is no run, and that of the server if it does not answer. */
export async function timelinePng(title: string): Promise<Blob> {
  const { shown: job, clock, range, by } = getRun();
  const inputs = showsInputs(getRun());
  if (!job || !clock) throw new Error(texts.export.notDrawn);
  const width = WIDTH - LABELS - 2 * EDGE;
  const query = { from: clock.ticks(Math.floor(range.from)), to: clock.ticks(Math.ceil(range.to)), width };
  const answer = await api.timeline(job, { ...query, ...(by && { by }) });
  const all = pictureOf(answer, clock, range);
  const lanes = all.lanes.filter((lane) => inputs || !lane.input).slice(0, MOST_LANES);
  return drawn({ ...all, lanes }, clock, range, width, title);
}

function drawn(picture: Picture, clock: Clock, range: Range, width: number, title: string): Promise<Blob> {
  const places = strips(picture.lanes, 0);
  const rows = places.reduce((sum, strip) => sum + strip.height, 0);
  const height = HEAD + AXIS + rows + EDGE;
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH * SCALE;
  canvas.height = height * SCALE;
  const context = canvas.getContext("2d");
  if (!context) throw new Error(texts.export.notDrawn);
  const theme = themeOf(document.documentElement);
  const order = runOrder();
  const { dark } = get();
  const colours = picture.lanes.map((lane) => (lane.input ? theme.input : typeColour(lane.type, order)));
  const strokes = colours.map((colour) => strokeColour(colour, dark));
  const seconds = picture.lanes.map((lane) => !lane.input && isSecond(lane.type, order));
  const ticks = clock.axis(range, width);
  context.scale(SCALE, SCALE);
  context.fillStyle = theme.back;
  context.fillRect(0, 0, WIDTH, height);
  head(context, theme, picture, clock, range, title);
  context.translate(EDGE, HEAD);
  axis(context, theme, ticks, range, width);
  context.translate(0, AXIS);
  names(context, theme, picture, places, colours, seconds);
  context.translate(LABELS, 0);
  context.save();
  context.beginPath();
  context.rect(0, 0, width, rows);
  context.clip();
  const scene = {
    width,
    height: rows,
    scroll: 0,
    range,
    picture,
    strips: places,
    colours,
    strokes,
    seconds,
    ticks,
    theme,
  };
  draw(context, { ...scene, dimmed: [], spots: [], brush: null });
  context.restore();
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(texts.export.notDrawn))), "image/png");
  });
}

/** Text that is cut at a width. */
function put(context: CanvasRenderingContext2D, text: string, x: number, y: number, most: number) {
  let shown = text;
  while (shown && context.measureText(shown).width > most) shown = `${shown.slice(0, -2)}…`;
  context.fillText(shown, x, y);
}

function font(context: CanvasRenderingContext2D, size: number, weight = 400) {
  const family = getComputedStyle(document.documentElement).getPropertyValue("--font") || "sans-serif";
  context.font = `${weight} ${size}px ${family}`;
  context.textBaseline = "middle";
}

function head(
  context: CanvasRenderingContext2D,
  theme: Theme,
  picture: Picture,
  clock: Clock,
  range: Range,
  title: string,
) {
  font(context, 14, 600);
  context.fillStyle = theme.ink;
  put(context, title, EDGE, HEAD / 2, 400);
  font(context, 12);
  context.fillStyle = theme.dim;
  context.textAlign = "right";
  // without the room that is left at both ends, and without fractions where they mean nothing
  const whole = clock.kind.timestamp && range.to - range.from > 6e7 ? 1e6 : 1;
  const last = clock.offset(getRun().result?.last ?? 0);
  const ends = [Math.max(0, range.from), Math.min(last, range.to)].map(
    (at) => Math.floor(at / whole) * whole,
  );
  const [from, to] = ends.map((at) => clock.text(clock.ticks(at)));
  const part = texts.export.part(from ?? "", to ?? "");
  const shown = [texts.run.found(picture.count), part, clock.scale].filter(Boolean).join("   ");
  put(context, shown, WIDTH - EDGE, HEAD / 2, 700);
  context.textAlign = "left";
}

function axis(
  context: CanvasRenderingContext2D,
  theme: Theme,
  ticks: readonly AxisTick[],
  range: Range,
  width: number,
) {
  context.textAlign = "center";
  for (const tick of ticks) {
    font(context, 11, tick.major ? 600 : 400);
    context.fillStyle = tick.major ? theme.ink : theme.dim;
    context.fillText(tick.label, LABELS + pixel(range, width, tick.at), AXIS / 2);
  }
  context.textAlign = "left";
}

function names(
  context: CanvasRenderingContext2D,
  theme: Theme,
  picture: Picture,
  places: readonly Strip[],
  colours: readonly string[],
  seconds: readonly boolean[],
) {
  picture.lanes.forEach((lane, i) => {
    const strip = places[i];
    if (!strip) return;
    const middle = strip.top + strip.height / 2;
    context.fillStyle = theme.grid;
    context.fillRect(0, strip.top + strip.height - 1, LABELS, 1);
    context.fillStyle = colours[i] ?? theme.input;
    context.fillRect(0, middle - 4, 9, 9);
    if (seconds[i]) {
      context.fillStyle = theme.back;
      context.fillRect(3, middle - 1, 3, 3);
    }
    font(context, lane.input ? 12 : 13);
    context.fillStyle = lane.input ? theme.dim : theme.ink;
    const name = lane.name === lane.type ? lane.name : `${lane.name}  ${lane.type}`;
    put(context, name, 16, middle, LABELS - 70);
    font(context, 11);
    context.fillStyle = theme.dim;
    context.textAlign = "right";
    context.fillText(grouped(lane.count), LABELS - 8, middle);
    context.textAlign = "left";
  });
}

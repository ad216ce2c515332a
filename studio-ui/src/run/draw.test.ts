import { expect, it, vi } from "vitest";
import { draw, type Scene, type Theme } from "./draw";
import { asStrokes, type DrawnLane, hit, type Mark, type Picture } from "./lanes";

const theme = Object.fromEntries(
  ["grid", "strong", "ink", "edge", "accent", "soft", "input", "back", "dim", "error"].map((name) => [
    name,
    name,
  ]),
) as unknown as Theme;

/** A canvas that keeps what is drawn on it. */
function canvas() {
  const rects: number[][] = [];
  let subpaths = 0;
  let most = 0;
  const own = {
    beginPath: () => {
      subpaths = 0;
    },
    rect: () => subpaths++,
    roundRect: () => subpaths++,
    arc: () => subpaths++,
    fill: () => {
      most = Math.max(most, subpaths);
    },
    fillRect: (...rect: number[]) => rects.push(rect),
  };
  const nothing = vi.fn();
  const context = new Proxy(own as unknown as CanvasRenderingContext2D, {
    get: (target, name) => Reflect.get(target, name) ?? nothing,
    set: () => true,
  });
  return { context, rects, subpaths: () => most };
}

function lane(change: Partial<DrawnLane>): DrawnLane {
  return {
    name: "A",
    type: "A",
    count: 0,
    counts: null,
    marks: [],
    depths: 1,
    most: 0,
    input: false,
    ...change,
  };
}

function scene(one: DrawnLane, range: Scene["range"], own = range): Scene {
  const picture: Picture = { range: own, exact: false, total: 0, count: 0, lanes: [one], more: 0 };
  const strips = [{ top: 0, height: 40 }];
  const none = { ticks: [], spots: [], brush: null, dimmed: [], seconds: [] };
  return {
    width: 100,
    height: 40,
    scroll: 0,
    range,
    picture,
    strips,
    colours: ["c"],
    strokes: ["s"],
    theme,
    ...none,
  };
}

it("draws counts as rectangles of whole pixels without gaps, and no path of many parts", () => {
  const counts = Array.from({ length: 100 }, (_, i) => (i % 7 ? i : 0));
  for (const range of [
    { from: 0, to: 100 },
    { from: 20.3, to: 61.7 },
    { from: -150, to: 250 },
  ]) {
    const { context, rects, subpaths } = canvas();
    draw(context, scene(lane({ counts, most: 99 }), range, { from: 0, to: 100 }));
    expect(rects.length).toBeGreaterThan(10);
    expect(rects.flat().every(Number.isInteger)).toBe(true);
    expect(subpaths()).toBe(0);
    // the next one begins where one ends, or a pixel without any is between them
    const sorted = rects.map(([x = 0, , wide = 0]) => [x, x + wide] as const).sort((a, b) => a[0] - b[0]);
    for (let i = 1; i < sorted.length; i++)
      expect(sorted[i]?.[0]).toBeGreaterThanOrEqual(sorted[i - 1]?.[1] ?? 0);
  }
});

const mark = (start: number, more: Partial<Mark> = {}): Mark => {
  return { start, end: start, open: false, lasting: false, row: start, depth: 0, among: 1, ...more };
};

it("gives each bar and each point a path of its own", () => {
  const bars = Array.from({ length: 30 }, (_, i) => mark(3 * i, { end: 3 * i + 2, lasting: true }));
  const { context, subpaths } = canvas();
  draw(context, scene(lane({ marks: [...bars, mark(1), mark(50)] }), { from: 0, to: 100 }));
  expect(subpaths()).toBe(1);
});

it("puts what is under the pointer where it is drawn: strokes do not stack", () => {
  const few = lane({ marks: [mark(50, { among: 2 }), mark(50, { among: 2, depth: 1, row: 51 })] });
  const range = { from: 0, to: 100 };
  expect(asStrokes(few, range, 100)).toBe(false);
  const many = lane({ marks: Array.from({ length: 20 }, (_, i) => mark(5 * i, { among: 2 })) });
  expect(asStrokes(many, range, 100)).toBe(true);
  expect(asStrokes(many, { from: 0, to: 20 }, 100)).toBe(false); // zoomed in there is room
  expect(asStrokes({ ...few, input: true }, range, 100)).toBe(true);
  const picture: Picture = { range, exact: true, total: 2, count: 2, lanes: [few], more: 0 };
  const at = (y: number) => hit(picture, [{ top: 0, height: 40 }], range, 100, 50, y)?.mark.row;
  expect([at(25), at(15)]).toEqual([50, 51]);
});

import { expect, it } from "vitest";
import type { NetDrawing } from "../api/schema";
import {
  arranged,
  fitted,
  headsOf,
  lineOf,
  neighbour,
  pointAt,
  revealing,
  type Spot,
  sheetOf,
  spotsOf,
} from "./geometry";

it("draws straight arcs as lines and bent ones through their middle point", () => {
  expect(
    lineOf([
      [0, 0],
      [10, 20],
    ]),
  ).toBe("M0 0L10 20");
  const bent = [
    [0, 0],
    [50, 40],
    [100, 0],
  ] as const;
  expect(lineOf(bent, 5, 5)).toBe("M5 5Q55 85 105 5");
  expect(pointAt(bent, 0.5)).toEqual([50, 40]);
  expect(pointAt(bent, 0)).toEqual([0, 0]);
  expect(pointAt(bent, 1)).toEqual([100, 0]);
});

it("puts a head where an arc ends, and two on an arc in both directions", () => {
  const points: [number, number][] = [
    [0, 0],
    [100, 0],
  ];
  expect(headsOf({ points, into: true, out: false })).toBe("M100 0L91 3.6L91 -3.6Z");
  expect(headsOf({ points, into: false, out: true })).toBe("M0 0L9 -3.6L9 3.6Z");
  expect(headsOf({ points, into: true, out: true }).split("M")).toHaveLength(3);
  expect(headsOf({ points, into: false, out: false })).toBe("");
});

it("fits a sheet into a window, in its middle, and enlarges a small one only a little", () => {
  const wide = fitted({ x: 0, y: 0, width: 2000, height: 500 }, { width: 1032, height: 632 });
  expect(wide.k).toBeCloseTo(0.5);
  expect(wide.x).toBeCloseTo(16);
  expect(wide.y).toBeCloseTo((632 - 250) / 2);
  expect(fitted({ x: 0, y: 0, width: 10, height: 10 }, { width: 1000, height: 600 }).k).toBe(1.25);
});

it("moves only as far as an element needs to be seen", () => {
  const room = { width: 400, height: 300 };
  const box = { x: 100, y: 100, width: 50, height: 40 };
  expect(revealing(box, { x: 0, y: 0, k: 1 }, room)).toEqual({ x: 0, y: 0, k: 1 });
  const moved = revealing(box, { x: -120, y: 250, k: 1 }, room);
  expect(moved.x).toBe(-76); // its left edge is 24 px inside
  expect(moved.y).toBe(136); // its lower edge is 24 px inside
});

const spot = (name: string, x: number, y: number): Spot => {
  return { name, kind: "place", x, y, width: 10, height: 10 };
};

it("finds the neighbour in a direction, and none beyond the edge", () => {
  const spots = [
    spot("a", 0, 0),
    spot("b", 100, 5),
    spot("c", 60, 90),
    spot("d", 0, 100),
    spot("e", 10, -400),
  ];
  expect(neighbour(spots, "a", "ArrowRight")?.name).toBe("b");
  expect(neighbour(spots, "a", "ArrowDown")?.name).toBe("d");
  expect(neighbour(spots, "a", "ArrowUp")?.name).toBe("e");
  expect(neighbour(spots, "a", "ArrowLeft")).toBeNull();
  expect(neighbour(spots, "gone", "ArrowLeft")?.name).toBe("a");
});

it("places the elements of all pages on one sheet, and those of one page at its corner", () => {
  const place = { name: "p", x: 10, y: 20, width: 30, height: 20 };
  const page = {
    name: "A",
    x: 500,
    y: 100,
    width: 200,
    height: 150,
    places: [place],
    transitions: [],
    arcs: [],
  };
  const net = { name: "n", width: 700, height: 250, pages: [page] } as unknown as NetDrawing;
  expect(spotsOf(net, "")).toMatchObject([{ name: "p", kind: "place", x: 510, y: 120 }]);
  expect(spotsOf(net, "A")).toMatchObject([{ x: 10, y: 20 }]);
  expect(sheetOf(net, "A")).toEqual({ x: 0, y: 0, width: 200, height: 150 });
  expect(sheetOf(net, "gone")).toEqual({ x: 0, y: 0, width: 700, height: 250 });
});

it("arranges pages for the shape of the window, none over another, in their order", () => {
  const sizes = [300, 200, 250, 400, 100, 350, 220, 300].map((width, i) => ({
    width,
    height: 150 + 20 * (i % 3),
  }));
  const pages = sizes.map((size, i) => ({
    name: `${i}`,
    x: 0,
    y: 0,
    ...size,
    places: [],
    transitions: [],
    arcs: [],
  }));
  const net: NetDrawing = { name: "n", width: 0, height: 0, pages };
  for (const [width, height] of [
    [1600, 900],
    [600, 1000],
  ] as const) {
    const drawn = arranged(net, { width, height });
    expect(drawn.pages.map((page) => page.name)).toEqual(pages.map((page) => page.name));
    for (const a of drawn.pages) {
      expect(a.x + a.width).toBeLessThanOrEqual(drawn.width);
      expect(a.y + a.height).toBeLessThanOrEqual(drawn.height);
      for (const b of drawn.pages)
        if (a !== b) {
          const aside = a.x + a.width <= b.x || b.x + b.width <= a.x;
          expect(aside || a.y + a.height <= b.y || b.y + b.height <= a.y).toBe(true);
        }
    }
    const wider = drawn.width / drawn.height > 1;
    expect(wider).toBe(width > height);
  }
});

import { expect, test } from "vitest";
import { type Box, curve, layout } from "./layout";

const sizes = { width: 100, height: 40, across: 60, down: 10 };
const box = (id: string, level: number, ...reads: string[]): Box => ({ id, level, reads });

function overlaps(boxes: readonly Box[]): string[] {
  const { places } = layout(boxes, sizes);
  const out: string[] = [];
  for (const a of boxes)
    for (const b of boxes) {
      const p = places.get(a.id);
      const q = places.get(b.id);
      if (a.id < b.id && p && q && p.x === q.x && Math.abs(p.y - q.y) < sizes.height)
        out.push(`${a.id} ${b.id}`);
    }
  return out;
}

test("levels are columns, whatever their numbers", () => {
  const { places, width } = layout([box("a", 0), box("b", 3, "a"), box("c", 7, "b")], sizes);
  expect([...places.values()].map((place) => place.x)).toEqual([0, 160, 320]);
  expect(width).toBe(420);
});

test("boxes do not overlap, also many that read one", () => {
  const many = Array.from({ length: 40 }, (_, i) => box(`d${i}`, 1 + (i % 3), i % 3 ? `d${i - 1}` : "in"));
  expect(overlaps([box("in", 0), ...many])).toEqual([]);
});

test("links do not cross where they need not", () => {
  const boxes = [box("a", 0), box("b", 0), box("c", 1, "b"), box("d", 1, "a")];
  const { places } = layout(boxes, sizes);
  const y = (id: string) => places.get(id)?.y ?? 0;
  expect(Math.sign(y("a") - y("b"))).toBe(Math.sign(y("d") - y("c")));
});

test("a link over several levels runs around the boxes between", () => {
  const boxes = [box("a", 0), box("b", 1, "a"), box("c", 2, "b", "a")];
  const { places, links } = layout(boxes, sizes);
  const long = links.find((link) => link.from === "a" && link.to === "c");
  const b = places.get("b") ?? { x: 0, y: 0 };
  const passing = long?.points.filter((point) => point.x >= b.x && point.x <= b.x + sizes.width) ?? [];
  expect(passing.length).toBe(2);
  for (const point of passing) expect(point.y < b.y || point.y > b.y + sizes.height).toBe(true);
});

test("a rule that reads itself, and an unknown type, do no harm", () => {
  const { links } = layout([box("a", 1, "a", "nowhere"), box("b", 1, "a")], sizes);
  expect(links).toEqual([]);
  expect(layout([], sizes)).toMatchObject({ width: 0, height: 0 });
});

test("a link is a smooth line", () => {
  expect(
    curve([
      { x: 0, y: 0 },
      { x: 10, y: 4 },
      { x: 20, y: 4 },
    ]),
  ).toBe("M0,0C5,0 5,4 10,4H20");
});

import { expect, it } from "vitest";
import { COLOURS, contrast, INPUT, strokeColour, typeLook } from "./colours";

function parts(colour: string): [number, number, number] {
  const value = Number.parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

it("makes strokes of every type visible in both themes", () => {
  for (const colour of [...COLOURS, INPUT]) {
    expect(contrast(parts(strokeColour(colour, false)), [255, 255, 255])).toBeGreaterThanOrEqual(3);
    expect(contrast(parts(strokeColour(colour, true)), [22, 24, 29])).toBeGreaterThanOrEqual(3);
  }
  expect(strokeColour("#1f9e77", false)).toBe("#1f9e77"); // enough already
  expect(strokeColour("CanvasText", true)).toBe("CanvasText");
});

it("tells a type from another one of the same colour by a second mark", () => {
  const order = [...COLOURS.keys(), COLOURS.length].map((i) => `t${i}`);
  expect(typeLook("t0", order)).toEqual({ colour: COLOURS[0], second: false });
  expect(typeLook(`t${COLOURS.length}`, order)).toEqual({ colour: COLOURS[0], second: true });
  expect(typeLook("other", order)).toEqual({ colour: INPUT, second: false });
});

import { beforeEach, expect, it, vi } from "vitest";
import { keepSizes, keptSizes } from "./sizes";

const kept = new Map<string, string>();
beforeEach(() => {
  kept.clear();
  vi.stubGlobal("localStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
  });
});

it("keeps sizes, and takes nothing that is not one", () => {
  const initial = { side: null as boolean | null, width: 220 };
  expect(keptSizes("run", initial)).toEqual(initial);
  keepSizes("run", { side: false, width: 300 });
  expect(keptSizes("run", initial)).toEqual({ side: false, width: 300 });
  kept.set("run", '{"width": "wide", "side": 7, "more": 1}');
  expect(keptSizes("run", initial)).toEqual(initial);
  kept.set("run", "nonsense");
  expect(keptSizes("run", initial)).toEqual(initial);
});

import { expect, it } from "vitest";
import { texts } from "./texts";
import { existing, numberOf, VIEW_NAMES, VIEWS, viewFor, viewNumbered } from "./views";

it("gives every view the number of its key, whichever views exist", () => {
  expect(VIEW_NAMES.map(numberOf)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(numberOf("Text")).toBe(1);
  expect(numberOf("Plan")).toBe(4);
  expect(numberOf("Run")).toBe(6);
  for (const { id } of VIEWS) expect(viewNumbered(numberOf(id))).toBe(id);
  for (const view of VIEW_NAMES) {
    const known = VIEWS.some((entry) => entry.id === view);
    expect(existing(view)).toBe(known ? view : "Text");
    expect(viewNumbered(numberOf(view))).toBe(known ? view : null);
  }
  expect(viewNumbered(7)).toBeNull();
  expect(viewNumbered(Number("s"))).toBeNull();
});

it("lists the views in the order of their numbers, each with a name", () => {
  const numbers = VIEWS.map(({ id }) => numberOf(id));
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  expect(new Set(numbers).size).toBe(numbers.length);
  for (const view of VIEW_NAMES) expect(texts.views[view]).toBe(view);
});

it("opens files as text unless a view says otherwise", () => {
  expect(viewFor("rules")).toBe("Text");
  expect(viewFor(undefined)).toBe("Text");
});

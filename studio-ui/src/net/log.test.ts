import { expect, it } from "vitest";
import type { NetFiring, NetState } from "../api/schema";
import { bindingText, enabledIn, gapBefore, logAfter, markingAfter } from "./log";

const state = (change: Partial<NetState>): NetState => ({
  steps: 0,
  row: 0,
  rows: 12,
  seed: null,
  changed: {},
  enabled: [],
  fired: [],
  more: 0,
  stopped: null,
  at: null,
  ...change,
});

const firing = (step: number): NetFiring => {
  return { step, transition: `t${step}`, binding: {}, row: null, derived: null };
};

it("adds firings to the log, and takes out what a step back has undone", () => {
  const log = logAfter([], state({ steps: 3, fired: [firing(1), firing(2), firing(3)] }));
  expect(log.map((one) => one.step)).toEqual([1, 2, 3]);
  expect(logAfter(log, state({ steps: 1 })).map((one) => one.step)).toEqual([1]);
  expect(logAfter(log, state({ steps: 0 }))).toEqual([]);
  const again = logAfter(logAfter(log, state({ steps: 1 })), state({ steps: 2, fired: [firing(2)] }));
  expect(again.map((one) => one.step)).toEqual([1, 2]);
});

it("knows of firings that a long run did not list", () => {
  const log = logAfter([firing(1)], state({ steps: 500, fired: [firing(499), firing(500)], more: 497 }));
  expect(log.map((one) => one.step)).toEqual([1, 499, 500]);
  expect([0, 1, 2].map((i) => gapBefore(log, i))).toEqual([0, 497, 0]);
});

it("keeps the tokens of places that have not changed", () => {
  const one = { count: 1, tokens: [{ value: "0", count: 1 }], more: 0 };
  const none = { count: 0, tokens: [], more: 0 };
  const before = { a: one, b: one };
  expect(markingAfter(before, state({ changed: { b: none } }))).toEqual({ a: one, b: none });
  expect(markingAfter(before, state({}))).toBe(before);
});

it("finds transitions that can fire by their names", () => {
  const choice = { transition: "t", bindings: [{ i: "1", r: "0" }], count: 1, more: false };
  expect(enabledIn(state({ enabled: [choice] }))).toEqual({ t: choice });
  expect(bindingText(choice.bindings[0] ?? {})).toBe("i = 1, r = 0");
});

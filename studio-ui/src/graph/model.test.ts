import { expect, it } from "vitest";
import type { Canvas } from "../api/types";
import { sides } from "./ConditionChoices";
import { asks, offer } from "./completing";
import { pasted, patternTexts, withTag } from "./epl";
import { declared } from "./known";
import { arranged, freePlace, layout, sizesOf } from "./layout";
import { conjuncts } from "./look";
import {
  added,
  cannotLink,
  freeId,
  hasOtherOperands,
  linked,
  made,
  newCanvas,
  nodeOf,
  operandsOf,
  renamedIds,
  sameDrawing,
  unlinked,
  withField,
  withNode,
  without,
  withPlaces,
  wrapped,
} from "./model";

/** every a1=A(x > 1) -> a2=A(x > a1.x), into Q */
function drawn(): Canvas {
  let canvas = newCanvas("Q");
  canvas = added(canvas, made(canvas, "FollowedBy"), "ComplexEvent");
  canvas = added(canvas, made(canvas, "Every"), "FollowedBy1");
  canvas = added(canvas, made(canvas, "Event", { typeName: "A", conditions: ["x > 1"] }), "Every1");
  return added(canvas, made(canvas, "Event", { typeName: "A", conditions: ["x > a1.x"] }), "FollowedBy1");
}

const orders = (canvas: Canvas, id: string) => operandsOf(canvas, id).map(({ from, order }) => [from, order]);

it("names new nodes by the first free tag and number", () => {
  const canvas = drawn();
  expect(canvas.nodes.map((one) => one.id)).toEqual(["ComplexEvent", "FollowedBy1", "Every1", "a1", "a2"]);
  expect(freeId(canvas, "Event")).toBe("a3");
  expect(freeId(canvas, "Every")).toBe("Every2");
  expect(freeId(without(canvas, new Set(["a1"]), true), "Event")).toBe("a1");
});

it("numbers operands 1..N, with a limit for each arrow", () => {
  let canvas = drawn();
  expect(orders(canvas, "FollowedBy1")).toEqual([
    ["Every1", 1],
    ["a2", 2],
  ]);
  expect(nodeOf(canvas, "FollowedBy1")?.fields.limits).toEqual([null]);
  canvas = added(canvas, made(canvas, "Event"), "FollowedBy1", 1);
  expect(orders(canvas, "FollowedBy1")).toEqual([
    ["a3", 1],
    ["Every1", 2],
    ["a2", 3],
  ]);
  expect(nodeOf(canvas, "FollowedBy1")?.fields.limits).toEqual([null, null]);
  canvas = linked(canvas, "a2", "FollowedBy1", 1);
  expect(orders(canvas, "FollowedBy1")[0]).toEqual(["a2", 1]);
  canvas = unlinked(canvas, "a3");
  expect(orders(canvas, "FollowedBy1")).toEqual([
    ["a2", 1],
    ["Every1", 2],
  ]);
});

it("moves an operand that is linked elsewhere, and refuses circles", () => {
  const canvas = linked(drawn(), "a2", "Every1");
  expect(orders(canvas, "FollowedBy1")).toEqual([["Every1", 1]]);
  expect(orders(canvas, "Every1").length).toBe(2);
  expect(cannotLink(canvas, "FollowedBy1", "Every1")).toBe("circle");
  expect(cannotLink(canvas, "Every1", "Every1")).toBe("itself");
  expect(cannotLink(canvas, "Every1", "a1")).toBe("no-operands");
  expect(linked(canvas, "FollowedBy1", "Every1")).toBe(canvas);
});

it("puts a node around another one, in its place", () => {
  const canvas = wrapped(drawn(), "a2", made(drawn(), "Every"));
  expect(orders(canvas, "FollowedBy1")).toEqual([
    ["Every1", 1],
    ["Every2", 2],
  ]);
  expect(orders(canvas, "Every2")).toEqual([["a2", 1]]);
});

it("deletes nodes with their operands or without", () => {
  const canvas = drawn();
  expect(hasOtherOperands(canvas, new Set(["Every1"]))).toBe(true);
  expect(hasOtherOperands(canvas, new Set(["Every1", "a1"]))).toBe(false);
  expect(orders(without(canvas, new Set(["Every1"]), true), "FollowedBy1")).toEqual([
    ["a1", 1],
    ["a2", 2],
  ]);
  const all = without(canvas, new Set(["Every1"]), false);
  expect(all.nodes.map((one) => one.id)).toEqual(["ComplexEvent", "FollowedBy1", "a2"]);
  expect(orders(all, "FollowedBy1")).toEqual([["a2", 1]]);
});

it("keeps ids, tags and what speaks of them together", () => {
  const canvas = withField(drawn(), "ComplexEvent", "columns", [{ name: "x", value: "a1.x" }]);
  const tagged = withTag(canvas, "a1", "first");
  expect(nodeOf(tagged, "a2")?.fields.conditions).toEqual(["x > first.x"]);
  expect(nodeOf(tagged, "ComplexEvent")?.fields.columns).toEqual([{ name: "x", value: "first.x" }]);
  const renamed = renamedIds(tagged, { a1: "first" });
  expect(renamed.links.some((link) => link.from === "first")).toBe(true);
  expect(sameDrawing(renamed, withPlaces(renamed, { first: [1, 2] }))).toBe(true);
  expect(sameDrawing(renamed, tagged)).toBe(false);
});

it("copies parts as EPL, and takes in others under free ids and tags", () => {
  const canvas = drawn();
  expect(patternTexts(canvas, new Set(["FollowedBy1", "Every1", "a1", "a2"]))).toEqual([
    "((every a1=A(x > 1)) -> a2=A(x > a1.x))",
  ]);
  expect(patternTexts(canvas, new Set(["Every1", "a1", "a2"]))).toEqual([
    "(every a1=A(x > 1))",
    "a2=A(x > a1.x)",
  ]);
  const { canvas: next, ids } = pasted(canvas, [drawn()]);
  expect(ids).toEqual(["FollowedBy2", "Every2", "a3", "a4"]);
  expect(nodeOf(next, "a4")?.fields).toMatchObject({ tag: "a4", conditions: ["x > a3.x"] });
  expect(orders(next, "FollowedBy2")).toEqual([
    ["Every2", 1],
    ["a4", 2],
  ]);
});

it("lays operands out left of their operators, in their order, none over another", () => {
  const canvas = drawn();
  const sizes = sizesOf(canvas);
  const places = arranged(canvas, sizes);
  const at = (id: string) => places[id] ?? [0, 0];
  expect(at("a1")[0]).toBeLessThan(at("Every1")[0]);
  expect(at("Every1")[0]).toBeLessThan(at("FollowedBy1")[0]);
  expect(at("FollowedBy1")[0]).toBeLessThan(at("ComplexEvent")[0]);
  expect(at("Every1")[1]).toBeLessThan(at("a2")[1]);
  expect(Object.values(places).flat().every(Number.isInteger)).toBe(true);
  // a new node stands beside those that keep their places
  const kept = withPlaces(canvas, places);
  const more = withNode(kept, made(kept, "Not"));
  const now = layout(more);
  for (const one of canvas.nodes) expect(now[one.id]).toEqual(places[one.id]);
  expect(now.Not1).toBeDefined();
  expect(freePlace([0, 0], { width: 10, height: 10 }, [{ x: 0, y: 0, width: 10, height: 10 }])).toEqual([
    0, 30,
  ]);
});

it("shows a conjunction as its parts", () => {
  expect(conjuncts("a.x = 'this and that' and (b.x = 1 and b.y = 2)\n  and c.z > 1")).toEqual([
    "a.x = 'this and that'",
    "and (b.x = 1 and b.y = 2)",
    "and c.z > 1",
  ]);
  expect(conjuncts("x between 1 and 2 and y > 1")).toEqual(["x between 1 and 2", "and y > 1"]);
  expect(conjuncts("")).toEqual([""]);
});

it("takes a comparison apart for choices, and nothing else", () => {
  expect(sides("a1.x <= b.y + 2")).toEqual({ left: "a1.x", sign: "<=", right: "b.y + 2" });
  expect(sides("a1.x >")).toEqual({ left: "a1.x", sign: ">", right: "" });
  expect(sides("x = 'a and b'")).toEqual({ left: "x", sign: "=", right: "'a and b'" });
  expect(sides("x > 1 and y > 1")).toBeNull();
  expect(sides("")).toEqual({ left: "", sign: "", right: "" });
});

it("reads the attributes of a declaration", () => {
  expect(declared("create schema A(x int, /* , */ `end` string)")).toEqual({
    name: "A",
    attributes: [
      { name: "x", type: "int" },
      { name: "end", type: "string" },
    ],
  });
  expect(declared("create schema Empty()")).toEqual({ name: "Empty", attributes: [] });
  expect(declared("insert into X select a.x as x from pattern [a=A]")).toBeNull();
});

it("offers the names that fit the word at the cursor", () => {
  const names = ["a1.x", "a1.y", "a2.x", "x"];
  expect(offer(names, "x > a1.", 7, false)).toEqual({ from: 4, names: ["a1.x", "a1.y"] });
  expect(offer(names, "x > a1.x", 8, false)).toBeNull();
  expect(offer(names, "x > ", 4, false)).toBeNull();
  expect(offer(names, "x > ", 4, true)?.names).toEqual(names);
  expect(offer(names, "x = 'a1.", 8, false)).toBeNull();
  expect(asks(".", "a1.", 3)).toBe(true);
  expect(asks("b", "ab", 2)).toBe(true);
  expect(asks("a", "x > a", 5)).toBe(false);
  expect(asks("Backspace", "ab", 2)).toBe(false);
});

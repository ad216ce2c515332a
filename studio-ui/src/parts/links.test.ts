import { expect, it } from "vitest";
import { linksOf, pieces } from "./links";

it("finds addresses and code", () => {
  expect(pieces("use `a -> b`, see https://a.org/x.html#y.")).toEqual([
    { kind: "text", text: "use " },
    { kind: "code", text: "a -> b" },
    { kind: "text", text: ", see " },
    { kind: "link", text: "https://a.org/x.html#y" },
    { kind: "text", text: "." },
  ]);
  expect(pieces("javascript:alert(1) a ` b")).toEqual([{ kind: "text", text: "javascript:alert(1) a ` b" }]);
  expect(pieces("")).toEqual([]);
});

it("the addresses of a text", () => {
  expect(linksOf("see https://a.b/c and `https://d.e`, http://f.g.")).toHaveLength(2);
  expect(linksOf("none")).toEqual([]);
});

import { expect, it } from "vitest";
import { freeName, nameProblem, namesFor, type Offered, refusal, sizeText } from "./copies";

const offered = (name: string, size = 3, folder = false): Offered => {
  const file = new File(["abc"], name);
  Object.defineProperty(file, "size", { value: size });
  return { file, folder };
};

it("finds names that no file has", () => {
  expect(freeName("rows.csv", new Set())).toBe("rows.csv");
  expect(freeName("rows.csv", new Set(["rows.csv", "rows-2.csv"]))).toBe("rows-3.csv");
  expect(freeName(".hidden.csv", new Set())).toBe("hidden.csv");
  expect(namesFor([offered("a.csv"), offered("a.csv")], ["a.csv"])).toEqual(["a-2.csv", "a-3.csv"]);
});

it("says why a file cannot be copied", () => {
  expect(refusal(offered("a.CSV"), 10)).toBeNull();
  expect(refusal(offered("a.parquet"), 10)).toBeNull();
  expect(refusal(offered("a.xlsx"), 10)).toContain(".parquet");
  expect(refusal(offered("a.csv", 20 << 20), 16 << 20)).toContain("20 MB; the studio copies at most 16 MB");
  expect(refusal(offered("events", 0, true), 10)).toContain("folder");
});

it("says what is wrong with a name", () => {
  const known = new Set(["a.csv"]);
  expect(nameProblem("b.csv", [], known)).toBeNull();
  expect(nameProblem("a.csv", [], known)).toContain("exists");
  expect(nameProblem("b.csv", ["b.csv"], known)).toContain("Two files");
  expect(nameProblem("", [], known)).toContain("name");
  expect(nameProblem("b.txt", [], known)).toContain("suffixes");
});

it("writes sizes in units that people read", () => {
  expect([12, 1536, 2 << 20, 3 * 2 ** 30].map(sizeText)).toEqual(["12 bytes", "1.5 KB", "2 MB", "3 GB"]);
});

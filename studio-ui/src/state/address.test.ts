import { expect, it } from "vitest";
import { formatAddress, parseAddress } from "./address";
import { matches } from "./matching";

it("reads and writes addresses, also of paths with slashes", () => {
  const cases = [
    { path: "labor.epl", view: "Text", statement: "Duration" },
    { path: "a/b c/ä#.epl", view: "Plan", statement: null },
    { path: "run/text/x.epl", view: "Run", statement: "a/b" },
    { path: null, view: "Run", statement: null },
    { path: "rows.csv", view: null, statement: null },
  ] as const;
  for (const one of cases) expect(parseAddress(formatAddress(one))).toEqual(one);
  expect(parseAddress("#/labor.epl/TEXT")).toEqual({ path: "labor.epl", view: "Text", statement: null });
  expect(parseAddress("")).toEqual({ path: null, view: null, statement: null });
  expect(parseAddress("#/%E0%A4%A")).toEqual({ path: "%E0%A4%A", view: null, statement: null });
});

it("finds names by their letters, the best first", () => {
  const items = ["Arrival.csv", "labor.epl", "Late", "WeatherAlert"].map((name) => ({ name }));
  expect(matches(items, "la").map((one) => one.name)).toEqual(["labor.epl", "Late"]);
  expect(matches(items, "wal").map((one) => one.name)).toEqual(["WeatherAlert"]);
  expect(matches(items, "")).toHaveLength(4);
});

import { expect, it } from "vitest";
import type { OptionInfo } from "../api/types";
import { countSet, fieldText, fieldValue, groupedOptions, titleOf } from "./options";

const option = (name: string, kind: OptionInfo["kind"], of: OptionInfo["of"] = "input"): OptionInfo => {
  return { name, kind, of, choices: [], default: null, none: false, help: "" };
};

it("shows the common options first, all others in groups, and none is lost", () => {
  const infos = [
    option("type", "text"),
    option("start", "moment"),
    option("time_unit", "choice"),
    option("strict", "flag", "rules"),
    option("new_one", "text", null),
  ];
  const { common, groups } = groupedOptions(infos);
  expect(common.map((one) => one.name)).toEqual(["time_unit", "start"]);
  expect(groups.map(({ of, options }) => [of, options.map((one) => one.name)])).toEqual([
    ["input", ["type"]],
    ["rules", ["strict"]],
    ["run", ["new_one"]],
  ]);
  expect(countSet(infos, { strict: true, start: 3 })).toBe(2);
});

it("reads values of each kind from the text of a field, and writes them back", () => {
  const cases: [OptionInfo["kind"], string, unknown][] = [
    ["text", "2024", "2024"],
    ["moment", "2024", 2024],
    ["moment", "2024-01-01", "2024-01-01"],
    ["moment", "2 h", "2 h"],
    ["number", "100", 100],
    ["names", "A, B", ["A", "B"]],
    ["paths", "zone=zones.csv, ship=s.csv", { zone: "zones.csv", ship: "s.csv" }],
    ["flag", "true", true],
    ["flag", "false", false],
  ];
  for (const [kind, text, value] of cases) {
    const found = fieldValue(option("x", kind), text);
    expect(found).toEqual({ value });
    expect(fieldText(found?.value)).toBe(text);
  }
  expect(fieldValue(option("x", "moment"), "  ")).toEqual({ value: undefined });
  expect(fieldValue(option("delimiter", "text", "text"), " ")).toEqual({ value: " " });
});

it("refuses texts without meaning", () => {
  expect(fieldValue(option("max_instances", "number"), "many")).toBeNull();
  expect(fieldValue(option("facts", "paths"), "zones.csv")).toBeNull();
  expect(fieldValue(option("facts", "paths"), "zone=")).toBeNull();
});

it("writes names as people read them", () => {
  expect(titleOf("require_bounds")).toBe("Require bounds");
});

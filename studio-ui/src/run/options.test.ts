import { expect, it } from "vitest";
import type { OptionInfo } from "../api/types";
import { texts } from "../texts";
import {
  countSet,
  fieldText,
  fieldValue,
  firstWrong,
  groupedOptions,
  momentOf,
  problemOf,
  titleOf,
} from "./options";

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

it("reads times as the program does: without a zone in UTC", () => {
  const at = Date.UTC(2024, 0, 5, 9);
  for (const text of [
    "2024-01-05T09:00:00Z",
    "2024-01-05 09:00",
    "2024-01-05 10:00:00,000 +0100",
    "2024-01-05T06:30-02:30",
  ])
    expect([text, momentOf(text)]).toEqual([text, at]);
  expect(momentOf("2024-01-05")).toBe(Date.UTC(2024, 0, 5));
  for (const text of ["yesterday", "2024", "2024-13-01", "5 Jan 2024", "2024-01-05T25:00"])
    expect([text, momentOf(text)]).toEqual([text, null]);
});

it("says what is wrong with a time, in the unit of the times", () => {
  const wrong = (name: string, text: string, options = {}) =>
    problemOf(option(name, name === "zone" ? "text" : "moment"), text, options);
  const t = texts.run.option;
  expect(wrong("until", "yesterday")).toBe(t.wrongTime);
  expect(wrong("until", "2024-01-05")).toBeNull();
  expect(wrong("until", "26")).toBeNull();
  expect(wrong("until", "2024-01-05", { time_unit: "min" })).toBe(t.wrongTick);
  expect(wrong("until", "26", { time_unit: "min", start: 30 })).toBe(t.wrongUntil);
  expect(wrong("until", "2024-01-05", { start: "2024-01-06" })).toBe(t.wrongUntil);
  expect(wrong("until", "2024-01-06", { start: "2024-01-06" })).toBeNull();
  expect(wrong("window", "2 h")).toBeNull();
  expect(wrong("window", "long")).toBe(t.wrongDuration);
  expect(wrong("zone", "Mars/X")).toBe(t.wrongZone);
  expect(wrong("zone", "Europe/Rome")).toBeNull();
});

it("finds the first wrong option, typed or kept", () => {
  const infos = [option("start", "moment"), option("until", "moment"), option("strict", "flag")];
  const wrong = texts.run.option.wrongTime;
  expect(firstWrong(infos, { until: "never", strict: true }, {})).toEqual({ name: "until", text: wrong });
  expect(firstWrong(infos, { until: "never" }, { until: "2024-01-05" })).toBeNull();
  expect(firstWrong(infos, {}, { start: "soon", until: "never" })).toEqual({ name: "start", text: wrong });
});

it("writes names as people read them", () => {
  expect(titleOf("require_bounds")).toBe("Require bounds");
});

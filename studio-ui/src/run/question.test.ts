import { expect, it } from "vitest";
import type { WhyNode } from "../api/schema";
import type { Problem } from "../api/types";
import {
  byField,
  checksByLabel,
  laneValues,
  markedClauses,
  rangeTexts,
  requestOf,
  timesIn,
  timeText,
} from "./question";
import { Clock } from "./time";

const NINE = 1_704_445_200_000_000n;
const stamped = new Clock({ timestamp: true, unit: "us" }, NINE);
const minutes = new Clock({ timestamp: false, unit: "min" }, 10n);

it("writes times as they are typed: ISO 8601 in UTC, or whole numbers", () => {
  expect(timeText(stamped, String(NINE))).toBe("2024-01-05T09:00:00Z");
  expect(timeText(stamped, String(NINE + 1n))).toBe("2024-01-05T09:00:00.000001Z");
  expect(timeText(stamped, String(NINE + 250_000n))).toBe("2024-01-05T09:00:00.25Z");
  expect(timeText(stamped, -1)).toBe("1969-12-31T23:59:59.999999Z");
  expect(timeText(stamped, "9223372036854775806")).toBe("9223372036854775806"); // no calendar reaches there
  expect(timeText(minutes, 1234567)).toBe("1234567");
});

it("rounds a range inwards to what people read, and never to nothing", () => {
  const minute = 60e6;
  expect(rangeTexts(stamped, { from: 0.4 * minute, to: 10.9 * minute })).toEqual({
    from: "2024-01-05T09:01:00Z",
    to: "2024-01-05T09:10:00Z",
  });
  expect(rangeTexts(stamped, { from: 1_500_000, to: 9_900_000 })).toEqual({
    from: "2024-01-05T09:00:02Z",
    to: "2024-01-05T09:00:09Z",
  });
  expect(rangeTexts(stamped, { from: 3, to: 5 }).from).toBe("2024-01-05T09:00:00.000003Z");
  expect(rangeTexts(minutes, { from: 0.2, to: 3.9 })).toEqual({ from: "11", to: "13" });
  expect(rangeTexts(minutes, { from: 0.2, to: 0.4 })).toEqual({ from: "11", to: "11" });
});

it("takes the value of a lane as the value of its attribute", () => {
  const found = [{ type: "Fire", count: 1, attributes: ["Area", "Value"], lasting: false }];
  expect(laneValues({ name: "hall", type: "Fire" }, "area", found)).toEqual({ Area: "hall" });
  expect(laneValues({ name: "null", type: "Fire" }, "Area", found)).toEqual({ Area: null });
  expect(laneValues({ name: "Fire", type: "Fire" }, "", found)).toEqual({});
  expect(laneValues({ name: "no Area", type: "Other" }, "Area", found)).toEqual({});
});

it("asks for nothing where a field is empty", () => {
  const question = {
    job: "1",
    type: "Fire",
    where: { Area: "hall", Value: "", Room: null },
    from: " ",
    to: "9 ",
  };
  expect(requestOf(question, { edits: 2, limit: 10, variants: 2000 })).toEqual({
    type: "Fire",
    where: { Area: "hall", Room: null },
    from: null,
    to: "9",
    edits: 2,
    limit: 10,
    variants: 2000,
  });
});

it("says what is wrong at its field, and the rest by itself", () => {
  const problem = (
    node: string | null,
    message: string,
    severity: Problem["severity"] = "error",
  ): Problem => ({
    kind: "bad",
    severity,
    message,
    hint: null,
    file: null,
    span: null,
    related: [],
    node,
    row: null,
    definition: null,
  });
  const { fields, rest } = byField([
    problem("where.Value", "first"),
    problem("where.Value", "second"),
    problem("from", "when"),
    problem("elsewhere", "what"),
    problem(null, "all"),
    problem(null, "only a warning", "warning"),
  ]);
  expect(fields).toEqual({ "where.Value": "first", from: "when" });
  expect(rest.map(({ message }) => message)).toEqual(["what", "all"]);
});

const node = (number: number, parent: number | null, kind: string, more: Partial<WhyNode> = {}): WhyNode => ({
  node: number,
  parent,
  kind,
  role: null,
  type: "A",
  time: null,
  ticks: null,
  end: null,
  end_ticks: null,
  label: null,
  values: {},
  clause: null,
  found: null,
  needed: null,
  message: `m${number}`,
  definition: null,
  file: null,
  span: null,
  ...more,
});

it("gives each row its own checks, and an aggregate its rows", () => {
  const nodes = [
    node(1, null, "detection", { label: "top" }),
    node(2, 1, "detection", { label: "inner" }),
    node(3, 2, "clause", { label: "row of the clause" }),
    node(4, 1, "clause"),
    node(5, 1, "aggregate"),
    node(6, 5, "event"),
    node(7, 5, "event"),
    node(8, 1, "detection", { label: "inner" }),
    node(9, 8, "clause", { message: "m3" }),
  ];
  const checks = checksByLabel(nodes);
  const shown = [...checks].map(([label, list]) => [
    label,
    list.map(({ node, parts }) => [node.node, parts.map((part) => part.node)]),
  ]);
  expect(shown).toEqual([
    ["inner", [[3, []]]],
    [
      "top",
      [
        [4, []],
        [5, [6, 7]],
      ],
    ],
  ]);
});

it("marks clauses that stand in a text", () => {
  const span = { line: 3, column: 29, end_line: 3, end_column: 39 };
  const clauses = [node(1, null, "threshold", { file: "a.tesla", span }), node(2, null, "pending")];
  expect(markedClauses(clauses)).toEqual([{ file: "a.tesla", span, message: "m1" }]);
});

it("shows times of sentences in the zone of the project, but none in texts", () => {
  const sentence =
    'Rain at 2024-01-05T09:02:00Z is not "2024-01-05T09:02:00Z", from 2024-01-04T09:00:00.000001Z';
  expect(timesIn(sentence, stamped, String(NINE))).toBe(
    'Rain at 09:02:00 is not "2024-01-05T09:02:00Z", from 2024-01-04 09:00:00.000001',
  );
  const berlin = new Clock({ timestamp: true, unit: "us" }, NINE, "Europe/Berlin");
  expect(timesIn("at 2024-01-05T09:02:00Z", berlin, String(NINE))).toBe("at 10:02:00");
  expect(timesIn("at 12", minutes, 10)).toBe("at 12");
});

import { expect, test } from "vitest";
import { differs } from "./changed";
import { entriesOf, entryFor, eventPaths, parseEntry, withEntry, withEvents, withOption } from "./events";
import { attributesOf, inOrder, rowsOf, valueText } from "./rows";

test("rows have what every row has, and attributes, which may be called the same", () => {
  const names = ["row", "type", "time", "ticks", "end", "end_ticks", "open", "label", "Origin", "row"];
  const answer = {
    columns: names.map((name) => ({ name, type: "string" })),
    rows: [[7, "Late", "2013", 5, null, null, false, "ab", null, 9]],
    total: 1,
  };
  const [row] = rowsOf(answer);
  expect(row).toMatchObject({ row: 7, type: "Late", ticks: 5, open: false, label: "ab" });
  expect(row?.values).toEqual({ row: 9 });
  expect(attributesOf(answer).map((column) => column.name)).toEqual(["Origin", "row"]);
  expect(attributesOf({ ...answer, columns: answer.columns.slice(0, 8) })).toEqual([]);
});

test("numbers are in groups, identities and texts are not, long texts are cut", () => {
  expect(valueText(1234567, "delay")).toBe("1\u202f234\u202f567");
  expect(valueText(227000005, "vessel")).toBe("227000005");
  expect(valueText(1234567, "vesselId")).toBe("1234567");
  expect(valueText("1234567")).toBe("1234567");
  expect(valueText([1, { a: 2 }])).toBe('[1,{"a":2}]');
  expect(valueText("x".repeat(3000)).length).toBe(2001);
});

const file = (path: string, kind: "event" | "rules" = "event") => {
  return { path, kind, language: null, size: 1, etag: "", in_program: true, writable: true };
};

test("events are chosen as on the command line", () => {
  expect(parseEntry("A=x/y.csv")).toEqual({ type: "A", path: "x/y.csv" });
  const project = { version: 1, program: { events: ["A=a.csv", "b.csv"] }, icons: {} };
  const entries = entriesOf({ project, files: [file("c.csv")], events: null, check: { outline: [] } });
  const changed = (path: string, type: string, chosen: boolean) =>
    withEvents(project, withEntry(entries, { type, path }, chosen)).program?.events;
  expect(changed("c.csv", "", true)).toEqual(["A=a.csv", "b.csv", "c.csv"]);
  expect(changed("a.csv", "", false)).toEqual(["b.csv"]);
  expect(changed("b.csv", "T", true)).toEqual(["A=a.csv", "T=b.csv"]);
  expect(withEvents(project, []).icons).toEqual({});
});

test("without a choice all events beside the rules are chosen, with an empty one none", () => {
  const outline = [{ file: "r", name: "X", kind: "rule", output: "X", reads: ["B"], span: null }];
  const files = [file("a.csv"), file("B.csv"), file("below/c.csv"), file("r.epl", "rules")];
  const given = { project: {}, files, events: null, check: { outline } };
  expect(entriesOf(given)).toEqual([
    { path: "a.csv", type: "" },
    { path: "B.csv", type: "B" },
  ]);
  expect(entriesOf({ ...given, project: { program: { events: [] } } })).toEqual([]);
});

test("the server says what is read by default, and how a file is named", () => {
  const events = [
    { path: "Late.csv", entry: "Late=Late.csv", directory: false, default: true },
    { path: "more", entry: "more", directory: true, default: false },
    { path: "more/x.csv", entry: "more/x.csv", directory: false, default: false },
  ];
  const given = { project: {}, files: [], events, check: { outline: [] } };
  expect(entriesOf(given)).toEqual([{ type: "Late", path: "Late.csv" }]);
  expect(eventPaths(given)).toEqual(["Late.csv", "more", "more/x.csv"]);
  expect(entryFor("more", given)).toEqual({ type: "", path: "more" });
  expect(entryFor("new.csv", given)).toEqual({ type: "", path: "new.csv" });
  expect(entriesOf({ ...given, project: { program: { events: ["more"] } } })).toEqual([
    { type: "", path: "more" },
  ]);
});

test("an option is set, and left out where it is the default", () => {
  const project = withOption({ program: { options: { zone: "UTC" } } }, "start", 12);
  expect(project.program?.options).toEqual({ zone: "UTC", start: 12 });
  expect(withOption(project, "end", null).program?.options).toEqual({ zone: "UTC", start: 12, end: null });
  expect(withOption(project, "zone", undefined).program?.options).toEqual({ start: 12 });
});

test("the text differs from the one that was run", () => {
  const then = { "a.epl": { text: null, etag: "1" }, "b.epl": { text: "x", etag: "2" } };
  expect(differs(then, then)).toBe(false);
  // opened since, saved since with the text that was run
  expect(differs(then, { "a.epl": { text: "aa", etag: "1" }, "b.epl": { text: "x", etag: "3" } })).toBe(
    false,
  );
  expect(
    differs(then, { "a.epl": { text: "ab", etag: "1", dirty: true }, "b.epl": { text: "x", etag: "2" } }),
  ).toBe(true);
  expect(differs(then, { "a.epl": { text: null, etag: "1" } })).toBe(true);
});

test("a long value is cut where it has little room, between characters, and whole where it is asked for", () => {
  const long = "a".repeat(3000);
  expect(valueText(long)).toHaveLength(2001);
  expect(valueText(long, "", Infinity)).toBe(long);
  expect(valueText("aa😀bb", "", 3)).toBe("aa…");
  expect(valueText("aa😀bb", "", 4)).toBe("aa😀…");
});

test("values stand in the order of their type", () => {
  const values = { Tail: "N1", Flight: "EV1", Delay: 3 };
  expect(inOrder(values, ["Flight", "Tail", "Origin"])).toEqual([
    ["Flight", "EV1"],
    ["Tail", "N1"],
    ["Delay", 3],
  ]);
});

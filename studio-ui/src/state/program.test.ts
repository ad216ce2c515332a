import { expect, it } from "vitest";
import type { FileEntry, Project } from "../api/types";
import { rulesOf, withoutFile, withRule } from "./program";

const file = (path: string, kind: FileEntry["kind"] = "rules"): FileEntry => ({
  path,
  kind,
  language: null,
  size: 1,
  etag: "",
  in_program: false,
  writable: true,
});
const files = [file("a.epl"), file("b.tesla"), file("sub/c.epl"), file("rows.csv", "event")];

it("takes the rules that the project lists, or all of the directory itself", () => {
  expect(rulesOf({}, files)).toEqual(["a.epl", "b.tesla"]);
  expect(rulesOf({ program: { rules: [] } }, files)).toEqual([]);
  expect(rulesOf({ program: { rules: ["sub/c.epl"] } }, files)).toEqual(["sub/c.epl"]);
});

it("puts a file into the program and takes it out, and keeps the rest of the project", () => {
  const project: Project = { version: 1, program: { rules: ["b.tesla"], events: ["rows.csv"] }, mine: 5 };
  const more = withRule(project, files, "a.epl", true);
  expect(more).toEqual({
    version: 1,
    program: { rules: ["b.tesla", "a.epl"], events: ["rows.csv"] },
    mine: 5,
  });
  expect(withRule(more, files, "b.tesla", false).program?.rules).toEqual(["a.epl"]);
  expect(withRule(more, files, "a.epl", true)).toBe(more);
});

it("lists the rules as soon as the program is not the default", () => {
  expect(withRule({}, files, "sub/c.epl", true)).toEqual({
    version: 1,
    program: { rules: ["a.epl", "b.tesla", "sub/c.epl"] },
  });
  expect(withRule({}, files, "a.epl", false).program?.rules).toEqual(["b.tesla"]);
  expect(withRule({}, files, "a.epl", true)).toEqual({});
});

it("forgets a file that was removed", () => {
  const project: Project = { version: 1, program: { rules: ["a.epl"], events: ["T=rows.csv", "more.csv"] } };
  expect(withoutFile(project, "rows.csv").program?.events).toEqual(["more.csv"]);
  expect(withoutFile(project, "a.epl").program?.rules).toEqual([]);
  expect(withoutFile(project, "other.csv")).toBe(project);
});

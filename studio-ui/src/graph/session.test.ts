import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Canvas, Edit } from "../api/types";
import { openFile, replaceText, type Step, setEditor, stepDone, textOf } from "../state/actions";
import { loadProject } from "../state/project";
import { type Buffer, get, set } from "../state/store";
import type { Unsaved } from "../state/unsaved";
import { newCanvas, withHead } from "./model";
import { begin, edit } from "./session";
import { getGraph, setGraph } from "./state";

/** A text is the condition of its only statement, and all that is drawn. */
const drawn = (where: string): Canvas => withHead(newCanvas("Q"), { where });
const statement = (where: string) => ({ id: "Q", kind: "pattern", text: where, canvas: drawn(where) });

/** `studio.json`: its number of changes is its ETag. */
let disk: Record<string, unknown> = {};
let changes = 0;
/** How calls fail, by the beginnings of their addresses: a status, or 0: there is no server. */
let fails: Record<string, number> = {};
let asked: string[] = [];

const refused = (status: number) =>
  new Response(JSON.stringify({ error: { kind: "kind", message: "refused", hint: null, problems: [] } }), {
    status,
  });

/** What the browser keeps. */
let browser: Unsaved[] = [];
const others = (project: string, path: string) =>
  browser.filter((one) => one.project !== project || one.path !== path);

vi.mock("../state/unsaved", () => ({
  keep: async (one: Unsaved) => {
    browser = [...others(one.project, one.path), one];
  },
  forget: async (project: string, path: string) => {
    browser = others(project, path);
  },
  kept: async (project: string) => browser.filter((one) => one.project === project),
}));
vi.stubGlobal("requestAnimationFrame", (call: () => void) => call());
vi.stubGlobal("fetch", async (address: string, init: RequestInit) => {
  const call = address.replace("./api/v1/", "");
  asked.push(`${init.method} ${call}`);
  await new Promise((go) => setTimeout(go, 1));
  const fault = fails[`${init.method} ${call}`] ?? fails[call] ?? fails[""];
  if (fault === 0) throw new TypeError("no server");
  if (fault) return refused(fault);
  if (call === "project") {
    if (init.method === "PUT") {
      if (new Headers(init.headers).get("If-Match") !== String(changes)) return refused(412);
      disk = JSON.parse(String(init.body));
      changes += 1;
    }
    return new Response(JSON.stringify(disk), { headers: { ETag: String(changes) } });
  }
  const { text, canvas } = JSON.parse(String(init.body));
  if (call === "epl/graph")
    return new Response(JSON.stringify({ statements: [statement(text)], problems: [] }));
  const where = canvas.head.where;
  const wrong = where === "wrong";
  const problem = { kind: "unknown-tag", severity: "error", message: "wrong", hint: null };
  return new Response(
    JSON.stringify({
      text: wrong ? null : where,
      edits: wrong ? [] : [{ from: 0, to: text.length, insert: where }],
      statement: wrong ? null : "Q",
      statements: [statement(where)],
      problems: wrong ? [problem] : [],
      renamed: {},
    }),
  );
});

const buffer = (path: string): Buffer => ({
  path,
  text: "x > 1",
  saved: "x > 1",
  etag: "1",
  dirty: false,
  writable: true,
  error: null,
  trouble: null,
  epoch: 0,
});

/** The editor as far as drawings need it: it changes only the file that is shown. */
function change(path: string, edits: readonly Edit[], step: Step | null): boolean {
  if (path !== get().active) return false;
  for (const { from, to, insert } of edits) {
    const text = textOf(path);
    replaceText(path, text.slice(0, from) + insert + text.slice(to));
  }
  if (step) stepDone(step);
  return true;
}

const setWhere = (where: string) => edit((canvas) => withHead(canvas, { where }));
const draft = () => getGraph().drafts["a.epl"]?.Q?.head.where;
const draftOnDisk = () =>
  (disk as { drafts?: Record<string, Record<string, { canvas: Canvas }>> }).drafts?.["a.epl"]?.Q?.canvas.head
    .where;
const reconnect = async () => {
  set({ connection: "connected" });
  await loadProject();
};
const later = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(async () => {
  vi.useFakeTimers();
  disk = {};
  fails = {};
  changes += 1;
  setEditor({ change, prepare() {} } as never);
  setGraph({ path: null, text: null, drafts: {}, layout: {}, statements: [], chosen: null });
  set({
    buffers: { "a.epl": buffer("a.epl"), "b.epl": buffer("b.epl") },
    active: "a.epl",
    view: "Graph",
    connection: "connected",
    notices: [],
    project: {},
    projectEtag: String(changes),
    projectWrong: null,
    statement: null,
  });
  begin();
  await later(3000);
  asked = [];
  expect(getGraph().canvas?.head.where).toBe("x > 1");
});

afterEach(async () => {
  await later(20_000);
  vi.useRealTimers();
});

it("makes an edit before another file is shown", async () => {
  setWhere("x > 2");
  const opening = openFile("b.epl", "Graph");
  await later(100);
  await opening;
  expect(get().active).toBe("b.epl");
  expect(textOf("a.epl")).toBe("x > 2");
  expect(textOf("b.epl")).toBe("x > 1");
  expect(get().notices).toEqual([]);
});

it("keeps an edit made without a server, and makes it when there is one", async () => {
  fails = { "": 0 };
  set({ connection: "lost" });
  setWhere("x > 2");
  await later(5000);
  expect(draft()).toBe("x > 2");
  fails = {};
  const back = reconnect();
  await later(5000);
  await back;
  expect(textOf("a.epl")).toBe("x > 2");
  expect(draft()).toBeUndefined();
  expect(draftOnDisk()).toBeUndefined();
  expect(getGraph().canvas?.head.where).toBe("x > 2");
  expect(get().notices).toEqual([]);
});

it("writes a wrong drawing made without a server when there is one", async () => {
  fails = { "": 0 };
  set({ connection: "lost" });
  setWhere("wrong");
  await later(5000);
  fails = {};
  const back = reconnect();
  await later(5000);
  await back;
  expect(draft()).toBe("wrong");
  expect(draftOnDisk()).toBe("wrong");
  expect(textOf("a.epl")).toBe("x > 1");
});

it("asks little without a server after text and drawing were edited", async () => {
  fails = { "": 0 };
  set({ connection: "lost" });
  replaceText("a.epl", "x > 5");
  setWhere("x > 2");
  await later(10_000);
  expect(asked.filter((one) => one.includes("epl/")).length).toBeLessThan(6);
  expect(draft()).toBe("x > 2");
  fails = {};
  const back = reconnect();
  await later(5000);
  await back;
  // the text says something else now: the drawing stays beside it
  expect(textOf("a.epl")).toBe("x > 5");
  expect(draft()).toBe("x > 2");
});

it.each([503, 409])("makes all edits when a worker that has ended is back (%i)", async (status) => {
  fails = { "epl/graph": status, "epl/canvas": status };
  setWhere("x > 2");
  edit((canvas) => withHead(canvas, { description: "why" }));
  await later(3000);
  expect(draft()).toBe("x > 2");
  expect(textOf("a.epl")).toBe("x > 1");
  fails = {};
  await later(20_000);
  expect(textOf("a.epl")).toBe("x > 2");
  expect(draft()).toBeUndefined();
  expect(get().notices).toEqual([]);
});

it("leaves a worker alone that ends with each drawing", async () => {
  fails = { "epl/canvas": 503 };
  setWhere("x > 2");
  await later(60_000);
  expect(draft()).toBe("x > 2");
  expect(asked.filter((one) => one.includes("epl/")).length).toBeLessThan(25);
  fails = {};
  await later(20_000);
  expect(textOf("a.epl")).toBe("x > 2");
});

it("says that an edit is refused, and makes the next one", async () => {
  fails = { "epl/canvas": 413 };
  setWhere("x > 2");
  await later(100);
  expect(get().notices.map((one) => one.text)).toEqual(["Refused."]);
  fails = {};
  setWhere("x > 3");
  await later(100);
  expect(textOf("a.epl")).toBe("x > 3");
});

it.each([403, 507, 422])("keeps a drawing that studio.json does not take (%i)", async (status) => {
  fails = { "PUT project": status };
  setWhere("wrong");
  await later(5000);
  expect(draft()).toBe("wrong");
  expect(getGraph().canvas?.head.where).toBe("wrong");
  expect(get().notices.length).toBe(1);
  fails = {};
  setWhere("wrong");
  edit((canvas) => withHead(canvas, { description: "why" }));
  await later(5000);
  expect(draftOnDisk()).toBe("wrong");
});

it("keeps a drawing while studio.json is wrong", async () => {
  setWhere("wrong");
  await later(5000);
  expect(draftOnDisk()).toBe("wrong");
  fails = { "GET project": 422 };
  const reading = loadProject();
  await later(5000);
  await reading;
  expect(get().projectWrong).toBe("Refused.");
  expect(draft()).toBe("wrong");
  edit((canvas) => withHead(canvas, { description: "why" }));
  await later(5000);
  fails = {};
  disk = { version: 1 };
  changes += 1;
  const mended = loadProject();
  await later(5000);
  await mended;
  expect(draft()).toBe("wrong");
  expect(draftOnDisk()).toBe("wrong");
});

it("keeps a drawing in the browser until studio.json has it", async () => {
  const own = () => browser.filter((one) => one.path === "a.epl" && one.project.endsWith(" drawings"));
  fails = { "": 0 };
  set({ connection: "lost" });
  setWhere("x > 2");
  await later(5000);
  const entries = own();
  expect(entries.length).toBe(1);
  fails = {};
  const back = reconnect();
  await later(5000);
  await back;
  expect(own()).toEqual([]);
  // another page, which begins with what the browser has kept
  replaceText("a.epl", "x > 1");
  browser = [...browser, ...entries];
  set({ ready: true });
  await later(5000);
  expect(textOf("a.epl")).toBe("x > 2");
  expect(draft()).toBeUndefined();
  expect(own()).toEqual([]);
});

import { beforeEach, expect, it, vi } from "vitest";

vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => {} });
vi.stubGlobal("sessionStorage", { getItem: () => null, setItem: () => {} });
vi.stubGlobal("addEventListener", () => {});
vi.stubGlobal("requestAnimationFrame", (call: () => void) => call());
vi.mock("../state/unsaved", () => ({ keep: async () => {}, forget: async () => {}, kept: async () => [] }));

/** What the server was asked, and what it answers: by method and call. */
let calls: string[] = [];
let answers: Record<string, () => [number, unknown]> = {};
vi.stubGlobal("fetch", async (address: string, { method = "GET" }: RequestInit) => {
  const call = `${method} ${address.replace("./api/v1/", "")}`;
  calls.push(call);
  const [status, body] = answers[call]?.() ?? [404, { error: { kind: "unknown-job", message: "gone" } }];
  return new Response(JSON.stringify(body), { status });
});

const { askNow, applyRepair, cancelQuestion, closeQuestion, openQuestion, showReason, useAsking } =
  await import("./asking");
const { get, set } = await import("../state/store");
const { getRun, setRun } = await import("./state");
const { Clock } = await import("./time");
const { select, setEditor } = await import("../state/actions");

const span = { line: 1, column: 5, end_line: 1, end_column: 9 };
const row = { time: "9", ticks: 9, end: null, end_ticks: null, label: "l" };
const reason = {
  number: 1,
  cost: 1,
  verified: true,
  clauses: [
    {
      ...row,
      kind: "threshold",
      type: "Temp",
      clause: "v > 45",
      found: "44",
      needed: "> 45",
      message: "too small",
      definition: "Hot",
      file: "hot.tesla",
      span,
      repair: "v >= 44",
    },
  ],
  witness: [
    { ...row, type: "Temp", role: null, values: {}, ok: false, added: false, parent: null },
    { ...row, type: "Rain", role: null, values: {}, ok: true, added: true, parent: null },
  ],
  more: 0,
  repair: "it is found",
  files: ["hot.tesla"],
  added: null,
};
const answer = {
  type: "Hot",
  where: {},
  from: 5,
  to: 9,
  found: 0,
  rows: [],
  complete: true,
  notes: [],
  reasons: [reason],
};
const job = (state: string, more: object = {}) => ({
  id: "q",
  kind: "why-not",
  state,
  progress: null,
  result: state === "done" ? { milliseconds: 1, why_not: answer } : null,
  problems: [],
  ...more,
});
const asking = () => useAsking.getState().whyNot;

beforeEach(() => {
  closeQuestion();
  calls = [];
  const kind = { timestamp: false, unit: null };
  setRun({
    shown: "run",
    clock: new Clock(kind, 0n),
    result: {
      kind,
      first: 0,
      last: 9,
      found: [{ type: "Hot", count: 0, attributes: ["v"], lasting: false }],
      inputs: ["Temp"],
      total: 0,
      counts: {},
      milliseconds: 1,
    },
  });
  answers = {
    "POST jobs/run/why-not": () => [202, { id: "q" }],
    "GET jobs/q": () => [200, job("done")],
    "DELETE jobs/q": () => [200, job("cancelled")],
  };
  openQuestion();
});

it("asks, waits, and marks the first reason on the timeline and in the text", async () => {
  let looks = 0;
  answers["GET jobs/q"] = () => [200, job(++looks < 3 ? "running" : "done")];
  await askNow();
  expect(looks).toBe(3);
  expect(asking()?.state).toBe("done");
  expect(useAsking.getState().reason).toBe(1);
  expect(get().clauses).toEqual([{ file: "hot.tesla", span, message: "too small" }]);
  const { chosen, constituents } = getRun();
  expect(chosen).toMatchObject({ type: "Hot", start: 5, end: 9, absent: true });
  expect(constituents.map(({ type, failed, absent }) => [type, failed, absent])).toEqual([
    ["Temp", true, false],
    ["Rain", false, true],
  ]);
  showReason(null);
  expect(get().clauses).toEqual([]);
  expect(getRun().constituents).toEqual([]);
});

it("ends the process of a question that is cancelled, asked anew or closed", async () => {
  answers["GET jobs/q"] = () => [200, job("running")];
  const first = askNow();
  await vi.waitFor(() => expect(asking()?.id).toBe("q"));
  cancelQuestion();
  await first;
  expect(asking()?.state).toBe("cancelled");
  expect(calls).toContain("DELETE jobs/q");
  calls = [];
  const second = askNow();
  await vi.waitFor(() => expect(asking()?.id).toBe("q"));
  select({ job: "run", label: "x", type: "Hot" }); // a detection takes its place
  await second;
  expect(get().question).toBeNull();
  expect(asking()).toBeNull();
  expect(calls).toContain("DELETE jobs/q");
});

it("says why there is no answer", async () => {
  const problem = {
    kind: "type-mismatch",
    severity: "error",
    message: "no number",
    hint: null,
    node: "where.v",
  };
  answers["GET jobs/q"] = () => [200, job("failed", { problems: [problem] })];
  await askNow();
  expect(asking()).toMatchObject({ state: "failed", problems: [problem] });
  answers["POST jobs/run/why-not"] = () => [
    422,
    { error: { kind: "problems", message: "m", problems: [problem] } },
  ];
  await askNow();
  expect(asking()).toMatchObject({ state: "failed", problems: [problem] });
  answers["POST jobs/run/why-not"] = () => [
    409,
    { error: { kind: "busy", message: "10 are waiting", hint: "wait" } },
  ];
  await askNow();
  expect(asking()?.problems[0]).toMatchObject({ message: "10 are waiting", hint: "wait" });
  delete answers["POST jobs/run/why-not"];
  await askNow();
  expect(asking()?.state).toBe("gone");
});

const buffer = (text: string, writable = true) => ({
  "hot.tesla": {
    path: "hot.tesla",
    text,
    saved: text,
    etag: "1",
    dirty: false,
    writable,
    error: null,
    trouble: null,
    epoch: 0,
  },
});

it("puts a repair into the editor, unless the text is not the one that was run", async () => {
  const prepare = vi.fn();
  setEditor({ prepare, reveal: () => {} } as unknown as Parameters<typeof setEditor>[0]);
  answers["GET jobs/q/repairs/1"] = () => [
    200,
    { texts: [{ path: "hot.tesla", before: "v > 45", after: "v >= 44" }] },
  ];
  answers["POST check"] = () => [200, { problems: [], outline: [] }];
  await askNow();
  for (const [text, writable, message] of [
    ["v > 46", true, "has changed since the run"],
    ["v > 45", false, "cannot be written"],
  ] as const) {
    set({ buffers: buffer(text, writable), notices: [] });
    await applyRepair(reason);
    expect(get().buffers["hot.tesla"]?.text).toBe(text);
    expect(get().notices[0]?.text).toContain(message);
  }
  set({ buffers: buffer("v > 45"), notices: [] });
  await applyRepair(reason);
  expect(prepare).toHaveBeenCalledWith("hot.tesla"); // so that it can be undone
  expect(get().buffers["hot.tesla"]).toMatchObject({ text: "v >= 44", dirty: true });
  expect(get()).toMatchObject({ active: "hot.tesla", view: "Text", notices: [], clauses: [] });
  expect(useAsking.getState().applied).toBe(1);
});

import { beforeEach, expect, it, vi } from "vitest";
import { save } from "./actions";
import { restore } from "./start";
import { get, set } from "./store";
import type { Unsaved } from "./unsaved";

/** What the browser has kept, and the disk: texts by path; the ETag of a text is the text. */
let browser: Unsaved[] = [];
const disk = new Map<string, string>();
const broken = new Set<string>();

vi.mock("./unsaved", () => ({
  keep: async (one: Unsaved) => {
    browser = [...browser.filter((other) => other.path !== one.path), one];
  },
  forget: async (_: string, path: string) => {
    browser = browser.filter((one) => one.path !== path);
  },
  kept: async () => browser,
}));
vi.stubGlobal("requestAnimationFrame", (call: () => void) => call());
vi.stubGlobal("fetch", async (address: string, init: RequestInit) => {
  const path = address.replace("./api/v1/files/", "");
  const refused = (status: number, kind: string) =>
    new Response(JSON.stringify({ error: { kind, message: kind, hint: null, problems: [] } }), { status });
  if (broken.has(path)) return refused(422, "cannot-read");
  if (init.method === "PUT") {
    const headers = new Headers(init.headers);
    const fits = headers.get("If-None-Match") ? !disk.has(path) : headers.get("If-Match") === disk.get(path);
    if (!fits) return refused(412, "changed");
    disk.set(path, String(init.body));
  }
  const text = disk.get(path);
  return text === undefined ? refused(404, "missing-file") : new Response(text, { headers: { ETag: text } });
});

const entry = (path: string) => ({
  path,
  kind: "rules" as const,
  language: null,
  size: 1,
  etag: disk.get(path) ?? "",
  in_program: true,
  writable: true,
});
const kept = (path: string, text: string, saved: string) => ({ project: "", path, text, saved, etag: saved });

beforeEach(() => {
  disk.clear();
  broken.clear();
  browser = [];
  set({ buffers: {}, conflicts: [], files: [], notices: [] });
});

async function come(...unsaved: Unsaved[]) {
  browser = unsaved;
  set({ files: [...disk.keys()].map(entry) });
  await restore();
}

it("brings a text back as unsaved, and saves it over what it was made from", async () => {
  disk.set("a", "old");
  await come(kept("a", "mine", "old"));
  expect(get().buffers.a).toMatchObject({
    text: "mine",
    saved: "old",
    etag: "old",
    dirty: true,
    writable: true,
  });
  expect(get().conflicts).toEqual([]);
  await save("a");
  expect(disk.get("a")).toBe("mine");
  expect(browser).toEqual([]);
});

it("writes over none of several files that changed meanwhile", async () => {
  disk.set("a", "theirs a");
  disk.set("b", "theirs b");
  await come(kept("a", "mine a", "old"), kept("b", "mine b", "old"));
  expect(get().conflicts.map((one) => [one.path, one.theirs])).toEqual([
    ["a", "theirs a"],
    ["b", "theirs b"],
  ]);
  for (const path of ["a", "b"]) {
    await save(path);
    expect(disk.get(path)).toBe(`theirs ${path}`);
    expect(get().buffers[path]).toMatchObject({ text: `mine ${path}`, dirty: true });
  }
  expect(get().conflicts).toHaveLength(2);
  expect(browser).toHaveLength(2);
});

it("keeps the text of a file that cannot be read at that moment", async () => {
  disk.set("a", "old");
  broken.add("a");
  await come(kept("a", "mine", "old"));
  expect(get().buffers.a).toMatchObject({ text: "mine", saved: "old", dirty: true, error: null });
  expect(get().buffers.a?.trouble).toMatch(/cannot-read/i);
  expect(browser).toEqual([kept("a", "mine", "old")]);
  broken.clear();
  await save("a");
  expect(disk.get("a")).toBe("mine");
});

it("keeps the text of a file that is gone, and makes it anew when it is saved", async () => {
  await come(kept("a", "mine", "old"));
  expect(get().buffers.a).toMatchObject({ text: "mine", dirty: true, etag: null });
  await save("a");
  expect(disk.get("a")).toBe("mine");
});

it("forgets a text that is what lies on disk", async () => {
  disk.set("a", "mine");
  await come(kept("a", "mine", "old"));
  expect(get().buffers.a).toMatchObject({ dirty: false });
  expect(browser).toEqual([]);
});

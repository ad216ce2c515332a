import { beforeEach, expect, it, vi } from "vitest";
import { edited, flush, leaving, reread, save, settle, unsavedTexts } from "./actions";
import { type Buffer, get, set } from "./store";

/** The disk: texts by path; the ETag of a text is the text. */
const disk = new Map<string, string>();
/** Files that cannot be read or written: the status and kind of the answer. */
const broken = new Map<string, [number, string]>();
const refused = (status: number, kind: string) =>
  new Response(JSON.stringify({ error: { kind, message: kind, hint: null, problems: [] } }), { status });

vi.mock("./unsaved", () => ({ keep: async () => {}, forget: async () => {}, kept: async () => [] }));
vi.stubGlobal("requestAnimationFrame", (call: () => void) => call());
vi.stubGlobal("fetch", async (address: string, init: RequestInit) => {
  const call = address.replace("./api/v1/", "");
  if (call === "files") return new Response("[]");
  const path = call.replace("files/", "");
  const headers = new Headers(init.headers);
  const fault = broken.get(path);
  if (fault) return refused(...fault);
  if (init.method === "PUT") {
    const fits = headers.get("If-None-Match") ? !disk.has(path) : headers.get("If-Match") === disk.get(path);
    if (!fits) return refused(412, "changed");
    disk.set(path, String(init.body));
  }
  const text = disk.get(path);
  return text === undefined ? refused(404, "missing-file") : new Response(text, { headers: { ETag: text } });
});

const buffer = (text: string, saved = text): Buffer => ({
  path: "a",
  text,
  saved,
  etag: saved,
  dirty: text !== saved,
  writable: true,
  error: null,
  trouble: null,
  epoch: 0,
});

beforeEach(() => {
  disk.clear();
  broken.clear();
  disk.set("a", "disk");
  set({ buffers: {}, conflicts: [], active: "a", notices: [] });
});

it("follows a change from outside if nothing is edited", async () => {
  set({ buffers: { a: buffer("old") } });
  await reread("a");
  expect(get().buffers.a).toMatchObject({
    text: "disk",
    saved: "disk",
    etag: "disk",
    dirty: false,
    epoch: 1,
  });
});

it("asks if something is edited, and keeps mine without saving it", async () => {
  set({ buffers: { a: buffer("mine", "old") } });
  await reread("a");
  expect(get().conflicts).toEqual([{ path: "a", theirs: "disk", etag: "disk", saving: false }]);
  await settle("mine");
  expect(get().buffers.a).toMatchObject({ text: "mine", saved: "disk", etag: "disk", dirty: true });
  expect(disk.get("a")).toBe("disk");
  await save("a");
  expect(disk.get("a")).toBe("mine");
  expect(get().buffers.a?.dirty).toBe(false);
});

it("takes theirs", async () => {
  set({ buffers: { a: buffer("mine", "old") } });
  await reread("a");
  await settle("theirs");
  expect(get().buffers.a).toMatchObject({ text: "disk", dirty: false, etag: "disk" });
});

it("never saves over what it has not seen; keeping mine then saves", async () => {
  set({ buffers: { a: buffer("mine", "old") } });
  await save("a");
  expect(disk.get("a")).toBe("disk");
  expect(get().conflicts[0]?.saving).toBe(true);
  await settle("mine");
  expect(disk.get("a")).toBe("mine");
});

it("is at peace if both say the same", async () => {
  set({ buffers: { a: buffer("disk", "old") } });
  await reread("a");
  expect(get().conflicts).toEqual([]);
  expect(get().buffers.a).toMatchObject({ dirty: false, etag: "disk" });
});

it("closes a file that is gone, and makes it anew if it was edited", async () => {
  disk.clear();
  set({ buffers: { a: buffer("old") } });
  await reread("a");
  expect(get().buffers.a).toBeUndefined();
  set({ buffers: { a: buffer("mine", "old") } });
  await reread("a");
  expect(get().conflicts[0]?.theirs).toBeNull();
  await settle("mine");
  await save("a");
  expect(disk.get("a")).toBe("mine");
});

it("does not ask for a file while it removes it", async () => {
  disk.clear();
  set({ buffers: { a: buffer("old") } });
  leaving.add("a");
  await reread("a");
  expect(get().buffers.a).toBeDefined();
  leaving.delete("a");
  await reread("a");
  expect(get().buffers.a).toBeUndefined();
});

it("reads the editor's text when it is asked for", () => {
  set({ buffers: { a: buffer("disk") } });
  edited("a", () => "disk, edited");
  expect(get().buffers.a).toMatchObject({ text: "disk", dirty: true });
  expect(unsavedTexts()).toEqual({ a: "disk, edited" });
  edited("a", () => "disk");
  flush();
  expect(get().buffers.a?.dirty).toBe(false);
});

it.each([
  [422, "problems"],
  [413, "too-large"],
  [403, "forbidden-path"],
  [500, "internal"],
])("keeps an edited text whose file cannot be read any more (%i)", async (status, kind) => {
  set({ buffers: { a: buffer("mine", "old") } });
  broken.set("a", [status, kind]);
  await reread("a");
  expect(get().buffers.a).toMatchObject({
    text: "mine",
    saved: "old",
    dirty: true,
    writable: true,
    error: null,
  });
  expect(get().buffers.a?.trouble?.toLowerCase()).toContain(kind);
  broken.clear();
  await reread("a");
  expect(get().buffers.a).toMatchObject({ text: "mine", dirty: true, trouble: null });
  expect(get().conflicts).toHaveLength(1);
});

it("shows why a text without edits cannot be read, until it can", async () => {
  set({ buffers: { a: buffer("disk") } });
  broken.set("a", [422, "cannot-read"]);
  await reread("a");
  expect(get().buffers.a).toMatchObject({ error: "Cannot-read.", dirty: false });
  broken.clear();
  await reread("a");
  expect(get().buffers.a).toMatchObject({ text: "disk", error: null });
});

it("names the reason at a file that is not saved, and keeps its text", async () => {
  set({ buffers: { a: buffer("mine", "disk") } });
  broken.set("a", [422, "cannot-write"]);
  await save("a");
  expect(get().buffers.a).toMatchObject({ text: "mine", dirty: true });
  expect(get().buffers.a?.trouble).toMatch(/cannot-write/i);
  expect(get().notices).toHaveLength(1);
  broken.clear();
  await save("a");
  expect(get().buffers.a).toMatchObject({ dirty: false, trouble: null });
  expect(disk.get("a")).toBe("mine");
});

it("asks about one changed file after the other", async () => {
  disk.set("b", "theirs");
  set({ buffers: { a: buffer("mine", "old"), b: { ...buffer("other", "old"), path: "b" } } });
  await reread("a");
  await reread("b");
  await reread("a");
  expect(get().conflicts.map((one) => one.path)).toEqual(["a", "b"]);
  await settle("mine");
  expect(get().conflicts.map((one) => one.path)).toEqual(["b"]);
  await settle("theirs");
  expect(get().conflicts).toEqual([]);
  expect(get().buffers.b).toMatchObject({ text: "theirs", dirty: false });
});

it("saves again if the file that it was made from is back", async () => {
  set({ buffers: { a: { ...buffer("mine", "disk"), etag: null } } });
  await save("a");
  expect(disk.get("a")).toBe("mine");
  expect(get().buffers.a).toMatchObject({ dirty: false, etag: "mine" });
});

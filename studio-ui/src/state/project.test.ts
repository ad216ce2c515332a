import { beforeEach, expect, it, vi } from "vitest";
import { changeProject, loadProject } from "./project";
import { get, set } from "./store";

/** `studio.json`: its number of changes is its ETag. */
let disk = { rules: [] as string[] };
let changes = 0;
/** Answers that wait until the test lets them go. */
const held: (() => void)[] = [];
let holds = false;
let refused = 0;
/** How calls fail, by their method: a status, or 0: there is no server. */
let broken: Record<string, number> = {};

vi.stubGlobal("requestAnimationFrame", (call: () => void) => call());
vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
  const fault = broken[init.method ?? ""];
  if (fault === 0) throw new TypeError("no server");
  if (fault) {
    const error = { kind: "kind", message: "refused", problems: [] };
    return new Response(JSON.stringify({ error }), { status: fault });
  }
  if (init.method === "PUT") {
    if (new Headers(init.headers).get("If-Match") !== String(changes)) {
      refused += 1;
      return new Response(JSON.stringify({ error: { kind: "changed", message: "", problems: [] } }), {
        status: 412,
      });
    }
    disk = JSON.parse(String(init.body));
    changes += 1;
    return new Response(JSON.stringify({ etag: String(changes) }), { headers: { ETag: String(changes) } });
  }
  const answer = new Response(JSON.stringify(disk), { headers: { ETag: String(changes) } });
  if (holds) await new Promise<void>((go) => held.push(go));
  return answer;
});

/** Changes are applied more than once: here, and to the project on disk. */
const add = (rule: string) =>
  changeProject(
    (now) => ({ rules: [...new Set([...(now as unknown as typeof disk).rules, rule])] }) as never,
  );

beforeEach(() => {
  broken = {};
  set({ notices: [], project: disk as never, projectEtag: String(changes), projectWrong: null });
});

it("writes after a reading that has begun before, with the ETag of that reading", async () => {
  holds = true;
  const reading = loadProject();
  const first = add("a");
  const second = add("b");
  expect((get().project as unknown as typeof disk).rules).toEqual(["a", "b"]);
  await vi.waitFor(() => expect(held.length).toBe(1));
  await new Promise((go) => setTimeout(go, 20)); // time for a change that does not wait
  holds = false;
  for (const go of held.splice(0)) go();
  await Promise.all([reading, first, second]);
  await add("c");
  expect(disk.rules).toEqual(["a", "b", "c"]);
  expect(refused).toBe(0);
});

it("keeps changes without a server, shows them behind every reading and writes them when it is back", async () => {
  broken = { PUT: 0, GET: 0 };
  await add("d");
  await expect(loadProject()).rejects.toThrow();
  broken = { PUT: 0 };
  disk = { rules: ["theirs"] };
  changes += 1;
  await loadProject();
  expect((get().project as unknown as typeof disk).rules).toEqual(["theirs", "d"]);
  expect(disk.rules).toEqual(["theirs"]);
  broken = {};
  await loadProject();
  expect(disk.rules).toEqual(["theirs", "d"]);
  expect(get().notices).toEqual([]);
});

it("keeps a change that the disk has no room for, and says so", async () => {
  broken = { PUT: 507 };
  expect(await add("e")).toBe(true);
  expect(get().notices.length).toBe(1);
  expect((get().project as unknown as typeof disk).rules).toContain("e");
  broken = {};
  await add("f");
  expect(disk.rules.slice(-2)).toEqual(["e", "f"]);
});

it("takes a change back that would make the project wrong", async () => {
  broken = { PUT: 422 };
  expect(await add("g")).toBe(false);
  expect(get().notices.length).toBe(1);
  expect((get().project as unknown as typeof disk).rules).not.toContain("g");
  broken = {};
  expect(await add("h")).toBe(true);
  expect(disk.rules).not.toContain("g");
});

it("writes no change over a wrong project, but when it is mended", async () => {
  broken = { GET: 422 };
  await loadProject();
  await add("i");
  expect(disk.rules).not.toContain("i");
  expect(get().notices.length).toBe(1);
  broken = {};
  await loadProject();
  expect(disk.rules).toContain("i");
});

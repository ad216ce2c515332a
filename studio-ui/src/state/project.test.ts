import { beforeEach, expect, it, vi } from "vitest";
import { changeProject, loadProject } from "./project";
import { get, set } from "./store";

/** `studio.json`: its number of changes is its ETag. */
let disk = { rules: [] as string[] };
let changes = 0;
/** Answers that wait until the test lets them go. */
const held: (() => void)[] = [];
let refused = 0;

vi.stubGlobal("requestAnimationFrame", (call: () => void) => call());
vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
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
  if (!refused) await new Promise<void>((go) => held.push(go));
  return answer;
});

/** Changes are applied more than once: here, and to the project on disk. */
const add = (rule: string) =>
  changeProject(
    (now) => ({ rules: [...new Set([...(now as unknown as typeof disk).rules, rule])] }) as never,
  );

beforeEach(() => {
  set({ project: disk as never, projectEtag: String(changes), projectWrong: null });
});

it("writes after a reading that has begun before, with the ETag of that reading", async () => {
  const reading = loadProject();
  const first = add("a");
  const second = add("b");
  expect((get().project as unknown as typeof disk).rules).toEqual(["a", "b"]);
  await vi.waitFor(() => expect(held.length).toBe(1));
  await new Promise((go) => setTimeout(go, 20)); // time for a change that does not wait
  for (const go of held.splice(0)) go();
  await Promise.all([reading, first, second]);
  await add("c");
  expect(disk.rules).toEqual(["a", "b", "c"]);
  expect(refused).toBe(0);
});

import { afterEach, expect, it, vi } from "vitest";
import { type Connection, follow } from "./updates";

afterEach(() => vi.unstubAllGlobals());

/** A server whose streams stay open until they are ended. */
function server() {
  const streams: ReadableStreamDefaultController[] = [];
  const state = { up: true, streams };
  vi.stubGlobal("fetch", async (_: string, { signal }: RequestInit) => {
    if (!state.up) throw new TypeError("refused");
    const body = new ReadableStream({
      start(controller) {
        streams.push(controller);
        signal?.addEventListener("abort", () => controller.error(new Error("aborted")));
      },
    });
    return new Response(body);
  });
  return state;
}

it("opens the stream anew to see whether the server is there", async () => {
  const there = server();
  const told: Connection[] = [];
  const stream = follow({ update: () => {}, connection: (state) => told.push(state) });
  await vi.waitFor(() => expect(told).toEqual(["connected"]));
  // a call failed by chance: the stream opens again, and the connection was never lost
  stream.verify();
  stream.verify();
  await vi.waitFor(() => expect(told).toEqual(["connected", "connected"]));
  expect(there.streams).toHaveLength(2);
  there.up = false;
  stream.verify();
  await vi.waitFor(() => expect(told.at(-1)).toBe("lost"));
  there.up = true;
  stream.poke();
  await vi.waitFor(() => expect(told.at(-1)).toBe("connected"));
  expect(told).toEqual(["connected", "connected", "lost", "connected"]);
  stream.close();
});

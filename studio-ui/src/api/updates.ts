/** The one stream of updates: read by fetch, so that `Last-Event-ID` and the waits between tries are ours. */
import type { Update } from "./types";

export interface SseEvent {
  event: string;
  data: string;
}

/** Splits a stream of server-sent events, whichever way it is cut into chunks. */
export class SseParser {
  private rest = "";
  private event = "";
  /** the last number, also of lines without an event */
  id: string | null = null;
  private data: string[] = [];

  push(chunk: string): SseEvent[] {
    const lines = (this.rest + chunk).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    const out: SseEvent[] = [];
    for (const line of lines) {
      if (line === "") {
        if (this.data.length) out.push({ event: this.event || "message", data: this.data.join("\n") });
        this.event = "";
        this.data = [];
        continue;
      }
      const colon = line.indexOf(":");
      if (colon === 0) continue;
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
      if (field === "event") this.event = value;
      else if (field === "data") this.data.push(value);
      else if (field === "id") this.id = value;
    }
    return out;
  }
}

/** Seconds to wait before the n-th try again: 1 2 4 8 15 15 .. */
export function wait(tries: number): number {
  return Math.min(15, 2 ** tries);
}

export type Connection = "connecting" | "connected" | "lost" | "token";

interface Handlers {
  update(update: Update): void;
  connection(state: Connection, secondsToNextTry: number | null): void;
}

interface Stream {
  close(): void;
  /** tries again at once if the connection is lost */
  poke(): void;
  /** opens the stream anew, to see whether the server is there */
  verify(): void;
}

/** Keeps the stream open until it is closed. */
export function follow({ update, connection }: Handlers): Stream {
  let closed = false;
  let tries = 0;
  let turn = 0;
  let opening = false;
  let last: string | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let control: AbortController | null = null;

  async function open() {
    clearTimeout(timer);
    timer = undefined;
    control?.abort();
    const mine = new AbortController();
    control = mine;
    const { signal } = mine;
    turn += 1;
    const now = turn;
    opening = true;
    let quiet: ReturnType<typeof setTimeout> | undefined;
    const alive = () => {
      clearTimeout(quiet);
      quiet = setTimeout(() => mine.abort(), 40_000); // a comment comes every 15 s
    };
    try {
      alive();
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (last !== null) headers["Last-Event-ID"] = last;
      const response = await fetch("./api/v1/updates", { headers, signal, cache: "no-store" });
      if (response.status === 401) {
        connection("token", null);
        closed = true;
        return;
      }
      if (!response.ok || !response.body) throw new Error(String(response.status));
      if (now !== turn) return;
      opening = false;
      tries = 0;
      connection("connected", null);
      const parser = new SseParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done || now !== turn) break;
        alive();
        const events = parser.push(value);
        last = parser.id ?? last;
        for (const event of events) {
          let data: unknown = null;
          try {
            data = JSON.parse(event.data);
          } catch {
            // an event without content
          }
          update({ event: event.event, data } as Update);
        }
      }
    } catch {
      // reported below, as is an end of the stream
    } finally {
      clearTimeout(quiet);
    }
    if (closed || now !== turn) return;
    opening = false;
    const seconds = wait(tries++);
    connection("lost", seconds);
    timer = setTimeout(open, seconds * 1000);
  }

  void open();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
      control?.abort();
    },
    poke() {
      if (!closed && timer !== undefined) void open();
    },
    verify() {
      if (!closed && timer === undefined && !opening) void open();
    },
  };
}

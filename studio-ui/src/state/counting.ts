/** How many events of how many types the program reads, for the status bar: counted when their files change. */
import { api } from "../api/client";
import { get, type Studio, set, useStudio } from "./store";

const DELAY = 1000;
let timer: ReturnType<typeof setTimeout> | undefined;
let control: AbortController | null = null;

/** What the counts depend on; empty if there are no events. */
function keyOf({ ready, files, project, connection }: Studio): string {
  const { events, options } = project.program ?? {};
  const there = files.filter((file) => file.kind === "event");
  const any = events ? events.length > 0 : there.some((file) => !file.path.includes("/"));
  if (!ready || !any || connection !== "connected") return "";
  return JSON.stringify([events, options, there.map((file) => file.etag)]);
}

async function count() {
  control?.abort();
  control = new AbortController();
  try {
    const { types, problems } = await api.peek(undefined, undefined, 0, control.signal);
    if (!types.length && problems.length) return set({ eventCounts: null });
    // large files are read at their beginning only
    const rows = types.map((type) => type.rows);
    const all = rows.every((n) => n !== null) ? rows.reduce((sum, n) => sum + n, 0) : null;
    set({ eventCounts: { rows: all, types: types.length } });
  } catch {
    set({ eventCounts: null }); // a run says what is wrong with them
  }
}

export function followEvents() {
  useStudio.subscribe(keyOf, (key) => {
    clearTimeout(timer);
    if (key) timer = setTimeout(count, DELAY);
    else if (get().eventCounts && get().connection === "connected") set({ eventCounts: null });
  });
}

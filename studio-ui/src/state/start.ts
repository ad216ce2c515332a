/** The start of the page, and what keeps it in step with the server, the address and the browser. */
import { ApiError, api, onLost } from "../api/client";
import type { Job, Update } from "../api/types";
import { follow } from "../api/updates";
import { texts } from "../texts";
import { existing } from "../views";
import {
  addConflict,
  edits,
  flush,
  gone,
  keepUnsaved,
  loadFiles,
  notify,
  open,
  reread,
  say,
  tell,
  withEditor,
} from "./actions";
import { formatAddress, parseAddress } from "./address";
import { checkSoon } from "./checking";
import { followEvents } from "./counting";
import { followPlan } from "./planning";
import { loadProject } from "./project";
import { type Buffer, get, type Panels, type Studio, set, useStudio } from "./store";
import { kept, type Unsaved } from "./unsaved";

const PANELS = "occurs-panels";
const THEME = "occurs-theme";
const PLACE = "occurs-place";

function stored<T>(name: string): T | null {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "null") as T | null;
  } catch {
    return null;
  }
}

function store(name: string, value: unknown) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // a browser that keeps nothing: the page works without
  }
}

function followTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const { theme } = get();
    const dark = theme === "dark" || (theme === "system" && system.matches);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    set({ dark });
  };
  system.addEventListener("change", apply);
  useStudio.subscribe((state) => state.theme, apply);
  useStudio.subscribe(
    (state) => state.theme,
    (theme) => store(THEME, theme),
  );
  const theme = stored<Studio["theme"]>(THEME);
  if (theme === "light" || theme === "dark") set({ theme });
  apply();
}

function followPanels() {
  const panels = stored<Partial<Panels>>(PANELS);
  if (panels) set((state) => ({ panels: { ...state.panels, ...panels } }));
  else if (innerWidth < 1200) set((state) => ({ panels: { ...state.panels, rightOpen: false } }));
  useStudio.subscribe(
    (state) => state.panels,
    (now) => store(PANELS, now),
  );
}

/** The first file to show: the one kept, else the first rules of the program, else the first rules. */
function firstFile(): string | null {
  const { files } = get();
  const rules = files.filter((file) => file.kind === "rules");
  const first = rules.find((file) => file.in_program) ?? rules[0];
  return first?.path ?? Object.keys(get().buffers)[0] ?? null;
}

/** A definition that the address names before the program is known. */
let wanted: string | null = null;

/** Is this a file of the directory, or one that is gone and has a text here? */
function isKnown(path: string | null): path is string {
  if (path === null) return false;
  return get().buffers[path] !== undefined || get().files.some((file) => file.path === path);
}

/** Where people had gone when the address last changed: where they go after it counts more than the address. */
let since = { ...gone };

async function showAddress() {
  const { path, view, statement } = parseAddress(location.hash);
  const before = since;
  const known = isKnown(path) ? path : null;
  const target = known ?? get().active ?? firstFile();
  if (target) await open(target);
  if (path && !known) notify("error", texts.errors.noFile(path), target ? texts.errors.instead(target) : "");
  await edits();
  if (gone.files !== before.files) return;
  const stays = gone.views !== before.views;
  set({ active: target, ...(view && !stays && { view: existing(view) }), statement, quiet: true });
  wanted = statement;
  if (get().check.state === "done") await showWanted();
}

async function showWanted() {
  const name = wanted;
  wanted = null;
  const { view, check, active } = get();
  if (name === null) return;
  const entry = check.outline.find((one) => one.name === name && one.file === active) ?? null;
  const span = entry?.span;
  if (span && view === "Text") withEditor((editor) => editor.reveal({ path: entry.file, ...span }, false));
  else if (entry) set({ statement: name, quiet: true });
}

function followAddress() {
  const write = () => {
    const { active, view, statement, quiet } = get();
    if (!get().ready || wanted !== null) return;
    const now = parseAddress(location.hash);
    const hash = formatAddress({ path: active, view, statement });
    store(`${PLACE}:${get().mark}`, hash);
    if (hash === formatAddress(now)) return;
    const moved = now.path !== active || now.view !== view;
    if (now.path !== null && (moved || !quiet)) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  };
  useStudio.subscribe(
    (state) => `${state.ready}\n${state.active}\n${state.view}\n${state.statement}`,
    () => queueMicrotask(write),
  );
  useStudio.subscribe(
    (state) => state.check.state,
    (state) => {
      if (state === "done") void showWanted().then(write);
    },
  );
  const show = () => {
    since = { ...gone };
    if (get().ready) void showAddress().catch(tell);
  };
  addEventListener("popstate", show);
}

function followWidth() {
  const narrow = matchMedia("(max-width: 1023.9px)");
  const apply = () => set({ narrow: narrow.matches, drawer: null });
  narrow.addEventListener("change", apply);
  apply();
}

function followTitle() {
  useStudio.subscribe(
    (state) => Object.values(state.buffers).some((buffer) => buffer.dirty),
    (dirty) => {
      document.title = (dirty ? "* " : "") + texts.title;
    },
  );
}

/** Unsaved texts come back as unsaved. What changed on disk meanwhile is asked about, file by file. */
export async function restore() {
  const unsaved = await kept(get().mark).catch(() => []);
  let count = 0;
  for (const one of unsaved) {
    const listed = get().files.some((file) => file.path === one.path);
    if (listed) await open(one.path);
    const now = listed ? get().buffers[one.path] : undefined;
    if (now && now.error === null && now.text === one.text) {
      void keepUnsaved(one.path);
      continue;
    }
    count += 1;
    takeBack(one, now);
    if (!now || now.error !== null || one.etag === now.etag || one.saved === now.saved) continue;
    addConflict({ path: one.path, theirs: now.saved, etag: now.etag, saving: false });
  }
  if (count) say(texts.said.restored(count));
}

/** The buffer of a text that was kept. It is saved only over what it was made from: the ETag stays the old one. */
function takeBack(one: Unsaved, now: Buffer | undefined) {
  const same = now && now.error === null && one.saved === now.saved;
  const buffer: Buffer = {
    path: one.path,
    text: one.text,
    saved: one.saved,
    etag: same ? now.etag : now ? one.etag : null,
    dirty: true,
    writable: now && now.error === null ? now.writable : true,
    error: null,
    trouble: now?.error ? texts.errors.unreadable(now.error) : null,
    epoch: (now?.epoch ?? -1) + 1,
  };
  set((state) => ({ buffers: { ...state.buffers, [one.path]: buffer } }));
}

async function load() {
  await Promise.all([loadFiles(), loadProject()]);
  void loadAbout();
}

let asking = false;

/** The languages have words once their worker has started: nothing waits for them. */
async function loadAbout(tries = 0) {
  if (asking && !tries) return;
  asking = true;
  try {
    const about = await api.about();
    const known = get().about?.languages;
    // the same objects, so that editors need not read their texts again
    if (known && JSON.stringify(known) === JSON.stringify(about.languages)) about.languages = known;
    set({ about });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return;
  }
  asking = tries < 8 && (get().about?.languages.some((one) => !one.words) ?? true);
  if (asking) setTimeout(() => void loadAbout(tries + 1), 1000 * (tries + 1));
}

/** A job that another page has started takes the place of one that has ended. */
function takeJob(data: Job) {
  if (data.kind === "why" || data.kind === "why-not") return;
  const { job: run, netJobs } = get();
  const before = data.kind === "run" ? run : netJobs[data.kind];
  const ended = !before || (before.state !== "queued" && before.state !== "running");
  if (!ended && before.id !== data.id) return;
  if (data.kind === "run") set({ job: data });
  else set({ netJobs: { ...netJobs, [data.kind]: data } });
}

function takeUpdate(update: Update) {
  if (update.event === "file") {
    void loadFiles().catch(tell);
    const path = update.data?.path;
    if (path && get().buffers[path]) void reread(path).catch(tell);
    if (path === "studio.json") void loadProject().catch(tell);
    checkSoon();
  } else if (update.event === "job") {
    if (update.data) takeJob(update.data);
  } else if (update.event === "worker") {
    // the first one that is ready is none that was restarted
    const { worker, state, message } = update.data ?? {};
    if (worker === "nets") return set({ netsEnded: message ?? "" });
    if (state === "restarted") notify("notice", texts.said.worker, message ?? "");
    checkSoon();
  } else if (update.event === "reload") {
    void catchUp();
  }
}

/** After a lost connection: whatever may have changed is read again. */
async function catchUp() {
  try {
    if (!get().ready) {
      await begin();
      return;
    }
    await load();
    for (const path of Object.keys(get().buffers)) await reread(path);
    checkSoon(0);
  } catch (error) {
    tell(error);
  }
}

let beginning = false;

async function begin() {
  if (beginning) return;
  beginning = true;
  try {
    await load();
    await restore();
    if (!parseAddress(location.hash).path) {
      const last = stored<string>(`${PLACE}:${get().mark}`);
      if (last && isKnown(parseAddress(last).path)) history.replaceState(null, "", last);
    }
    let shown: string;
    do {
      shown = location.hash;
      await showAddress();
    } while (shown !== location.hash); // the address may change meanwhile
    set({ ready: true, failed: null });
    checkSoon(0);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) set({ connection: "token" });
    else set({ failed: error instanceof Error ? error.message : String(error) });
  }
  beginning = false;
}

export function start() {
  followTheme();
  followPanels();
  followTitle();
  followWidth();
  followAddress();
  followPlan();
  followEvents();
  addEventListener("beforeunload", () => {
    flush();
    for (const buffer of Object.values(get().buffers)) if (buffer.dirty) void keepUnsaved(buffer.path);
  });
  /** something may have been missed since the stream was last known to be open */
  let missed = false;
  const stream = follow({
    update: takeUpdate,
    connection(state, retry) {
      if (state === "lost") missed = true;
      set({ connection: state, retry });
      if (state !== "connected" || !missed) return;
      missed = false;
      void catchUp();
    },
  });
  // a call that found no server says nothing yet of the stream: opened anew, it tells
  onLost(() => {
    missed = true;
    stream.verify();
  });
  retryNow = stream.poke;
  addEventListener("online", stream.poke);
  void begin();
}

let retryNow: () => void = () => {};
export const retry = () => retryNow();
/** After the page could not be set up. */
export const again = () => {
  set({ failed: null });
  void begin();
};

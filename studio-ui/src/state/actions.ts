/** What changes the state: opening, editing, saving, going places; used by the frame and by all views. */
import { ApiError, api, ConnectionLost } from "../api/client";
import type { Edit, Texts } from "../api/types";
import { sentences, texts } from "../texts";
import { existing, type View, viewFor } from "../views";
import {
  type Buffer,
  type Conflict,
  get,
  type Notice,
  type Place,
  type Selection,
  type Studio,
  set,
} from "./store";
import { forget, keep } from "./unsaved";

/** What can be asked of the name at the cursor. */
export type Asked = "definition" | "uses" | "rename" | "explain";

/** What the text editor offers to the frame once it is loaded. */
export interface EditorHandle {
  undo(): void;
  redo(): void;
  reveal(place: Place, focus: boolean): void;
  /** Edits of the file that is shown and a step of another view, as one change of its history; false: not shown. */
  change(path: string, edits: readonly Edit[], step: Step | null): boolean;
  format(): void;
  /** something about the name at the cursor */
  ask(what: Asked): void;
  /** a text that was not shown yet is about to be replaced: it can be undone */
  prepare(path: string): void;
  search(): void;
}

/** What a view other than the text did; undo restores `before`, redo `after`. */
export interface Step {
  view: View;
  before: unknown;
  after: unknown;
}

const takers = new Map<View, (after: unknown) => void>();

/** A view says how its steps are taken when they are made, undone or made again. */
export function takeSteps(view: View, take: (after: unknown) => void) {
  takers.set(view, take);
}

export function stepDone(step: Step) {
  takers.get(step.view)?.(step.after);
}

const workers = new Set<() => Promise<void>>();

/** A view says how long its edits are on their way to the text. */
export function addWork(idle: () => Promise<void>) {
  workers.add(idle);
}

/** Resolves when what was edited anywhere is in the texts. */
export async function edits(): Promise<void> {
  for (const idle of workers) await idle();
}

/** Shows another file. Edits go into the file that is shown: those on their way reach their text before. */
export async function leaveFor(place: Partial<Studio>): Promise<void> {
  await edits();
  set(place);
}

let editor: EditorHandle | null = null;
let afterLoad: ((editor: EditorHandle) => void)[] = [];

export function setEditor(handle: EditorHandle | null) {
  editor = handle;
  if (!handle) return;
  for (const call of afterLoad) call(handle);
  afterLoad = [];
}

/** Calls now, or as soon as the editor is loaded. */
export function withEditor(call: (editor: EditorHandle) => void) {
  if (editor) call(editor);
  else afterLoad.push(call);
}

// -- texts ---------------------------------------------------------------------------------------

const pending = new Map<string, () => string>();
const followers = new Set<(path: string) => void>();

/** Calls whenever a text is edited or replaced. */
export function followTexts(call: (path: string) => void): () => void {
  followers.add(call);
  return () => followers.delete(call);
}

function follow(path: string) {
  for (const call of followers) call(path);
}

/** The editor's text is newer than the buffer: read when it is asked for, so that a key press copies no text. */
export function edited(path: string, text: () => string) {
  pending.set(path, text);
  const buffer = get().buffers[path];
  if (buffer && !buffer.dirty) patch(path, { dirty: true });
  follow(path);
}

function patch(path: string, change: Partial<Buffer>) {
  set((state) => {
    const buffer = state.buffers[path];
    return buffer ? { buffers: { ...state.buffers, [path]: { ...buffer, ...change } } } : state;
  });
}

/** Takes what the editor has into the buffers; a text that is what is saved is not dirty. */
export function flush() {
  for (const [path, text] of pending) {
    const buffer = get().buffers[path];
    if (!buffer) continue;
    const now = text();
    patch(path, { text: now, dirty: now !== buffer.saved });
  }
  pending.clear();
}

export function textOf(path: string): string {
  return pending.get(path)?.() ?? get().buffers[path]?.text ?? "";
}

/** Is this a file of rules, as it is listed or by its suffix? */
export function isRules(path: string): boolean {
  const { files, about } = get();
  const entry = files.find((file) => file.path === path);
  if (entry) return entry.kind === "rules";
  return about?.languages.some((one) => one.suffixes.some((suffix) => path.endsWith(suffix))) ?? true;
}

/** The rules that are not as they lie on disk. Half of a surrogate pair, which no file can hold, is replaced. */
export function unsavedTexts(): Texts {
  flush();
  const out: Texts = {};
  for (const { path, text, dirty } of Object.values(get().buffers))
    if (dirty && isRules(path)) out[path] = text.toWellFormed();
  return out;
}

/** Keeps what is unsaved in the browser, and forgets what is saved. */
export async function keepUnsaved(path: string): Promise<void> {
  const buffer = get().buffers[path];
  const project = get().mark;
  try {
    if (buffer?.dirty)
      await keep({ project, path, text: buffer.text, saved: buffer.saved, etag: buffer.etag });
    else await forget(project, path);
  } catch (error) {
    if (!warned) tell(error, texts.errors.notKept);
    warned = true;
  }
}

/** It is said once that this browser keeps nothing. */
let warned = false;

/** Replaces a text from outside the editor. */
export function replaceText(path: string, text: string, change: Partial<Buffer> = {}) {
  pending.delete(path);
  const buffer = get().buffers[path];
  if (!buffer) return;
  const next = { ...buffer, ...change, text, epoch: buffer.epoch + 1 };
  patch(path, { ...next, dirty: next.text !== next.saved });
  follow(path);
  void keepUnsaved(path);
}

// -- telling ---------------------------------------------------------------------------------------

let notices = 0;

/** Told by screen readers and in the status bar. */
export function say(text: string) {
  set({ said: "" });
  requestAnimationFrame(() => set({ said: text }));
}

/** The message of an error with its hint. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return sentences(error.message, error.hint);
  return error instanceof Error ? error.message : String(error);
}

/** The message of a problem with its hint. */
export function messageOfProblem({ message, hint }: { message: string; hint: string | null }): string {
  return sentences(message, hint);
}

export function tell(error: unknown, title: string = texts.errors.title) {
  if (error instanceof DOMException && error.name === "AbortError") return;
  if (error instanceof ConnectionLost) return; // the status bar says so
  if (error instanceof ApiError && error.status === 401) return set({ connection: "token" });
  if (!(error instanceof ApiError)) console.error(error);
  notify("error", title, messageOf(error));
}

/** Shows a message until it is closed. The same message is not shown twice. */
export function notify(kind: Notice["kind"], title: string, text: string) {
  notices += 1;
  const id = notices;
  set((state) => ({
    notices: [
      ...state.notices.filter((one) => one.title !== title || one.text !== text).slice(-3),
      { id, kind, title, text },
    ],
  }));
}

export function dismiss(id: number) {
  set((state) => ({ notices: state.notices.filter((notice) => notice.id !== id) }));
}

// -- files -----------------------------------------------------------------------------------------

export async function loadFiles() {
  set(await api.files());
}

/** Files of events that are larger are not shown as text. */
const SHOWN = 4_000_000;

/** Opens a file in a buffer, if it is none yet. */
export async function open(path: string): Promise<void> {
  if (get().buffers[path]) return;
  const entry = get().files.find((file) => file.path === path);
  const empty = { path, saved: "", text: "", etag: null, dirty: false, trouble: null, epoch: 0 };
  let buffer: Buffer;
  try {
    if (entry?.kind === "event" && (entry.size > SHOWN || entry.path.endsWith(".parquet")))
      throw new ApiError(413, "too-large", texts.text.tooLarge);
    const { text, etag } = await api.read(path);
    buffer = { ...empty, text, saved: text, etag, writable: entry?.writable ?? false, error: null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    buffer = { ...empty, writable: false, error: messageOf(error) };
  }
  if (!get().buffers[path]) set((state) => ({ buffers: { ...state.buffers, [path]: buffer } }));
}

/** A file that was changed elsewhere: people are asked, about one file after the other. */
export function addConflict(conflict: Conflict) {
  set(({ conflicts }) => {
    const at = conflicts.findIndex((one) => one.path === conflict.path);
    return { conflicts: at < 0 ? [...conflicts, conflict] : conflicts.with(at, conflict) };
  });
}

function settled(path: string) {
  if (get().conflicts.some((one) => one.path === path))
    set(({ conflicts }) => ({ conflicts: conflicts.filter((one) => one.path !== path) }));
}

/** Files that this page removes: it hears that they are gone before the server has answered, and need not ask. */
export const leaving = new Set<string>();

/** Reads a file again; an edited one is a conflict that people decide. What cannot be read keeps its text here. */
export async function reread(path: string, saving = false): Promise<void> {
  const buffer = get().buffers[path];
  if (!buffer || leaving.has(path)) return;
  let theirs: { text: string; etag: string } | null;
  try {
    theirs = await api.read(path);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) theirs = null;
    else if (error instanceof ApiError && error.status !== 401) return unreadable(path, error);
    else throw error;
  }
  flush();
  const now = get().buffers[path];
  if (!now) return;
  if (now.trouble !== null || now.error !== null) patch(path, { trouble: null, error: null });
  if (theirs && theirs.etag === now.etag) return settled(path);
  if (theirs && theirs.text === now.text) {
    patch(path, { saved: theirs.text, etag: theirs.etag, dirty: false });
    void keepUnsaved(path);
    settled(path);
  } else if (now.dirty) {
    if (theirs?.text === now.saved) {
      patch(path, { etag: theirs.etag });
      settled(path);
    } else addConflict({ path, theirs: theirs?.text ?? null, etag: theirs?.etag ?? null, saving });
  } else if (theirs) {
    const writable = get().files.find((file) => file.path === path)?.writable ?? now.writable;
    replaceText(path, theirs.text, { saved: theirs.text, etag: theirs.etag, writable });
    say(texts.said.followed(path));
  } else {
    close(path);
    say(texts.said.gone(path));
  }
}

/** The file cannot be read any more: an edited text stays, of another one the reason is shown. */
function unreadable(path: string, error: ApiError) {
  flush();
  const buffer = get().buffers[path];
  if (buffer?.dirty) patch(path, { trouble: texts.errors.unreadable(messageOf(error)) });
  else patch(path, { error: messageOf(error) });
}

export function close(path: string) {
  pending.delete(path);
  settled(path);
  set((state) => {
    const { [path]: _, ...buffers } = state.buffers;
    return { buffers, ...(state.active === path && { active: null, statement: null }) };
  });
  void keepUnsaved(path);
}

export async function save(path: string | null = get().active): Promise<void> {
  if (!path) return;
  await edits();
  flush();
  const buffer = get().buffers[path];
  if (!buffer?.dirty || !buffer.writable) return;
  const { text } = buffer;
  try {
    const etag = await api.write(path, text, buffer.etag);
    flush();
    const now = get().buffers[path];
    patch(path, { saved: text, etag, dirty: now?.text !== text, trouble: null });
    await keepUnsaved(path);
    say(texts.said.saved(path));
    await loadFiles();
  } catch (error) {
    if (error instanceof ApiError && error.status === 412) {
      await reread(path, true);
      const now = get().buffers[path];
      // only its date has changed, or it was deleted and is back: there is nothing to ask
      const same = now?.dirty && now.etag !== buffer.etag;
      if (same && !get().conflicts.some((one) => one.path === path)) await save(path);
    } else {
      const lost = error instanceof ConnectionLost;
      const trouble = lost ? texts.errors.later : texts.errors.unsaved(messageOf(error));
      if (lost || error instanceof ApiError) patch(path, { trouble });
      if (lost) say(`${texts.errors.notSaved(path)}. ${texts.connection.lost}`);
      tell(error, texts.errors.notSaved(path));
    }
  }
}

export async function saveAll(): Promise<void> {
  await edits();
  flush();
  for (const buffer of Object.values(get().buffers)) if (buffer.dirty) await save(buffer.path);
}

/** The answer to "Changed elsewhere". */
export async function settle(answer: "mine" | "theirs"): Promise<void> {
  const [conflict] = get().conflicts;
  if (!conflict) return;
  const { path, theirs, etag, saving } = conflict;
  settled(path);
  if (answer === "theirs") {
    if (theirs === null) close(path);
    else replaceText(path, theirs, { saved: theirs, etag });
  } else {
    flush();
    patch(path, { saved: theirs ?? "", etag, dirty: true });
    await keepUnsaved(path);
    if (saving) await save(path);
  }
}

// -- going places ------------------------------------------------------------------------------------

/** How often somebody has gone to a view or a file: an address that is older leaves them there. */
export const gone = { views: 0, files: 0 };

export function showView(view: View) {
  gone.views += 1;
  set({ view: existing(view), quiet: false });
}

/** The definition at the cursor. */
export function showDefinition(name: string | null) {
  if (get().statement !== name) set({ statement: name, quiet: true });
}

/** Opens a file at a place of its text. */
export async function goTo(place: Place, focus = true): Promise<void> {
  gone.files += 1;
  try {
    await open(place.path);
  } catch (error) {
    tell(error);
    return;
  }
  await leaveFor({ active: place.path, view: "Text", statement: null, quiet: false, drawer: null });
  withEditor((handle) => handle.reveal(place, focus));
}

export async function openFile(path: string, view?: View): Promise<void> {
  gone.files += 1;
  try {
    await open(path);
    const kind = get().files.find((file) => file.path === path)?.kind;
    await leaveFor({
      active: path,
      view: view ? existing(view) : viewFor(kind),
      statement: null,
      quiet: false,
      drawer: null,
    });
  } catch (error) {
    tell(error);
  }
}

/** Goes to the text of a definition, by its name. */
export async function goToDefinition(name: string): Promise<void> {
  const entry = get().check.outline.find((one) => one.name === name);
  if (!entry?.span) return;
  await goTo({ path: entry.file, ...entry.span });
  set({ statement: name });
}

export function select(selection: Selection | null) {
  set((state) => ({
    selection,
    // the one before stays marked until the new one is there
    why: selection ? state.why : null,
    question: null,
    clauses: [],
    ...(selection && {
      panels: { ...state.panels, rightOpen: true, whyOpen: true },
      drawer: state.narrow ? ("right" as const) : state.drawer,
    }),
  }));
}

/** Edits of a file as one change of its history; false if the editor does not show it. */
export function changeText(path: string, edits: readonly Edit[], step: Step | null): Promise<boolean> {
  return new Promise((resolve) => withEditor((handle) => resolve(handle.change(path, edits, step))));
}

export const undo = () => withEditor((handle) => handle.undo());
export const redo = () => withEditor((handle) => handle.redo());

// -- running -----------------------------------------------------------------------------------------

let runner: (() => void) | null = null;
let runWhenLoaded = false;

/** The run view says how a run is started; one that was asked for before starts then. */
export function setRunner(run: (() => void) | null) {
  runner = run;
  if (run && runWhenLoaded) {
    runWhenLoaded = false;
    run();
  }
}

/** Shows the run view and starts a run. */
export async function runNow(): Promise<void> {
  await edits();
  showView("Run");
  if (runner) runner();
  else runWhenLoaded = true;
}

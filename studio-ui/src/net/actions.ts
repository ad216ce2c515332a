/** Opening nets, firing transitions, taking firings back, runs; one call at a time, in the order they were asked for. */
import { ApiError, api, ConnectionLost } from "../api/client";
import type { NetChange, NetFiring, NetOpened, NetOrigin, NetState } from "../api/schema";
import type { NetMove } from "../api/types";
import {
  addWork,
  flush,
  goTo,
  loadFiles,
  messageOf,
  open,
  openFile,
  replaceText,
  say,
  tell,
  textOf,
  unsavedTexts,
  withEditor,
} from "../state/actions";
import { rulesOf } from "../state/program";
import { get, type Studio, set, useStudio } from "../state/store";
import { counted, sentences, texts } from "../texts";
import { enabledIn, logAfter, markingAfter } from "./log";
import {
  elementsOf,
  getNet,
  type NetView,
  newSession,
  type Options,
  type Session,
  setNet,
  type Trouble,
} from "./state";

const t = texts.net;

// -- which net ---------------------------------------------------------------------------------------

/** The file of a net that is shown, or "": the program. */
export function sourceOf({ files, active }: Studio): string {
  return files.some(({ path, kind }) => path === active && kind === "net") ? (active ?? "") : "";
}

/** What a net is made of; a net with another signature is an old one. */
export function signatureOf(state: Studio, source: string): string {
  const { files, buffers, project } = state;
  const now = (path: string) => {
    const buffer = buffers[path];
    const etag = files.find((file) => file.path === path)?.etag ?? "";
    return buffer?.dirty ? [path, textOf(path)] : [path, etag];
  };
  if (source) return JSON.stringify(now(source));
  const events = files.filter(({ kind }) => kind === "event").map(({ path, etag }) => [path, etag]);
  return JSON.stringify([rulesOf(project, files).map(now), project.program ?? null, events]);
}

const kept = new Map<string, Session>();

/** The part of the state that belongs to one net. */
function session(): Session {
  const state = getNet();
  const keys = Object.keys(newSession("")) as (keyof Session)[];
  return Object.fromEntries(keys.map((key) => [key, state[key]])) as unknown as Session;
}

function closed(id: string | null) {
  if (id) void api.closeNet(id).catch(() => undefined); // it may be closed already
}

/** Shows the net of what is open, and opens it if it is new or nothing was fired since it was made. */
export function follow() {
  const state = get();
  if (state.view !== "Net" || !state.ready) return;
  const source = sourceOf(state);
  if (source !== getNet().source) {
    kept.set(getNet().source, session());
    stopRun();
    setNet({ ...(kept.get(source) ?? newSession(source)), pointed: null, choosing: null, stale: false });
    set({ net: getNet().id });
  }
  const { signature, steps, id } = getNet();
  if (!source && state.check.state !== "done") return;
  const fresh = signatureOf(state, source);
  if (fresh === signature) return setNet({ stale: false });
  if (id && steps > 0) return setNet({ stale: true });
  void openNet();
}

let opening: AbortController | null = null;

/** Opens the net anew, from the texts as they are now. */
export async function openNet(): Promise<void> {
  const state = get();
  const source = sourceOf(state);
  opening?.abort();
  const mine = new AbortController();
  opening = mine;
  stopRun();
  const signature = signatureOf(state, source);
  const old = getNet().id;
  setNet({ signature, stale: false, choosing: null, pointed: null, opening: false });
  const missing = source ? null : missingIn(state);
  if (missing) {
    setNet({ ...newSession(source), signature, trouble: missing });
    set({ net: null });
    closed(old);
    return;
  }
  setNet({ opening: true });
  const { black, first, sink_exits, rows } = getNet().options;
  const options = source ? { path: source, black } : { black, first, sink_exits, rows };
  try {
    const opened = await api.openNet({ texts: textsOf(source), ...options }, mine.signal);
    if (mine.signal.aborted) return closed(opened.id);
    setNet({ ...openedSession(opened, source, signature), opening: false });
    set({ net: opened.id });
    closed(old);
    say(t.opened(opened.net.pages.length));
  } catch (error) {
    if (mine.signal.aborted) return;
    setNet({ ...newSession(source), signature, trouble: troubleOf(error, t.failed), opening: false });
    set({ net: null });
  }
}

/** The unsaved texts that a net is made of. */
export function textsOf(source: string): Record<string, string> {
  if (!source) return unsavedTexts();
  flush();
  const buffer = get().buffers[source];
  return buffer?.dirty ? { [source]: buffer.text } : {};
}

/** Why there can be no net, as far as the page knows. */
function missingIn({ check, files, project }: Studio): Trouble | null {
  const trouble = (title: string, text: string, action: Trouble["action"]) => {
    return { title, text, hint: null, problems: [], action };
  };
  if (!rulesOf(project, files).length) return trouble(t.noRules, t.noRulesText, "example");
  const errors = check.problems.filter(({ severity }) => severity === "error").length;
  if (errors) return trouble(t.failed, texts.run.errors(errors), "problems");
  const language = (path: string) => files.find((file) => file.path === path)?.language;
  if (!rulesOf(project, files).some((path) => language(path) === "epl"))
    return trouble(t.noEpl, t.noEplText, "example");
  return null;
}

function troubleOf(error: unknown, title: string): Trouble {
  if (!(error instanceof ApiError))
    return { title, text: messageOf(error), hint: null, problems: [], action: "open" };
  const { message, hint, problems } = error;
  return { title, text: message, hint, problems, action: "open" };
}

/** The net, with the page, choice and breakpoints of the one before, as far as they are in it. */
function openedSession(opened: NetOpened, source: string, signature: string): Session {
  const before = getNet();
  const { id, net, state, rows, problems } = opened;
  const elements = elementsOf(net);
  const known = (name: string | null) =>
    name !== null && (elements.places.has(name) || elements.transitions.has(name));
  const places = Object.entries(before.breaks.places).filter(([name]) => elements.places.has(name));
  return {
    ...newSession(source),
    signature,
    id,
    net,
    elements,
    rows,
    problems,
    still: state === null,
    marking: state?.changed ?? initialOf(net),
    enabled: state ? enabledIn(state) : {},
    rowCount: state?.rows ?? 0,
    page: net.pages.some(({ name }) => name === before.page) ? before.page : "",
    selected: known(before.selected) ? before.selected : null,
    breaks: {
      transitions: before.breaks.transitions.filter((name) => elements.transitions.has(name)),
      places: Object.fromEntries(places),
    },
  };
}

/** The tokens of a net that cannot be run. */
function initialOf(net: NetOpened["net"]): Session["marking"] {
  const places = net.pages.flatMap((page) => page.places);
  return Object.fromEntries(places.map(({ holder, initial }) => [holder, initial]));
}

/** Opens the net anew with other options. */
export function setOptions(change: Partial<Options>) {
  setNet(({ options }) => ({ options: { ...options, ...change } }));
  void openNet();
}

// -- calls, one after the other --------------------------------------------------------------------------

let chain: Promise<void> = Promise.resolve();

function queued(call: () => Promise<void>): Promise<void> {
  chain = chain.then(call).catch(tell);
  return chain;
}

/** The state after a move; null if it was refused, or another net is shown now. */
async function moved(move: NetMove): Promise<NetState | null> {
  const { id } = getNet();
  if (!id) return null;
  try {
    const state = await api.fire(id, move);
    if (getNet().id !== id) return null;
    setNet((now) => ({
      marking: markingAfter(now.marking, state),
      enabled: enabledIn(state),
      log: logAfter(now.log, state),
      steps: state.steps,
      row: state.row,
      rowCount: state.rows,
      seed: state.seed,
      stopped: null,
      choosing: null,
      trouble: null,
    }));
    return state;
  } catch (error) {
    if (getNet().id !== id || error instanceof ConnectionLost) return null;
    if (error instanceof ApiError && error.kind === "unknown-net") lost(error);
    else setNet({ trouble: { ...troubleOf(error, t.refused), action: null } });
    say(messageOf(error));
    return null;
  }
}

/** The server has closed the net: its drawing stays until it is opened again. */
function lost(error: ApiError) {
  setNet({ id: null, enabled: {}, trouble: troubleOf(error, t.gone) });
  set({ net: null });
}

/** The worker of nets has ended: all nets are gone. */
function workerEnded(message: string | null) {
  if (message === null) return;
  set({ netsEnded: null });
  kept.clear();
  stopRun();
  const { id } = getNet();
  if (id) lost(new ApiError(404, "unknown-net", message));
}

/** A single firing is shown as it happens, and told. */
function shown(state: NetState) {
  const firing = state.fired.at(-1);
  if (!firing) return;
  setNet(({ flash }) => ({ flash: flash + 1 }));
  say(toldOf(firing));
}

export function toldOf({ transition, derived }: NetFiring): string {
  return derived ? t.firedDerived(transition, derived.type) : t.fired(transition);
}

export function step(): Promise<void> {
  return queued(async () => {
    const state = await moved({ steps: 1 });
    if (state?.fired.length) shown(state);
    else if (state) ended(state);
  });
}

export function back(n = 1): Promise<void> {
  return queued(async () => {
    if (getNet().steps < n) return;
    const state = await moved({ back: n });
    if (state) say(t.backAt(state.steps));
  });
}

export function reset(seed: number | null = null): Promise<void> {
  stopRun();
  return queued(async () => {
    if (await moved({ reset: seed })) say(t.wasReset);
  });
}

export function fire(transition: string, binding?: Readonly<Record<string, string>>): Promise<void> {
  return queued(async () => {
    const state = await moved({ transition, ...(binding && { binding: { ...binding } }) });
    if (state) shown(state);
  });
}

/** A transition is clicked, or Enter pressed on it: it fires, or a binding is asked for. */
export function act(transition: string) {
  const choice = getNet().enabled[transition];
  if (!choice) return;
  if (choice.count > 1 || choice.more) setNet({ choosing: transition });
  else void fire(transition, choice.bindings[0]);
}

// -- runs ------------------------------------------------------------------------------------------------

let wanted = false;

export function stopRun() {
  wanted = false;
}

export type Goal = { end: true } | { steps: number } | { row: number };

/** Fires until the goal is reached, a breakpoint stops it, or it is stopped by hand. */
export function run(goal: Goal): Promise<void> {
  return queued(async () => {
    const { transitions, places } = getNet().breaks;
    const breaks = { transitions: [...transitions], places: { ...places } };
    const begin = getNet().steps;
    wanted = true;
    setNet({ running: true });
    try {
      for (;;) {
        const left = "steps" in goal ? { steps: goal.steps - (getNet().steps - begin) } : goal;
        const state = await moved({ ...left, breaks });
        if (!state) return;
        if (state.stopped !== "time") return ended(state);
        if (!wanted) return setNet({ stopped: t.stopped.stop });
      }
    } finally {
      wanted = false;
      setNet({ running: false });
    }
  });
}

function ended(state: NetState) {
  const text =
    state.stopped === "break" ? t.stopped.break(state.at ?? "") : t.stopped[state.stopped ?? "end"];
  setNet({ stopped: text, ...(state.stopped === "break" && { selected: state.at }) });
  say(`${text}: ${counted(state.steps, "firing")}`);
}

/** Goes to the state behind a firing of the log, forth or back. */
export function goToStep(step: number): Promise<void> {
  const { steps } = getNet();
  if (step < steps) return back(steps - step);
  return step > steps ? run({ steps: step - steps }) : Promise.resolve();
}

// -- choices ------------------------------------------------------------------------------------------------

export function choose(name: string | null) {
  if (getNet().selected !== name) setNet({ selected: name });
}

/** Chooses an element, and shows the page that it is on. */
export function showElement(name: string) {
  const { page, elements } = getNet();
  const own = elements.pages.get(name) ?? "";
  setNet({ selected: name, ...(page && page !== own && { page: own }) });
}

export function setPage(page: string) {
  setNet({ page, pointed: null });
}

export function setBreak(name: string, on: boolean, tokens = 1) {
  setNet(({ breaks, elements }) => {
    if (elements.transitions.has(name)) {
      const others = breaks.transitions.filter((one) => one !== name);
      return { breaks: { ...breaks, transitions: on ? [...others, name] : others } };
    }
    const { [name]: _, ...places } = breaks.places;
    return { breaks: { ...breaks, places: on ? { ...places, [name]: tokens } : places } };
  });
}

export function hasBreak(name: string): boolean {
  const { transitions, places } = getNet().breaks;
  return transitions.includes(name) || places[name] !== undefined;
}

/** Goes to the text that an element comes from. */
export function goToOrigin({ file, span }: NetOrigin) {
  if (file && span) void goTo({ path: file, ...span });
}

/** The text of a file of the project, to show a part of it. */
export async function loadText(path: string): Promise<string | null> {
  await open(path);
  const buffer = get().buffers[path];
  return buffer && buffer.error === null ? textOf(path) : null;
}

// -- editing ---------------------------------------------------------------------------------------------------

/** Why the elements of the net cannot be changed; null if they can. Those of rules are changed in the rules. */
export function whyFixed({ source, id, running, stale }: NetView, buffer: { writable: boolean } | undefined) {
  if (!source || !id) return t.fixedRules;
  if (buffer && !buffer.writable) return t.fixedFile;
  if (stale) return t.stale;
  return running ? t.fixedRunning : null;
}

/** The last edit, which is on its way to the text until it is done. */
let editing: Promise<void> = Promise.resolve();
addWork(() => editing);

/** Changes an element by its text; the file's text follows, unsaved. Returns what is wrong with it. */
export async function edit(change: NetChange): Promise<string | null> {
  let wrong: string | null = null;
  editing = queued(async () => {
    const { id, source } = getNet();
    if (!id || !source) return;
    try {
      const opened = await api.editNet(id, [change]);
      if (getNet().id !== id) return;
      await open(source);
      const text = await fileText(id, source);
      withEditor((editor) => editor.prepare(source)); // so that it can be undone there
      replaceText(source, text);
      setNet(openedSession(opened, source, signatureOf(get(), source)));
      say(t.edited(change.element));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.kind === "unknown-net") lost(error);
      wrong = error.problems.length
        ? error.problems.map(({ message, hint }) => sentences(message, hint)).join(" ")
        : messageOf(error);
    }
  });
  await editing;
  return wrong;
}

/** The net as the text of its file. CPN Tools reads ISO-8859-1: other characters are written by their numbers. */
async function fileText(id: string, path: string): Promise<string> {
  const file = await api.exportNet(id, path.endsWith(".cpn") ? "cpn" : "net.json");
  if (!path.endsWith(".cpn")) return file.text();
  const text = new TextDecoder("iso-8859-1").decode(await file.arrayBuffer());
  return text.replace(/[^\0-\x7f]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Writes the net of the program into a file of the project, where it can be changed, and opens that. */
export async function saveAsFile(): Promise<void> {
  const { id, net } = getNet();
  if (!id || !net) return;
  const stem = net.name.replace(/[^A-Za-z0-9_-]/g, "_") || "net";
  const taken = (path: string) => get().files.some((file) => file.path === path);
  let path = `${stem}.net.json`;
  for (let n = 2; taken(path); n++) path = `${stem}_${n}.net.json`;
  try {
    await api.write(path, await fileText(id, path), null);
    await loadFiles();
    await openFile(path, "Net");
    say(t.asFileDone(path));
  } catch (error) {
    tell(error);
  }
}

// -- what the view follows ---------------------------------------------------------------------------------------

useStudio.subscribe((state) => state.view, follow);
useStudio.subscribe((state) => state.active, follow);
useStudio.subscribe((state) => state.ready, follow);
useStudio.subscribe((state) => state.files, follow);
useStudio.subscribe((state) => state.project, follow);
useStudio.subscribe((state) => state.check.state, follow);
useStudio.subscribe((state) => state.netsEnded, workerEnded);
follow();

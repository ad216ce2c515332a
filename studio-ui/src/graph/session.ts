/** Edits of a drawing: to the server, from there into the text, and into the one history of text and drawing. */
import { ApiError, api, ConnectionLost } from "../api/client";
import type { Canvas, CanvasAnswer, Problem, Project } from "../api/types";
import {
  addWork,
  changeText,
  followTexts,
  messageOf,
  notify,
  say,
  takeSteps,
  tell,
  textOf,
  unsavedTexts,
} from "../state/actions";
import { allWritten, changeProject } from "../state/project";
import { get, set, useStudio } from "../state/store";
import * as browser from "../state/unsaved";
import { texts } from "../texts";
import { type Change, newCanvas, type Places, placesOf, renamedIds, sameDrawing, withPlaces } from "./model";
import { draftOf, drawable, type GraphState, getGraph, setGraph, statementOf } from "./state";

/** What a step sets: drafts and places by statement (null: none), and what is shown after it. */
interface Kept {
  path: string;
  drafts: Record<string, Canvas | null>;
  layout: Record<string, Places | null>;
  chosen: string | null;
  selected: readonly string[];
}

interface Job {
  id: string;
  change: Change;
  /** a draft that waits for an answer is sent again, as it is */
  again?: boolean;
}

/** A draft only because nobody has answered: it becomes text when somebody does. */
interface Unanswered {
  path: string;
  id: string;
  /** what the text said of the statement: if it says something else by then, people decide */
  base: Canvas | null;
}

const DELAY = 150;
let unanswered: Unanswered[] = [];
/** How long a server or worker that has given no answer is left alone, in ms; doubled each time. */
const SHORTEST = 500;
const LONGEST = 15_000;
let pause = SHORTEST;
let asking: ReturnType<typeof setTimeout> | undefined;
let queue: Job[] = [];
let working = false;
let idle: (() => void)[] = [];
/** Grows with each text or drawing: an answer to an older one changes nothing. */
let version = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

// -- what is shown -------------------------------------------------------------------------------------

/** The drawing of a statement as text and sidecar say. */
function committed(state: GraphState, id: string): Canvas | null {
  const draft = draftOf(state, id);
  if (draft) return draft;
  const canvas = statementOf(state, id)?.canvas;
  return canvas ? withPlaces(canvas, state.path ? state.layout[state.path]?.[id] : undefined) : null;
}

/** Shows the chosen statement with all edits that wait. */
function show() {
  const state = getGraph();
  const { chosen } = state;
  let canvas = chosen ? committed(state, chosen) : null;
  if (canvas) for (const job of queue) if (job.id === chosen) canvas = job.change(canvas);
  const now = canvas;
  const still = state.selected.filter((id) => now?.nodes.some((one) => one.id === id));
  setGraph({
    canvas,
    waiting: queue.length > 0,
    ...(still.length !== state.selected.length && { selected: still }),
    ...(state.link && !now?.links.some((one) => one.from === state.link) && { link: null }),
  });
  tellProblems();
}

/** The problems of drawings, for the list of all problems. */
function tellProblems() {
  const { path, problems, drafts, faults } = getGraph();
  const own = path ? Object.keys(drafts[path] ?? {}) : [];
  const drawn: Problem[] = [
    ...problems.filter((one) => !own.includes(one.definition ?? "")),
    ...own.flatMap((id) =>
      (faults[id] ?? []).map((one) => ({
        ...one,
        file: one.file ?? path,
        definition: one.definition ?? id,
        span: null, // a draft is in no text
      })),
    ),
  ];
  if (JSON.stringify(drawn) !== JSON.stringify(get().drawn)) set({ drawn });
}

export function choose(id: string | null) {
  if (getGraph().chosen === id) return;
  setGraph({ chosen: id, selected: [], link: null, row: null });
  if (id && get().view === "Graph") set({ statement: id, quiet: false });
  show();
}

/** The statement that the page is about, if it can be drawn; else one that can. */
function follow() {
  const state = getGraph();
  const all = drawable(state);
  const wanted = get().statement;
  const next =
    wanted && all.includes(wanted)
      ? wanted
      : state.chosen && all.includes(state.chosen)
        ? state.chosen
        : all[0];
  if (next !== state.chosen) setGraph({ chosen: next ?? null, selected: [], link: null, row: null });
  if (next && next !== wanted && get().view === "Graph") set({ statement: next, quiet: true });
  show();
}

// -- reading the text ----------------------------------------------------------------------------------

/** The views that show the statements of the file. */
function reads(): boolean {
  const { view } = get();
  return view === "Graph" || view === "Domain";
}

/** Reads the statements of the text as it is now. */
export async function readDrawings(): Promise<void> {
  if (!working) await read();
}

function isDrawn(path: string | null): path is string {
  return path?.toLowerCase().endsWith(".epl") ?? false;
}

/** The types that other statements and files make: drawings are checked again when they change. */
function typesKey(): string {
  return get()
    .check.outline.map((one) => `${one.name}:${one.output}`)
    .join();
}

let readWith = "";

/** No answer now, but one later: of no server, of a worker that restarts, of a token that is another one. */
function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionLost) return true;
  return error instanceof ApiError && [401, 409, 429, 502, 503, 504].includes(error.status);
}

/** Asks again in a while; without a server when there is one. */
function askLater() {
  clearTimeout(asking);
  asking = setTimeout(() => {
    if (working) askLater();
    else if (get().connection === "connected") void read();
  }, pause);
  pause = Math.min(2 * pause, LONGEST);
}

/** False if there was no answer. */
async function read(): Promise<boolean> {
  const path = get().active;
  if (!isDrawn(path) || !get().buffers[path]) return true;
  const mine = ++version;
  const text = textOf(path);
  readWith = typesKey();
  let answered = true;
  try {
    const { statements, problems } = await api.graph(path, text, unsavedTexts());
    if (mine !== version) return true;
    setGraph({ path, text, statements, problems, failed: null });
    await checkDrafts(mine);
    pause = SHORTEST;
    if (mine === version) sendAgain(path);
  } catch (error) {
    answered = !isPassing(error);
    if (!answered) askLater();
    if (mine !== version || error instanceof ConnectionLost) return answered;
    // what was drawn before stays until there is an answer
    if (answered || getGraph().path !== path)
      setGraph({ path, text, statements: [], problems: [], failed: messageOf(error) });
  }
  if (mine === version) follow();
  return answered;
}

function unansweredOf(path: string): Unanswered[] {
  return unanswered.filter((one) => one.path === path);
}

/** Sends the drafts of a file that nobody has answered yet. */
function sendAgain(path: string) {
  const state = getGraph();
  const own = unansweredOf(path);
  unanswered = unanswered.filter((one) => one.path !== path);
  for (const { id, base } of own) {
    const now = statementOf(state, id)?.canvas ?? null;
    const same = base && now ? sameDrawing(base, now) : base === now;
    if (same && draftOf(state, id)) queue.push({ id, change: (canvas) => canvas, again: true });
  }
  if (queue.length) void work();
}

/** What the drafts of the file lack now. */
async function checkDrafts(mine: number) {
  const { path, text, drafts } = getGraph();
  if (!path || text === null) return;
  const faults: Record<string, Problem[]> = {};
  for (const [id, canvas] of Object.entries(drafts[path] ?? {})) {
    const inText = statementOf(getGraph(), id) ? id : null;
    const answer = await api.canvas(path, text, unsavedTexts(), inText, canvas);
    if (mine !== version) return;
    faults[id] = answer.problems;
  }
  setGraph({ faults });
}

function readSoon(delay = DELAY) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (working || queue.length) return readSoon();
    const { path, text } = getGraph();
    const same = path === get().active && path !== null && text === textOf(path) && readWith === typesKey();
    if (!same) void read();
  }, delay);
}

// -- editing -------------------------------------------------------------------------------------------

export function isWritable(): boolean {
  const { active, buffers } = get();
  return Boolean(active && buffers[active]?.writable);
}

/** Changes the drawing that is shown; returns it as it is then. */
export function edit(change: Change, selected?: readonly string[]): Canvas | null {
  const { chosen, canvas } = getGraph();
  if (!chosen || !canvas || !isWritable()) return canvas;
  const next = change(canvas);
  if (next === canvas) return canvas;
  queue.push({ id: chosen, change });
  version += 1;
  setGraph({ canvas: next, waiting: true, ...(selected && { selected, link: null }) });
  void work();
  return next;
}

/** One edit after the other, each against the text that the one before it has left. */
async function work() {
  if (working) return;
  working = true;
  for (let job = queue[0]; job; job = queue[0]) {
    const { path } = getGraph();
    const over = await done(job).catch((error) => {
      tell(error, texts.graph.notDrawn);
      return true;
    });
    // another file may be shown now, with edits of its own
    if (over && getGraph().path === path) queue.shift();
  }
  working = false;
  show();
  for (const call of idle) call();
  idle = [];
  readSoon(0);
}

/** The edit is kept as a draft, and sent again when somebody answers. */
async function keep(path: string, job: Job, next: Canvas) {
  const state = getGraph();
  const base = statementOf(state, job.id)?.canvas ?? null;
  unanswered = [
    ...unanswered.filter((one) => one.path !== path || one.id !== job.id),
    { path, id: job.id, base },
  ];
  if (next !== draftOf(state, job.id)) await step(path, job.id, { draft: next });
  askLater();
}

/** True if the edit is done or has nothing to do; false if it is to be tried again, on a newer text. */
async function done(job: Job): Promise<boolean> {
  const { path } = getGraph();
  if (!path || path !== get().active) return true;
  const answered = getGraph().text === textOf(path) || (await read());
  const state = getGraph();
  if (answered && state.text !== textOf(path)) return false;
  const text = state.text ?? "";
  const before = committed(state, job.id);
  if (!before) {
    notify("error", texts.graph.notDrawn, state.failed ?? texts.graph.isGone(job.id));
    return true;
  }
  if (job.again && !draftOf(state, job.id)) return true;
  const next = job.change(before);
  if (next === before && !job.again) return true;
  if (!answered) {
    await keep(path, job, next);
    return true;
  }
  if (!job.again && sameDrawing(before, next)) {
    await step(path, job.id, draftOf(state, job.id) ? { draft: next } : { places: placesOf(next) });
    return true;
  }
  const inText = statementOf(state, job.id) ? job.id : null;
  let answer: CanvasAnswer;
  try {
    answer = await api.canvas(path, text, unsavedTexts(), inText, next);
  } catch (error) {
    if (!isPassing(error)) throw error;
    await keep(path, job, next);
    return true;
  }
  pause = SHORTEST;
  if (textOf(path) !== text) return false;
  if (answer.text === null) {
    setGraph(({ faults }) => ({ faults: { ...faults, [job.id]: answer.problems } }));
    if (!job.again) await step(path, job.id, { draft: next });
  } else await write(path, job.id, next, answer);
  return true;
}

/** A drawing without errors becomes text. */
async function write(path: string, id: string, drawn: Canvas, answer: CanvasAnswer) {
  const now = answer.statement ?? id;
  const { renamed, statements, problems } = answer;
  const places = placesOf(renamedIds(drawn, renamed));
  const state = getGraph();
  const selected = state.selected.map((one) => renamed[one] ?? one);
  const kept = state.drafts[path]?.[id] ?? null;
  const old = state.layout[path]?.[id] ?? null;
  const before: Kept = {
    path,
    drafts: { [id]: kept, ...(now !== id && { [now]: null }) },
    layout: { [id]: old, ...(now !== id && { [now]: null }) },
    chosen: id,
    selected: state.selected,
  };
  const after: Kept = {
    path,
    drafts: { [id]: null },
    layout: { ...(now !== id && { [id]: null }), [now]: Object.keys(places).length ? places : null },
    chosen: now,
    selected,
  };
  // edits that wait were made with the ids before
  const names = Object.fromEntries(Object.entries(renamed).map(([from, to]) => [to, from]));
  queue = queue.map((job) =>
    job.id !== id
      ? job
      : { ...job, id: now, change: (canvas) => renamedIds(job.change(renamedIds(canvas, names)), renamed) },
  );
  const others = state.problems.filter((one) => one.definition !== id && one.definition !== now);
  const told = problems.map((one) => ({ ...one, definition: now }));
  setGraph({ text: answer.text, statements, problems: [...others, ...told] });
  if (!(await changeText(path, answer.edits, { view: "Graph", before, after })))
    throw new Error(texts.graph.notShown);
}

/** A step that changes no text: of a draft, or of places. */
async function step(path: string, id: string, change: { draft?: Canvas | null; places?: Places }) {
  const state = getGraph();
  const kept = (to: typeof change, selected: readonly string[]): Kept => ({
    path,
    drafts: "draft" in to ? { [id]: to.draft ?? null } : {},
    layout: "places" in to ? { [id]: to.places ?? null } : {},
    chosen: id,
    selected,
  });
  const before = {
    ...("draft" in change && { draft: state.drafts[path]?.[id] ?? null }),
    ...("places" in change && { places: state.layout[path]?.[id] }),
  };
  const made = {
    view: "Graph" as const,
    before: kept(before, state.selected),
    after: kept(change, state.selected),
  };
  if (!(await changeText(path, [], made))) take(made.after);
}

/** What a step says is done: when it is made, undone, or made again. */
function take(after: unknown) {
  const { path, drafts, layout, chosen, selected } = after as Kept;
  const without = <T>(old: Record<string, T> = {}, change: Record<string, T | null>): Record<string, T> =>
    Object.fromEntries(
      Object.entries({ ...old, ...change }).filter((entry): entry is [string, T] => entry[1] !== null),
    );
  setGraph((state) => ({
    drafts: { ...state.drafts, [path]: without(state.drafts[path], drafts) },
    layout: { ...state.layout, [path]: without(state.layout[path], layout) },
    ...(chosen !== null && { chosen, selected }),
  }));
  if (chosen !== null && get().view === "Graph" && get().statement !== chosen)
    set({ statement: chosen, quiet: true });
  void persist(path);
  if (working) return;
  // undone or made again: the text may have changed, and what drafts lack is asked anew
  version += 1;
  show();
  // after the editor has told of its new text
  queueMicrotask(() => void read());
}

// -- new patterns and drafts -----------------------------------------------------------------------------

export async function addPattern(name: string): Promise<void> {
  const path = get().active;
  if (!isDrawn(path)) return;
  if (getGraph().path !== path) await read();
  const canvas = newCanvas(name);
  const before: Kept = {
    path,
    drafts: { [name]: null },
    layout: {},
    chosen: getGraph().chosen,
    selected: [],
  };
  const after: Kept = {
    path,
    drafts: { [name]: canvas },
    layout: {},
    chosen: name,
    selected: ["ComplexEvent"],
  };
  const made = { view: "Graph" as const, before, after };
  if (!(await changeText(path, [], made))) take(after);
}

/** The drawing is again what the text says. */
export async function discardDraft(): Promise<void> {
  const { path, chosen } = getGraph();
  if (!path || !chosen) return;
  await step(path, chosen, { draft: null });
  say(texts.graph.discarded(chosen));
}

/** All nodes stand where the layout puts them. */
export function arrange() {
  edit((canvas) => withPlaces(canvas, {}));
  setGraph(({ fits }) => ({ fits: fits + 1 }));
}

// -- the sidecar -----------------------------------------------------------------------------------------

let writing = false;

function filled<T>(
  all: Record<string, T> | undefined,
  path: string,
  own: T | undefined,
): Record<string, T> | undefined {
  const { [path]: _, ...rest } = all ?? {};
  const next = own && Object.keys(own).length ? { ...rest, [path]: own } : rest;
  return Object.keys(next).length ? next : undefined;
}

function withDrawings(project: Project, path: string): Project {
  const { drafts, layout } = getGraph();
  const own = Object.entries(drafts[path] ?? {}).map(([id, canvas]) => [id, { canvas }]);
  const { drafts: _, layout: __, ...rest } = project;
  const nextDrafts = filled(project.drafts, path, Object.fromEntries(own));
  const nextLayout = filled(project.layout, path, layout[path]);
  return {
    version: 1,
    ...rest,
    ...(nextDrafts && { drafts: nextDrafts }),
    ...(nextLayout && { layout: nextLayout }),
  };
}

let wanted = new Set<string>();
/** Files whose drafts and places the server has refused: what is drawn here stays. */
const refused = new Set<string>();
let written = 0;

/** Drafts and places are kept at once, one file after the other; the last state counts. */
async function persist(path: string): Promise<void> {
  wanted.add(path);
  if (writing) return;
  writing = true;
  const all = new Set<string>();
  while (wanted.size) {
    const paths = wanted;
    wanted = new Set();
    for (const one of paths) all.add(one);
    for (const one of paths) {
      const { project } = get();
      if (stable(withDrawings(project, one)) === stable(project)) continue;
      if (await changeProject((now) => withDrawings(now, one))) refused.delete(one);
      else refused.add(one);
    }
  }
  writing = false;
  written = Date.now();
  for (const one of all) void keepInBrowser(one);
}

/** Beside the texts of a project in the browser, and not among them. */
const drawingsOf = (mark: string) => `${mark} drawings`;
/** Files whose drawings the browser keeps. */
const inBrowser = new Set<string>();

/** What `studio.json` has not yet is kept in the browser, so that a page that is closed or reloaded does not lose it. */
async function keepInBrowser(path: string): Promise<void> {
  if (allWritten() && !refused.size) return forgetInBrowser();
  inBrowser.add(path);
  const { drafts, layout } = getGraph();
  const own = { drafts: drafts[path] ?? {}, layout: layout[path] ?? {}, unanswered: unansweredOf(path) };
  const entry = { project: drawingsOf(get().mark), path, text: JSON.stringify(own), saved: "", etag: null };
  await browser.keep(entry).catch((error) => tell(error, texts.errors.notKept));
}

async function forgetInBrowser(): Promise<void> {
  const paths = [...inBrowser];
  inBrowser.clear();
  for (const path of paths)
    await browser.forget(drawingsOf(get().mark), path).catch((error) => tell(error, texts.errors.notKept));
}

/** Drawings that the browser has kept come back, and go to `studio.json`. */
async function restore(): Promise<void> {
  for (const { path, text } of await browser.kept(drawingsOf(get().mark)).catch(() => [])) {
    const own = JSON.parse(text);
    inBrowser.add(path);
    unanswered = [...unanswered.filter((one) => one.path !== path), ...own.unanswered];
    setGraph(({ drafts, layout }) => ({
      drafts: { ...drafts, [path]: own.drafts },
      layout: { ...layout, [path]: own.layout },
    }));
    void persist(path);
    if (reads() && path === get().active) void read();
  }
}

/** A value as text that does not depend on the order of members. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    one && typeof one === "object" && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

/** How long an answer may come that is older than what was written. */
const ECHO = 1500;
let later: ReturnType<typeof setTimeout> | undefined;

/** Takes drafts and places from the sidecar, unless newer ones were just written. */
function adopt() {
  clearTimeout(later);
  if (writing || working || Date.now() - written < ECHO) {
    later = setTimeout(adopt, ECHO);
    return;
  }
  const { project, projectWrong } = get();
  if (projectWrong !== null) return;
  const state = getGraph();
  const own = <T>(of: Record<string, T>) =>
    Object.fromEntries(Object.entries(of).filter(([path]) => refused.has(path)));
  const kept = Object.fromEntries(
    Object.entries(project.drafts ?? {}).map(([path, own]) => [
      path,
      Object.fromEntries(Object.entries(own).map(([id, { canvas }]) => [id, canvas])),
    ]),
  );
  const drafts = { ...kept, ...own(state.drafts) };
  const layout = { ...project.layout, ...own(state.layout) };
  const part = (of: Record<string, object>) =>
    stable(Object.fromEntries(Object.entries(of).filter(([, own]) => Object.keys(own).length)));
  if (part(drafts) === part(state.drafts) && part(layout) === part(state.layout)) return;
  setGraph({ drafts, layout });
  if (reads()) void read();
}

// -- start -------------------------------------------------------------------------------------------------

takeSteps("Graph", take);
addWork(() => (working ? new Promise((resolve) => idle.push(resolve)) : Promise.resolve()));
followTexts((path) => {
  if (path !== get().active || !reads()) return;
  if (!working) readSoon();
});
useStudio.subscribe((state) => state.project, adopt);
useStudio.subscribe(
  (state) => `${state.view}\n${state.active}\n${Boolean(state.active && state.buffers[state.active])}`,
  () => {
    const { active } = get();
    if (!reads()) return;
    if (active !== getGraph().path) {
      queue = [];
      setGraph({
        path: null,
        text: null,
        statements: [],
        problems: [],
        faults: {},
        chosen: null,
        canvas: null,
        selected: [],
      });
      tellProblems();
    }
    readSoon(0);
  },
);
useStudio.subscribe(
  (state) => state.statement,
  (statement) => {
    if (get().view === "Graph" && statement && drawable(getGraph()).includes(statement)) choose(statement);
  },
);
useStudio.subscribe(
  (state) => state.check.state,
  (state) => {
    if (state === "done" && reads()) readSoon(0);
  },
);
useStudio.subscribe(
  (state) => state.connection,
  (state) => {
    if (state === "connected" && (reads() || unanswered.length)) void read();
  },
);

useStudio.subscribe(
  (state) => state.projectEtag,
  () => {
    if (allWritten() && !refused.size) void forgetInBrowser();
  },
);

let begun = false;

/** What the project and the browser have of drawings, once both are known. */
function takeKept() {
  if (begun || !get().ready) return;
  begun = true;
  void restore();
}
useStudio.subscribe((state) => state.ready, takeKept);

/** Called when the view is first shown. */
export function begin() {
  adopt();
  takeKept();
  readSoon(0);
}

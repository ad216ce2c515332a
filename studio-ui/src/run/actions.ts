/** Starting and following runs, choosing events and detections. */
import { ApiError, api, ConnectionLost } from "../api/client";
import type { Job, Problem } from "../api/types";
import { loadFiles, say, select, setRunner, tell, unsavedTexts } from "../state/actions";
import { changeProject } from "../state/project";
import { get, type Studio, set, useStudio } from "../state/store";
import { texts } from "../texts";
import type { Snapshot } from "./changed";
import {
  type EventEntry,
  entriesOf,
  entryFor,
  formatEntry,
  withEntry,
  withEvents,
  withOption,
} from "./events";
import { type Mark, type Picture, pictureOf } from "./lanes";
import { Latest } from "./latest";
import { optionsNamed } from "./messages";
import { fieldText, fieldValue, firstWrong, problemOf, titleOf } from "./options";
import { orderNow } from "./order";
import { rowsOf } from "./rows";
import { getRun, type Marked, markedOf, type Refused, resultOf, setRun, useRun, viewOf } from "./state";
import { Clock, type Range, zoneOf } from "./time";
import { same, showing, within } from "./view";

const ENDED = new Set(["done", "failed", "cancelled"]);

// -- the texts that are run --------------------------------------------------------------------------

/** What the program's rules are now. */
export function snapshot(state: Studio = get()): Snapshot {
  const { files, buffers, project } = state;
  const chosen = project.program?.rules;
  const out: Snapshot = {};
  for (const file of files) {
    if (file.kind !== "rules" || !(chosen ? chosen.includes(file.path) : file.in_program)) continue;
    const buffer = buffers[file.path];
    out[file.path] = buffer
      ? { text: buffer.text, etag: buffer.etag ?? "", dirty: buffer.dirty }
      : { text: null, etag: file.etag };
  }
  return out;
}

// -- runs ----------------------------------------------------------------------------------------------

export async function startRun(): Promise<void> {
  const before = get().job;
  if (getRun().starting || (before && before.kind === "run" && !ENDED.has(before.state))) return;
  keepTyped();
  const unsaved = unsavedTexts();
  const { check, project } = get();
  const errors = check.state === "done" ? check.problems.filter((one) => one.severity === "error").length : 0;
  if (errors) {
    return refuse({
      title: texts.run.errors(errors),
      text: texts.run.errorsText,
      hint: null,
      problems: true,
    });
  }
  if (!Object.keys(snapshot()).length)
    return refuse({
      title: texts.run.noRules,
      text: texts.run.noRulesText,
      hint: null,
      quiet: true,
      rules: true,
    });
  const entries = entriesOf(get());
  if (!entries.length)
    return refuse({ title: texts.run.chooseTitle, text: texts.run.chooseText, hint: null, quiet: true });
  const wrong = wrongOption();
  if (wrong) {
    setRun({ wanted: wrong.name });
    const title = texts.run.option.wrong(titleOf(wrong.name));
    return refuse({ title, text: wrong.text, hint: null, option: wrong.name });
  }
  setRun({ starting: true, refused: null, snapshot: snapshot(), began: Date.now(), ended: null, peek: null });
  try {
    const { id } = await api.start("run", unsaved, entries.map(formatEntry), project.program?.options ?? {});
    own = id;
    const job = await api.job(id);
    setRun({ starting: false });
    // the stream of updates may have been faster
    set((state) => ({ job: state.job?.id === id ? state.job : job, selection: null }));
    keepRun();
  } catch (error) {
    setRun({ starting: false });
    if (error instanceof ApiError) {
      const problems = error.problems.some((one) => one.file !== null && one.row === null);
      tellOptions(error.problems);
      refuse({ title: texts.run.refused, text: error.message, hint: error.hint, problems });
    } else tell(error); // of a lost connection the banner tells
  }
}

function refuse(refused: Refused) {
  setRun({ refused, began: null });
  if (refused.problems) showProblems();
  say(refused.title);
}

// -- options -------------------------------------------------------------------------------------------

/** The option that keeps a run from starting. */
function wrongOption() {
  const { about, project } = get();
  return firstWrong(about?.options ?? [], project.program?.options ?? {}, getRun().typed);
}

/** What is typed into a field; null: it is the project's again. */
export function typeOption(name: string, text: string | null) {
  const { [name]: _, ...others } = getRun().typed;
  setRun({ typed: text === null ? others : { ...others, [name]: text } });
}

/** Makes what was typed the project's, but for what is wrong: that stays to be mended. */
export function keepTyped() {
  for (const info of get().about?.options ?? []) {
    const options = get().project.program?.options ?? {};
    const text = getRun().typed[info.name];
    const found = text === undefined ? null : fieldValue(info, text);
    if (text === undefined || !found || problemOf(info, text, options)) continue;
    typeOption(info.name, null);
    if (fieldText(found.value) === fieldText(options[info.name])) continue;
    void changeProject((now) => withOption(now, info.name, found.value));
  }
}

/** Shows what the server says of options at their fields. */
export function tellOptions(problems: readonly Problem[]) {
  const options = JSON.stringify(get().project.program?.options ?? {});
  setRun({ told: { options, of: optionsNamed(problems) } });
}

/** A run that an option has kept from starting says so only while that is wrong. */
function mended() {
  if (getRun().refused?.option && !wrongOption()) setRun({ refused: null });
}

export function showProblems() {
  set((state) => ({ panels: { ...state.panels, bottomOpen: true } }));
}

export async function cancelRun(): Promise<void> {
  const { job } = get();
  if (!job || ENDED.has(job.state)) return;
  try {
    await api.cancel(job.id);
    const now = get().job;
    if (now?.id === job.id && !ENDED.has(now.state)) set({ job: { ...now, state: "cancelled" } });
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 409)) await refresh(job.id);
    else tell(error);
  }
}

async function refresh(id: string): Promise<void> {
  try {
    const job = await api.job(id);
    if (get().job?.id === id) set({ job });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) set({ job: null });
    else if (!(error instanceof ConnectionLost)) tell(error);
  }
}

/** The run that this page has started. */
let own: string | null = null;

let asking: ReturnType<typeof setInterval> | undefined;

/** Takes what has become of the run; without a word of updates for a while it asks. */
function follow(job: Job | null, before: Job | null) {
  if (job?.kind !== "run") return;
  const running = !ENDED.has(job.state);
  clearInterval(asking);
  if (running) asking = setInterval(() => void refresh(job.id), 2000);
  if (getRun().job !== job.id) {
    setRun({ job: job.id, ended: null });
    // what another page runs may be other texts than those here
    if (own !== job.id && !getRun().starting) setRun({ snapshot: null, began: null });
  }
  if (running || (before?.id === job.id && before.state === job.state)) return;
  setRun({ ended: Date.now() });
  if (own === job.id) keepRun();
  if (job.state === "done") show(job);
  else if (job.state === "failed") {
    tellOptions(job.problems);
    say(texts.run.failed);
  } else say(texts.run.cancelled);
}

function show(job: Job) {
  const result = resultOf(job);
  if (!result) return;
  timeline.drop();
  const { shown } = getRun();
  setRun({
    before: shown !== job.id ? shown : null,
    shown: job.id,
    comparing: false,
    result,
    order: orderNow(result.found),
    gone: false,
    ...viewOf(result, zoneOf(get().project)),
    picture: null,
    pictureError: null,
    brush: null,
    types: [],
    chosen: null,
    constituents: [],
    pointed: null,
    by: "",
    attributes: [],
  });
  say(texts.run.done(result.total));
  askTimeline();
}

// -- after a reload --------------------------------------------------------------------------------------

const KEPT = "occurs-run";

/** Keeps which run is shown, for this page alone. */
function keepRun() {
  const { snapshot, began, ended, filter, types, range, by } = getRun();
  const view = getRun().shown === own ? { filter, types, range, by } : {};
  const kept = { job: own, snapshot, began, ended, selection: get().selection, view };
  try {
    sessionStorage.setItem(`${KEPT}:${get().mark}`, JSON.stringify(kept));
  } catch {
    // a browser that keeps nothing: the run is not there after a reload
  }
}

/** Shows the run that was shown before a reload, if the server still has it. */
async function restoreRun() {
  if (get().job) return;
  const text = sessionStorage.getItem(`${KEPT}:${get().mark}`);
  if (!text) return;
  const { job: id, snapshot, began, ended, selection, view } = JSON.parse(text);
  try {
    const job = await api.job(id);
    if (get().job) return;
    own = id;
    setRun({ snapshot, began });
    set({ job });
    setRun({ ended, ...(getRun().shown === id && view) });
    askTimeline();
    if (selection?.job === id && job.state === "done") select(selection);
  } catch (error) {
    // the server was started anew, or has newer results
    if (!(error instanceof ApiError)) tell(error);
  }
}

// -- the timeline --------------------------------------------------------------------------------------

interface Question {
  job: string;
  range: Range;
  width: number;
  by: string;
}

const timeline = new Latest<Question, Picture>(
  async ({ job, range, width, by }, signal) => {
    const { clock, result } = getRun();
    if (!clock || !result) throw new Error("there is no run");
    const query = { from: clock.ticks(Math.floor(range.from)), to: clock.ticks(Math.ceil(range.to)), width };
    const answer = await api.timeline(job, { ...query, ...(by && { by }) }, signal);
    return pictureOf(answer, clock, range);
  },
  (picture, { job }) => {
    if (getRun().shown === job) setRun({ picture, pictureError: null });
  },
  (error) => {
    if (error instanceof ConnectionLost) return;
    setRun({ pictureError: error instanceof Error ? error.message : String(error) });
  },
);

let width = 0;

export function setWidth(now: number) {
  if (now === width) return;
  width = now;
  askTimeline();
}

export function askTimeline() {
  const { shown: job, range, by, result } = getRun();
  if (job && result && width > 0) timeline.send({ job, range, width: Math.min(4000, Math.round(width)), by });
}

export function setRange(range: Range) {
  if (same(range, getRun().range)) return;
  setRun({ range });
  askTimeline();
}

/** Shows all of the run. */
export function showAll() {
  setRun({ brush: null });
  setRange(getRun().limits);
}

export function setBy(by: string) {
  setRun({ by });
  askTimeline();
}

/** Zooms to what the brush has selected. */
export function showBrush() {
  const { brush, limits } = getRun();
  if (!brush) return;
  setRun({ brush: null });
  setRange(within(brush, limits));
}

/** Brings a time into view. */
export function showTime(marked: Marked) {
  const { clock, range, limits } = getRun();
  if (!clock) return;
  const start = clock.offset(marked.start);
  setRange(showing(range, limits, start, marked.end === null ? start : clock.offset(marked.end)));
}

// -- choices -------------------------------------------------------------------------------------------

/** A detection is chosen: it is marked, and Why tells of it. */
export function choose(marked: Marked | null) {
  const { shown: job } = getRun();
  setRun({ chosen: marked, constituents: [], pointed: null });
  select(marked?.label && job ? { job, label: marked.label, type: marked.type } : null);
  if (own === job) keepRun();
}

/** A mark of the timeline is chosen: its row has the label that Why asks for. */
export async function chooseMark(type: string, mark: Mark): Promise<void> {
  const { shown: job, clock } = getRun();
  if (!job || !clock) return;
  try {
    const [row] = rowsOf(await api.rows(job, { type, sort: "time", offset: mark.row, limit: 1 }));
    if (row) choose(markedOf(row));
  } catch (error) {
    tell(error);
  }
}

/** Chooses a file of events, or not. */
export async function chooseEvents(entry: EventEntry, chosen: boolean): Promise<void> {
  const entries = withEntry(entriesOf(get()), entry, chosen);
  setRun(({ refused }) => ({ refused: refused?.problems ? refused : null }));
  await changeProject((project) => withEvents(project, entries));
}

/** Copies a file of events into the directory under a new name; the next run reads it. */
export async function copyIn(name: string, file: Blob): Promise<void> {
  await api.write(name, file, null);
  await loadFiles();
  // where the project names its events it has to name this one, too
  if (get().project.program?.events) await chooseEvents(entryFor(name, get()), true);
  setRun({ peek: name, comparing: false });
}

// a run that was shown before the rules were read gets its colours as soon as they are
useStudio.subscribe(
  (state) => state.check,
  ({ state }) => {
    const { order, result } = getRun();
    if (state === "done" && result && !order) setRun({ order: orderNow(result.found) });
  },
);
// another server has no runs of the one before
useStudio.subscribe(
  (state) => state.connection,
  (connection) => {
    if (connection === "connected") void askWhetherKept();
  },
);

async function askWhetherKept(): Promise<void> {
  const { shown } = getRun();
  if (!shown) return;
  try {
    await api.job(shown);
    askTimeline();
  } catch (error) {
    if (error instanceof ApiError && error.status === 404 && getRun().shown === shown) setRun({ gone: true });
  }
}

// a run that has failed may have done so for what is changed now
useStudio.subscribe(
  (state) => JSON.stringify([state.project.program?.events, state.project.program?.options]),
  () => {
    const { job } = get();
    if (job?.state === "failed") setRun({ dismissed: job.id });
    mended();
  },
);
useRun.subscribe(({ typed }, before) => {
  if (typed !== before.typed) mended();
});

// what kept a run from starting may have been mended
useStudio.subscribe(
  (state) => state.check,
  ({ state, problems }) => {
    const wrong = problems.some((one) => one.severity === "error");
    if (state === "done" && getRun().refused?.problems && !wrong) setRun({ refused: null });
  },
);
// times are shown in the zone of the project, also those of a run that is done
useStudio.subscribe(
  (state) => zoneOf(state.project),
  (zone) => {
    const { clock } = getRun();
    if (clock) setRun({ clock: new Clock(clock.kind, clock.origin, zone) });
  },
);
addEventListener("pagehide", () => {
  if (own) keepRun();
});
useStudio.subscribe((state) => state.job, follow);
follow(get().job, null);
if (!get().job) void restoreRun();
setRunner(() => void startRun());

/** Asking why and why not: jobs about a run, of which each kind has one at a time. */
import { create } from "zustand";
import { ApiError, api, ConnectionLost } from "../api/client";
import type { Derivation, Reason, WhyNot } from "../api/schema";
import type { Job, Problem } from "../api/types";
import { flush, leaveFor, notify, open, replaceText, say, tell, textOf, withEditor } from "../state/actions";
import { checkSoon } from "../state/checking";
import { get, type Question, set, useStudio } from "../state/store";
import { texts } from "../texts";
import type { DrawnLane } from "./lanes";
import { laneValues, type Most, markedClauses, rangeTexts, requestOf } from "./question";
import { getRun, type Marked, setRun } from "./state";
import { exact, type Range } from "./time";

/** How a question is. `gone`: the server has the run no more; `of`: what was asked. */
export interface Asking<A> {
  state: "asking" | "done" | "failed" | "cancelled" | "gone";
  of: string;
  id: string | null;
  began: number;
  answer: A | null;
  problems: Problem[];
}

/** How far a search goes at first, which takes seconds, and at most. */
export const FIRST: Most = { edits: 2, limit: 10, variants: 2_000 };
export const MOST: Most = { edits: 4, limit: 20, variants: 20_000 };

/** Milliseconds between two looks at a job: the first, and the longest. */
const WAIT = { first: 150, longest: 1000 };

interface State {
  why: Asking<Derivation> | null;
  whyNot: Asking<WhyNot> | null;
  most: Most;
  /** the reason that is shown, by its number */
  reason: number | null;
  /** the reason whose repair is in the editor */
  applied: number | null;
}

export const useAsking = create<State>()(() => ({
  why: null,
  whyNot: null,
  most: FIRST,
  reason: null,
  applied: null,
}));

const setAsking = useAsking.setState;
const getAsking = useAsking.getState;

/** One kind of question: a new one ends the one before. */
class Asker<K extends "why" | "whyNot", A> {
  private turn = 0;

  constructor(
    private readonly kind: K,
    private readonly read: (result: unknown) => A,
  ) {}

  private put(asking: Asking<A> | null) {
    setAsking({ [this.kind]: asking } as unknown as Partial<State>);
  }

  private now(): Asking<A> | null {
    return getAsking()[this.kind] as Asking<A> | null;
  }

  async ask(of: string, start: () => Promise<{ id: string }>): Promise<void> {
    this.drop();
    const turn = this.turn;
    const asking = { state: "asking" as const, of, id: null, began: Date.now(), answer: null, problems: [] };
    this.put(asking);
    try {
      const { id } = await start();
      if (turn !== this.turn) return void forget(id);
      this.put({ ...asking, id });
      const job = await this.ended(id, turn);
      if (!job) return;
      const problems = job.problems;
      if (job.state === "done")
        this.put({ ...asking, id, state: "done", answer: this.read(job.result), problems });
      else this.put({ ...asking, id, state: job.state === "cancelled" ? "cancelled" : "failed", problems });
    } catch (error) {
      if (turn !== this.turn) return;
      const gone = error instanceof ApiError && error.status === 404;
      this.put({ ...asking, state: gone ? "gone" : "failed", problems: problemsOf(error) });
    }
  }

  /** The job when it has ended; null if nobody waits for it any more. */
  private async ended(id: string, turn: number): Promise<Job | null> {
    for (let wait = WAIT.first; ; wait = Math.min(WAIT.longest, wait * 1.4)) {
      await new Promise((resolve) => setTimeout(resolve, wait));
      if (turn !== this.turn) return null;
      try {
        const job = await api.job(id);
        if (turn !== this.turn) return null;
        if (job.state !== "queued" && job.state !== "running") return job;
      } catch (error) {
        // the server may be there again soon: the page says that it is not
        if (!(error instanceof ConnectionLost)) throw error;
      }
    }
  }

  cancel() {
    const now = this.now();
    if (now?.state !== "asking") return;
    this.drop();
    this.put({ ...now, state: "cancelled" });
  }

  /** Forgets what is asked or answered: its process ends, its files go. */
  drop() {
    this.turn++;
    const id = this.now()?.id;
    if (id) void forget(id);
    this.put(null);
  }
}

async function forget(id: string): Promise<void> {
  try {
    await api.cancel(id);
  } catch (error) {
    // it may be gone by itself, and a server that is lost has forgotten it
    if (!(error instanceof ConnectionLost) && !(error instanceof ApiError && error.status === 404))
      tell(error);
  }
}

function problemsOf(error: unknown): Problem[] {
  if (error instanceof ApiError && error.problems.length) return error.problems;
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof ApiError ? error.hint : null;
  const nowhere = { file: null, span: null, related: [], node: null, row: null, definition: null };
  return [{ kind: "error", severity: "error", message, hint, ...nowhere }];
}

type Results = { why?: Derivation; why_not?: WhyNot };

const whyAsker = new Asker("why", (result): Derivation => {
  const { why } = result as Results;
  if (!why) throw new Error("the answer has no derivation");
  return why;
});
const whyNotAsker = new Asker("whyNot", (result): WhyNot => {
  const { why_not: answer } = result as Results;
  if (!answer) throw new Error("the answer has no reasons");
  return answer;
});

// -- why -----------------------------------------------------------------------------------------------

/** Asks for everything that was checked for a detection. */
export function askChecks(job: string, label: string): void {
  void whyAsker.ask(label, () => api.askWhy(job, label));
}

export const cancelChecks = () => whyAsker.cancel();
export const dropChecks = () => whyAsker.drop();

// -- why not -------------------------------------------------------------------------------------------

/** Shows a question in place of a selection. */
function show(question: Question) {
  set((state) => ({
    question,
    selection: null,
    why: null,
    clauses: [],
    panels: { ...state.panels, rightOpen: true, whyOpen: true },
    drawer: state.narrow ? ("right" as const) : state.drawer,
  }));
  setRun({ chosen: null, constituents: [], pointed: null });
  setAsking({ reason: null, applied: null, most: FIRST });
}

/** Why is there nothing in a lane of the timeline, in a range of time? */
export function askWhyNot(lane: DrawnLane, range: Range): void {
  const { shown: job, clock, by, result } = getRun();
  if (!job || !clock || !result) return;
  const where = laneValues(lane, by, result.found);
  show({ job, type: lane.type, where, ...rangeTexts(clock, range), lane: lane.name });
  void askNow();
}

/** Opens a question that is still to be filled in: of the type of the last one, or of the first that the rules define. */
export function openQuestion(): void {
  const { shown: job, result, brush, clock, types } = getRun();
  const type = get().question?.type ?? types[0] ?? result?.found[0]?.type;
  if (!job || type === undefined || !clock) {
    say(texts.whyNot.noTypes);
    return;
  }
  whyNotAsker.drop();
  show({ job, type, where: {}, ...(brush ? rangeTexts(clock, brush) : { from: "", to: "" }) });
}

export function changeQuestion(change: Partial<Question>) {
  const { question } = get();
  if (question) set({ question: { ...question, ...change } });
}

/** Asks the question that is shown; `more`: how much further it is searched than before. */
export async function askNow(more: Partial<Most> = {}): Promise<void> {
  const asked = get().question;
  if (!asked) return;
  // the run that is shown may be a newer one
  const question = { ...asked, job: getRun().shown ?? asked.job };
  set({ question });
  const most = { ...getAsking().most, ...more };
  setAsking({ most, reason: null, applied: null });
  set({ clauses: [] });
  await whyNotAsker.ask(JSON.stringify(question), () =>
    api.askWhyNot(question.job, requestOf(question, most)),
  );
  const asking = getAsking().whyNot;
  if (asking?.state !== "done" || !asking.answer || get().question !== question) return;
  const { reasons, found } = asking.answer;
  say(found ? texts.whyNot.found(found) : texts.whyNot.reasons(reasons.length));
  showReason(reasons[0] ?? null);
}

export const cancelQuestion = () => whyNotAsker.cancel();

/** Another detection was chosen, or the run is another one. */
export function closeQuestion() {
  whyNotAsker.drop();
  set({ question: null, clauses: [] });
  setRun({ chosen: null, constituents: [], pointed: null });
}

// a detection that is chosen takes the place of a question
useStudio.subscribe(
  (state) => state.question,
  (question) => {
    if (!question) whyNotAsker.drop();
  },
);

/** Marks a reason: its rows and the asked time on the timeline, its clauses in the text. */
export function showReason(reason: Reason | null): void {
  const { question } = get();
  const answer = getAsking().whyNot?.answer;
  if (!question || !answer) return;
  setAsking({ reason: reason?.number ?? null });
  const chosen = askedMark(question, answer);
  const rows = (reason?.witness ?? []).flatMap((one): Marked[] =>
    one.ticks === null || one.type === null
      ? []
      : [
          {
            type: one.type,
            start: one.ticks,
            end: one.end_ticks,
            label: one.label,
            row: null,
            failed: !one.ok,
            absent: one.added,
          },
        ],
  );
  setRun({ chosen, constituents: rows, pointed: null });
  set({ clauses: markedClauses(reason?.clauses ?? []) });
}

function askedMark(question: Question, { from, to, type }: WhyNot): Marked {
  const end = exact(to) > exact(from) ? to : null;
  const { lane } = question;
  return {
    type,
    start: from,
    end,
    label: null,
    row: null,
    absent: true,
    ...(lane !== undefined && { lane }),
  };
}

/** Puts the texts of a repair into the editor, as edits that can be undone; says why if that cannot be done. */
export async function applyRepair(reason: Reason): Promise<void> {
  const id = getAsking().whyNot?.id;
  if (!id) return;
  const failed = (text: string) => notify("error", texts.whyNot.notApplied, text);
  try {
    const { texts: changed } = await api.repair(id, reason.number);
    for (const { path } of changed) await open(path);
    flush();
    const { buffers } = get();
    for (const { path, before } of changed) {
      if (textOf(path) !== before) return failed(texts.whyNot.textChanged(path));
      if (!buffers[path]?.writable) return failed(texts.whyNot.locked(path));
    }
    const [first] = changed;
    if (!first) return failed(texts.whyNot.noText);
    await leaveFor({ active: first.path, view: "Text", statement: null, quiet: false });
    withEditor((editor) => {
      for (const { path, after } of changed) {
        editor.prepare(path);
        replaceText(path, after);
      }
      const at = reason.clauses.find(({ file, span }) => file === first.path && span);
      if (at?.span) editor.reveal({ path: first.path, line: at.span.line, column: at.span.column }, true);
    });
    set({ clauses: [] });
    setAsking({ applied: reason.number });
    say(texts.whyNot.applied(changed.map(({ path }) => path).join(", ")));
    checkSoon(0);
  } catch (error) {
    tell(error, texts.whyNot.notApplied);
  }
}

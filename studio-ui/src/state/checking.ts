/** The program is checked 250 ms after the last change, with all unsaved texts; an answer to older texts is dropped. */
import { ApiError, api, ConnectionLost } from "../api/client";
import type { EventChoice, OutlineEntry, Problem } from "../api/types";
import { evaluationOrder } from "../parts/order";
import { texts } from "../texts";
import { flush, keepUnsaved, edited as markEdited, say, unsavedTexts } from "./actions";
import { type Check, get, set } from "./store";

const DELAY = 250;
let timer: ReturnType<typeof setTimeout> | undefined;
let latest = 0;
let failures = 0;
/** Ends a check that a newer one overtakes: the server would refuse it, and the browser log that. */
let running = new AbortController();
const touched = new Set<string>();

export function edited(path: string, text: () => string) {
  markEdited(path, text);
  touched.add(path);
  checkSoon();
}

export function checkSoon(delay = DELAY) {
  latest += 1;
  if (get().check.state !== "checking") set((state) => ({ check: { ...state.check, state: "checking" } }));
  clearTimeout(timer);
  timer = setTimeout(check, delay);
}

async function check() {
  flush();
  for (const path of touched) void keepUnsaved(path);
  touched.clear();
  if (get().connection === "lost") return; // checked when the server is back
  const now = ++latest;
  running.abort();
  running = new AbortController();
  try {
    const { problems: all, outline, events } = await api.check(unsavedTexts(), running.signal);
    if (now !== latest) return;
    const problems = all.filter((one) => !isBlank(one));
    failures = 0;
    tellCounts(problems);
    if (events) keepEvents(events);
    set(({ check }) => ({ check: next(check, problems, outline.filter(says)) }));
  } catch (error) {
    if (now !== latest) return;
    if (error instanceof ApiError && error.kind === "cancelled") return checkSoon();
    if (error instanceof ApiError && error.status === 503 && failures++ < 3) return checkSoon(500 * failures);
    const lost = error instanceof ConnectionLost;
    set((state) => ({
      check: {
        ...state.check,
        state: lost ? "none" : "done",
        error: error instanceof Error ? error.message : null,
      },
    }));
  }
}

/** Is it about a file in which nothing is written yet? */
function isBlank({ kind, file }: Problem): boolean {
  return kind === "no-statement" && file !== null && get().buffers[file]?.text.trim() === "";
}

/** The same list stays the same object: what shows it need not be drawn again with every key. */
function keepEvents(events: EventChoice[]) {
  if (JSON.stringify(events) !== JSON.stringify(get().events)) set({ events });
}

/** The check after an answer. A file with a syntax error keeps its definitions, and all types their colours. */
export function next(before: Check, problems: Problem[], outline: OutlineEntry[]): Check {
  const torn = new Set(problems.flatMap(({ kind, file }) => (kind === "syntax" ? [file] : [])));
  const there = new Set(outline.map(({ file, name }) => `${file}\n${name}`));
  const known = [...before.outline, ...before.stale];
  const stale = known.filter(({ file, name }) => torn.has(file) && !there.has(`${file}\n${name}`));
  const now = evaluationOrder(outline);
  const wrong = problems.some((one) => one.severity === "error");
  const order = wrong ? [...before.order, ...now.filter((type) => !before.order.includes(type))] : now;
  return { state: "done", checked: true, problems, outline, stale, order, error: null };
}

let told = "";

/** Screen readers are told when there are more or fewer problems. */
function tellCounts(problems: readonly Problem[]) {
  const count = (severity: Problem["severity"]) => problems.filter((one) => one.severity === severity).length;
  const now = texts.status.counts(count("error"), count("warning"));
  if (told && told !== now) say(now);
  told = now;
}

/** A statement that only names a type, such as a subscription, is none of the outline. */
function says(entry: OutlineEntry): boolean {
  return entry.output !== null || !(entry.reads.length === 1 && entry.reads[0] === entry.name);
}

const RANK = { error: 0, warning: 1, notice: 2 };

export function sorted(problems: readonly Problem[]): Problem[] {
  return [...problems].sort(
    (a, b) =>
      RANK[a.severity] - RANK[b.severity] ||
      (a.file ?? "").localeCompare(b.file ?? "") ||
      (a.span?.line ?? 0) - (b.span?.line ?? 0) ||
      (a.span?.column ?? 0) - (b.span?.column ?? 0),
  );
}

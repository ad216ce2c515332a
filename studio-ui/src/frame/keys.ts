/** The keys of the page, whichever view has the focus. */
import type { Problem } from "../api/types";
import { redo, runNow, showView, undo } from "../state/actions";
import { inOrder, lineOf } from "../state/problems";
import { get, set } from "../state/store";
import { viewNumbered } from "../views";
import { takeTypedAhead, typedAhead } from "./ahead";
import { saveNow } from "./Header";
import { goToProblem, isAt } from "./Problems";

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.matches("input, textarea, select") ||
      target.closest(".cm-editor") !== null)
  );
}

/** The problem that was gone to last. */
let last: Problem | null = null;

/** The next problem after the one that was gone to, or after the cursor; round the whole program. */
function step(back: boolean) {
  const { cursor, check, drawn, view } = get();
  const problems = inOrder(check.problems, drawn);
  if (!problems.length) return;
  const same = JSON.stringify(last);
  const stays = last !== null && (view === "Graph" || isAt(last, cursor));
  const at = stays ? problems.findIndex((one) => JSON.stringify(one) === same) : -1;
  const place = (one: Problem) =>
    (one.file ?? "").localeCompare(cursor?.path ?? "") ||
    lineOf(one) - (cursor?.line ?? 0) ||
    (one.span?.column ?? 0) - (cursor?.column ?? 0);
  const after = at >= 0 ? at + 1 : problems.findIndex((one) => place(one) > 0);
  const before = at >= 0 ? at - 1 : problems.findLastIndex((one) => place(one) < 0);
  const next = back ? problems.at(before) : problems[after < problems.length ? Math.max(after, 0) : 0];
  if (!next) return;
  last = next;
  goToProblem(next);
}

export function onKey(event: KeyboardEvent) {
  const control = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  const view = control && !event.altKey && !event.shiftKey ? viewNumbered(Number(key)) : null;
  // a question is open: nothing is saved, run or left before it is answered
  if (get().conflicts.length) {
    if (control && ["s", "p", "enter"].includes(key)) event.preventDefault();
    return;
  }
  // a dialog is on its way, and the focus is still elsewhere
  if (get().dialog !== null && !document.activeElement?.closest('[role="dialog"]')) {
    if (event.key === "Escape") set({ dialog: null });
    else typedAhead(event);
    event.preventDefault();
    event.stopPropagation();
    return;
  }
  takeTypedAhead();
  if (event.key === "Escape" && get().drawer !== null && get().dialog === null) {
    set({ drawer: null });
    return;
  }
  if (control && !event.altKey && key === "s") saveNow();
  else if (control && key === "enter") void runNow();
  else if (control && !event.altKey && key === "p") set({ dialog: "go-to" });
  else if (view) showView(view);
  else if (event.key === "F8") step(event.shiftKey);
  else if (control && key === "z" && !isField(event.target)) event.shiftKey ? redo() : undo();
  else if (control && key === "y" && !isField(event.target)) redo();
  else if (event.key === "?" && !control && !isField(event.target)) set({ dialog: "keys" });
  else return;
  event.preventDefault();
  event.stopPropagation();
}

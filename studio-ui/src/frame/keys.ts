/** The keys of the page, whichever view has the focus. */
import { goTo, redo, runNow, showView, undo } from "../state/actions";
import { sorted } from "../state/checking";
import { get, set } from "../state/store";
import { viewNumbered } from "../views";
import { takeTypedAhead, typedAhead } from "./ahead";
import { saveNow } from "./Header";

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.matches("input, textarea, select") ||
      target.closest(".cm-editor") !== null)
  );
}

/** The next problem after the cursor, round the whole program. */
function step(back: boolean) {
  const problems = sorted(get().check.problems)
    .filter((one) => one.file && one.span)
    .sort(
      (a, b) =>
        (a.file ?? "").localeCompare(b.file ?? "") ||
        (a.span?.line ?? 0) - (b.span?.line ?? 0) ||
        (a.span?.column ?? 0) - (b.span?.column ?? 0),
    );
  if (!problems.length) return;
  const { cursor } = get();
  const place = (one: (typeof problems)[number]) =>
    (one.file ?? "").localeCompare(cursor?.path ?? "") ||
    (one.span?.line ?? 0) - (cursor?.line ?? 0) ||
    (one.span?.column ?? 0) - (cursor?.column ?? 0);
  const next = back
    ? (problems.findLast((one) => place(one) < 0) ?? problems.at(-1))
    : (problems.find((one) => place(one) > 0) ?? problems[0]);
  if (next?.file && next.span) void goTo({ path: next.file, line: next.span.line, column: next.span.column });
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

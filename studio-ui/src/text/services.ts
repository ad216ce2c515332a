/** What the server knows of the text, in the editor: marks, completion, hover, definitions. */
import {
  acceptCompletion,
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeCompletion,
  completionStatus,
  moveCompletionSelection,
  snippet,
  startCompletion,
} from "@codemirror/autocomplete";
import { type Diagnostic, forEachDiagnostic, setDiagnostics } from "@codemirror/lint";
import { type EditorState, type Extension, Prec, StateEffect, StateField } from "@codemirror/state";
import { type EditorView, hoverTooltip, keymap, showTooltip, type Tooltip } from "@codemirror/view";
import { api } from "../api/client";
import type { DefinitionAnswer, Item, Problem } from "../api/types";
import { pieces } from "../parts/links";
import { goTo, open, say, tell, textOf, unsavedTexts } from "../state/actions";
import { set } from "../state/store";
import { texts } from "../texts";
import { fromOffset, offsetIn, offsetOf, placeOf, rangeOf } from "./offsets";

const MARKED = 1000;
const SEVERITY = { error: "error", warning: "warning", notice: "info" } as const;

function separator(state: EditorState): string {
  return state.lineBreak;
}

/** Unsaved texts, with that of the editor in any case. */
function textsWith(path: string) {
  return { ...unsavedTexts(), [path]: textOf(path) };
}

// -- marks -----------------------------------------------------------------------------------------

function linked(parent: HTMLElement, text: string) {
  for (const piece of pieces(text)) {
    if (piece.kind === "text") {
      parent.append(piece.text);
      continue;
    }
    const element = document.createElement(piece.kind === "link" ? "a" : "code");
    element.textContent = piece.text;
    if (element instanceof HTMLAnchorElement) {
      element.href = piece.text;
      element.target = "_blank";
      element.rel = "noreferrer";
    }
    parent.append(element);
  }
}

function explain(problem: Problem): Node {
  const out = document.createElement("div");
  const line = (look: string, text: string) => {
    const p = document.createElement("p");
    p.className = look;
    linked(p, text);
    out.append(p);
    return p;
  };
  line("diagnostic-message", problem.message);
  if (problem.hint) line("diagnostic-hint", problem.hint);
  for (const place of problem.related) {
    const p = line("diagnostic-see", `${texts.problems.see} `);
    const link = document.createElement("button");
    link.type = "button";
    link.className = "link";
    link.textContent = `${place.file ?? ""}${place.span ? `:${place.span.line}:${place.span.column}` : ""}`;
    const { file, span } = place;
    link.onclick = () => {
      if (file) void goTo({ path: file, line: span?.line ?? 1, column: span?.column ?? 1 });
    };
    p.append(link, ` ${place.message}`);
  }
  const kind = document.createElement("span");
  kind.className = "diagnostic-kind";
  kind.textContent = problem.kind;
  out.append(kind);
  return out;
}

export function diagnosticsOf(state: EditorState, problems: readonly Problem[], path: string): Diagnostic[] {
  return problems
    .filter((problem) => problem.file === path)
    .slice(0, MARKED)
    .map((problem) => ({
      ...rangeOf(state.doc, problem.span),
      severity: SEVERITY[problem.severity],
      message: problem.message,
      renderMessage: () => explain(problem),
    }));
}

export function mark(view: EditorView, problems: readonly Problem[], path: string) {
  view.dispatch(setDiagnostics(view.state, diagnosticsOf(view.state, problems, path)));
}

// -- completion --------------------------------------------------------------------------------------

const KINDS: Record<string, string> = {
  type: "type",
  attribute: "property",
  tag: "variable",
  variable: "variable",
  keyword: "keyword",
  constant: "constant",
  function: "function",
  unit: "constant",
  snippet: "text",
};

function optionOf(item: Item, rank: number): Completion {
  return {
    label: item.label,
    type: KINDS[item.kind] ?? "text",
    // a schema repeats the name of its type
    detail: item.detail?.startsWith(`${item.label}(`)
      ? item.detail.slice(item.label.length)
      : (item.detail ?? undefined),
    boost: Math.max(-99, 99 - rank),
    apply: item.kind === "snippet" ? snippet(item.insert ?? item.label) : (item.insert ?? item.label),
  };
}

/** Enter takes what was asked for or walked to; a list that came by itself leaves it a new line. */
let chosen = false;

function completer(path: () => string | null) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const name = path();
    const word = context.matchBefore(/[\p{L}\p{N}_@:.$`-]+/u);
    if (!name || (!context.explicit && !word)) return null;
    if (!context.explicit && word && /^[\d.]/.test(word.text)) return null;
    chosen = context.explicit;
    const abort = new AbortController();
    context.addEventListener("abort", () => abort.abort());
    const { doc } = context.state;
    const lineBreak = separator(context.state);
    try {
      const answer = await api.complete(
        name,
        textsWith(name),
        offsetOf(doc, context.pos, lineBreak),
        abort.signal,
      );
      // the word as it stands is nothing to complete
      const items = answer.items.filter((item) => item.label !== word?.text || item.kind === "snippet");
      if (!items.length) return null;
      return {
        from: fromOffset(doc, answer.from, lineBreak),
        options: items.map(optionOf),
        validFor: /^[\p{L}\p{N}_$]*$/u,
      };
    } catch (error) {
      if (context.explicit) tell(error);
      return null;
    }
  };
}

function walk(forward: boolean) {
  const move = moveCompletionSelection(forward);
  return (view: EditorView) => {
    const moved = move(view);
    if (moved) chosen = true;
    return moved;
  };
}

function completion(path: () => string | null): Extension {
  return [
    autocompletion({
      override: [completer(path)],
      defaultKeymap: false,
      icons: true,
      maxRenderedOptions: 100,
      tooltipClass: () => (chosen ? "" : "cm-offered"),
    }),
    Prec.highest(
      keymap.of([
        { key: "Ctrl-Space", run: startCompletion },
        { key: "Mod-i", run: startCompletion },
        { key: "Escape", run: closeCompletion },
        { key: "ArrowDown", run: walk(true) },
        { key: "ArrowUp", run: walk(false) },
        { key: "Tab", run: acceptCompletion },
        {
          key: "Enter",
          run: (view) => completionStatus(view.state) === "active" && chosen && acceptCompletion(view),
        },
      ]),
    ),
  ];
}

// -- hover and definitions ---------------------------------------------------------------------------

/** What the server says of the word at a position, where the text is still the one that it was asked of. */
async function told(view: EditorView, name: string, position: number): Promise<Told | null> {
  const { state } = view;
  const answer = await api.hover(name, textsWith(name), offsetOf(state.doc, position, separator(state)));
  if (!answer?.text || !answer.span || view.state.doc !== state.doc) return null;
  return { ...rangeOf(state.doc, answer.span), text: answer.text };
}

interface Told {
  from: number;
  to: number;
  text: string;
}

function boxOf(text: string): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "hover";
  const [first = "", ...more] = text.split("\n");
  const code = document.createElement("code");
  code.textContent = first;
  dom.append(code);
  const rest = more.join("\n").trim();
  if (rest) {
    const p = document.createElement("p");
    linked(p, rest);
    dom.append(p);
  }
  return dom;
}

function hover(path: () => string | null): Extension {
  return hoverTooltip(
    async (view, position) => {
      const name = path();
      if (!name) return null;
      try {
        const found = await told(view, name, position);
        if (!found) return null;
        const { from, to, text } = found;
        return { pos: from, end: to, above: true, create: () => ({ dom: boxOf(text) }) };
      } catch {
        return null; // a hint that does not come is no error
      }
    },
    { hoverTime: 350 },
  );
}

const setExplained = StateEffect.define<Tooltip | null>();

/** The explanation that was asked for by a key; it goes with the next edit or move of the cursor. */
const explained = StateField.define<Tooltip | null>({
  create: () => null,
  update(shown, transaction) {
    for (const effect of transaction.effects) if (effect.is(setExplained)) return effect.value;
    return transaction.docChanged || transaction.selection ? null : shown;
  },
  provide: (field) => showTooltip.from(field),
});

function unexplain(view: EditorView): boolean {
  if (!view.state.field(explained)) return false;
  view.dispatch({ effects: setExplained.of(null) });
  return true;
}

/** Shows what the pointer would be told: the problems at the cursor, and the meaning of the word. */
export async function explainAt(view: EditorView, path: string, position: number): Promise<void> {
  try {
    const found = await told(view, path, position);
    const problems: Diagnostic[] = [];
    forEachDiagnostic(view.state, (one, from, to) => {
      if (from <= position && position <= to) problems.push(one);
    });
    if (!found && !problems.length) return say(texts.text.noMeaning);
    const create = () => {
      const dom = document.createElement("div");
      for (const one of problems) {
        const box = document.createElement("div");
        box.className = `cm-diagnostic cm-diagnostic-${one.severity}`;
        const inside = one.renderMessage?.(view);
        box.append(inside ?? one.message);
        dom.append(box);
      }
      if (found) dom.append(boxOf(found.text));
      return { dom };
    };
    view.dispatch({ effects: setExplained.of({ pos: found?.from ?? position, above: true, create }) });
    say([...problems.map((one) => one.message), found?.text].filter(Boolean).join(". "));
  } catch (error) {
    tell(error);
  }
}

type Places = DefinitionAnswer["places"];

function isAt(place: Places[number], path: string, at: { line: number; column: number }): boolean {
  const { span } = place;
  return (
    place.file === path && span.line === at.line && span.column <= at.column && at.column <= span.end_column
  );
}

/** One place is gone to, of several people choose. */
async function showPlaces(places: Places) {
  const [only] = places;
  if (!only) say(texts.text.noPlace);
  else if (places.length === 1) await goTo({ path: only.file, ...only.span });
  else {
    for (const path of new Set(places.map((place) => place.file))) await open(path);
    set({ places: places.map(({ file, span }) => ({ path: file, ...span })), dialog: "places" });
  }
}

/** The definition of the name at a position; at the definition itself, or if `uses`, all places of the name. */
export async function goToDefinitionAt(view: EditorView, path: string, position: number, uses = false) {
  const { state } = view;
  try {
    const offset = offsetOf(state.doc, position, separator(state));
    let { places } = await api.definition(path, textsWith(path), offset);
    const [only] = places;
    if (uses && places.length === 1 && only && !isAt(only, path, placeOf(state.doc, position))) {
      // the definition is elsewhere: there the places are all uses
      await open(only.file);
      const there = offsetIn(textOf(only.file), only.span.line, only.span.column);
      places = (await api.definition(only.file, textsWith(only.file), there)).places;
    }
    await showPlaces(places);
  } catch (error) {
    tell(error);
  }
}

export function services(path: () => string | null): Extension {
  return [completion(path), hover(path), explained, keymap.of([{ key: "Escape", run: unexplain }])];
}

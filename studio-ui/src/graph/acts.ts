/** The keys of the canvas, and its clipboard, which holds EPL text. */
import type { KeyboardEvent } from "react";
import { api } from "../api/client";
import type { Canvas } from "../api/types";
import { say, tell } from "../state/actions";
import { get, set } from "../state/store";
import { texts } from "../texts";
import { pasted, patternTexts, statementText } from "./epl";
import { hasOtherOperands, unlinked, without } from "./model";
import { edit, isWritable } from "./session";
import { getGraph, setGraph, statementOf } from "./state";
import { frozen } from "./tools";

const t = texts.graph;
const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

export function moveBy(dx: number, dy: number) {
  const chosen = new Set(getGraph().selected);
  if (!chosen.size) return;
  edit((now) => {
    const kept = frozen(now);
    const nodes = kept.nodes.map((one) =>
      chosen.has(one.id) ? { ...one, x: (one.x ?? 0) + dx, y: (one.y ?? 0) + dy } : one,
    );
    return { ...kept, nodes };
  });
}

/** Deletes what is selected; what becomes of operands is asked, unless there are none. */
export function remove() {
  const { canvas, selected, link } = getGraph();
  if (!canvas || !isWritable()) return;
  if (link) {
    edit((now) => unlinked(now, link));
    return;
  }
  const ids = new Set(selected);
  if (!ids.size) return;
  if (hasOtherOperands(canvas, ids)) setGraph({ dialog: "delete" });
  else removeNow(true);
}

export function removeNow(keep: boolean) {
  const { canvas, selected } = getGraph();
  const ids = new Set(selected);
  const next = edit((now) => without(now, ids, keep), []);
  if (canvas && next) say(t.deleted(canvas.nodes.length - next.nodes.length));
}

/** Shows the panel with the fields of what is selected. */
export function showFields() {
  set((state) => (state.narrow ? { drawer: "right" } : { panels: { ...state.panels, rightOpen: true } }));
}

/** F2: the field that names what is selected. */
function rename() {
  showFields();
  requestAnimationFrame(focusName);
}

function focusName() {
  const { selected } = getGraph();
  const order = selected.length === 1 ? ["Tag", "Type", "Text"] : ["Name"];
  const fields = [
    ...document.querySelectorAll<HTMLInputElement>(".graph-fields input, .graph-fields textarea"),
  ];
  const field =
    order.map((label) => fields.find((one) => one.ariaLabel === label)).find(Boolean) ?? fields[0];
  field?.focus();
  field?.select();
}

export function onKey(event: KeyboardEvent) {
  if ((event.target as HTMLElement).matches("input, textarea, select")) return;
  const control = event.ctrlKey || event.metaKey;
  const arrow = ARROWS[event.key];
  if (arrow && !control && getGraph().selected.length) {
    const by = event.shiftKey ? 10 : 1;
    moveBy(arrow[0] * by, arrow[1] * by);
  } else if (event.key === "Delete" || event.key === "Backspace") remove();
  else if (event.key === "F2") rename();
  else if (event.key === "Escape") setGraph({ selected: [], link: null });
  else if (event.key === "Enter" || event.key === " ") {
    const id = (event.target as HTMLElement).closest<HTMLElement>(".react-flow__node")?.dataset.id;
    if (!id) return;
    if (control) return;
    if (getGraph().selected.includes(id)) showFields();
    setGraph({ selected: [id], link: null });
  } else if (control && event.key.toLowerCase() === "a")
    setGraph({ selected: getGraph().canvas?.nodes.map((one) => one.id) ?? [], link: null });
  else if (control && event.key.toLowerCase() === "d") duplicate();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function chosenNodes(): ReadonlySet<string> {
  return new Set(getGraph().selected);
}

/** What is selected as EPL: the patterns, or the statement if its complex event is selected. */
function copyText(): { text: string; count: number } | null {
  const state = getGraph();
  const { canvas } = state;
  const ids = chosenNodes();
  if (!canvas || !ids.size) return null;
  const complex = canvas.nodes.find((one) => one.kind === "ComplexEvent");
  const isAll = complex && ids.has(complex.id);
  const text = isAll
    ? (statementOf(state)?.text ?? statementText(canvas))
    : patternTexts(canvas, ids).join("\n");
  return text ? { text, count: ids.size } : null;
}

function isCanvas(root: HTMLElement): boolean {
  const { activeElement } = document;
  if (get().view !== "Graph" || activeElement?.matches("input, textarea, select")) return false;
  return root.contains(activeElement) || activeElement === document.body;
}

export function onCopy(event: ClipboardEvent, root: HTMLElement) {
  if (!isCanvas(root) || !document.getSelection()?.isCollapsed) return;
  const copy = copyText();
  if (!copy) return;
  event.clipboardData?.setData("text/plain", copy.text);
  event.preventDefault();
  say(t.copied(copy.count));
  if (event.type === "cut" && isWritable()) removeNow(true);
}

export function onPaste(event: ClipboardEvent, root: HTMLElement) {
  if (!isCanvas(root) || !isWritable()) return;
  const text = event.clipboardData?.getData("text/plain").trim();
  if (!text) return;
  event.preventDefault();
  void paste(text);
}

function duplicate() {
  const { canvas } = getGraph();
  const complex = canvas?.nodes.find((one) => one.kind === "ComplexEvent")?.id;
  const ids = new Set([...chosenNodes()].filter((id) => id !== complex));
  if (canvas && ids.size) void paste(patternTexts(canvas, ids).join("\n"));
}

async function drawn(text: string): Promise<Canvas[]> {
  const { path } = getGraph();
  const { statements } = await api.graph(path ?? "pasted.epl", text, {});
  return statements.flatMap((one) => (one.canvas && one.kind !== "text" ? [one.canvas] : []));
}

/** Puts patterns from EPL text into the drawing. */
async function paste(text: string) {
  try {
    const whole = /^\s*(@|create\b|insert\b|select\b|from\b)/i.test(text);
    const wrap = (pattern: string) => `select * from pattern [${pattern}];`;
    let found = await drawn(whole ? text : wrap(text));
    if (!found.length && !whole) found = await drawn(text.split("\n").map(wrap).join("\n"));
    if (!found.length) return say(t.notPattern);
    const before = getGraph().canvas;
    if (!before) return;
    let ids: string[] = [];
    edit((now) => {
      const next = pasted(now, found);
      ids = next.ids;
      return next.canvas;
    });
    setGraph({ selected: ids, link: null });
    say(t.pasted(ids.length));
  } catch (error) {
    tell(error);
  }
}

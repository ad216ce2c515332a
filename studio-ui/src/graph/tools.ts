/** The tools of the palette, and what each does on the canvas, on a node, on a link, by click and by key. */
import type { Canvas, CanvasNode } from "../api/types";
import { say } from "../state/actions";
import { set } from "../state/store";
import { texts } from "../texts";
import { attributesOf } from "./known";
import { freePlace, layout, sizesOf } from "./layout";
import { sizeOf } from "./look";
import {
  added,
  columnsOf,
  conditionsOf,
  infoOf,
  linked,
  made,
  nodeOf,
  operandsOf,
  userOf,
  withField,
  withHead,
  withNode,
  withPlaces,
  withRow,
  wrapped,
} from "./model";
import { edit } from "./session";
import { getGraph, setGraph } from "./state";

const t = texts.graph;
/** What is dragged: a tool, or a property of an event. */
export const TOOL = "application/x-occurs-tool";
export const PROPERTY = "application/x-occurs-property";

export type Group = keyof typeof t.groups;

export interface Tool {
  /** the test id is `tool-ID` */
  id: string;
  group: Group;
  kind: string;
  label: string;
  /** the type of events that it makes */
  type?: string;
  /** the sign or text that it writes into a row */
  sign?: string;
  /** why it cannot be used, ever */
  refused?: string;
}

const operators = (group: Group, kinds: readonly string[]): Tool[] =>
  kinds.map((kind) => ({ id: kind, group, kind, label: t.kinds[kind] ?? kind }));

const signs = (list: readonly [string, string][]): Tool[] =>
  list.map(([kind, sign]) => ({ id: kind, group: "conditions", kind, label: t.tools[kind] ?? kind, sign }));

const refused = (reason: string, kinds: readonly string[], kind: string): Tool[] =>
  kinds.map((id) => ({ id, group: "refused", kind, label: t.tools[id] ?? id, refused: reason }));

export const COMPARISONS: readonly [string, string][] = [
  ["Equal", "="],
  ["NotEqual", "!="],
  ["LessThan", "<"],
  ["LessEqual", "<="],
  ["GreaterThan", ">"],
  ["GreaterEqual", ">="],
];
const ARITHMETIC: readonly [string, string][] = [
  ["Addition", "+"],
  ["Subtraction", "-"],
  ["Multiplication", "*"],
  ["Division", "/"],
  ["Modulus", "%"],
];

const FIXED: readonly Tool[] = [
  { id: "ComplexEvent", group: "complex", kind: "ComplexEvent", label: t.kinds.ComplexEvent ?? "" },
  ...operators("timers", ["TimeInterval", "TimeSchedule", "Within"]),
  ...operators("operators", ["Every", "EveryDistinct", "FollowedBy", "Repeat", "Until", "While"]),
  ...operators("logical", ["And", "Or", "Not"]),
  ...signs(COMPARISONS),
  ...signs(ARITHMETIC),
  ...signs([
    ["Property", ""],
    ["Value", "0"],
  ]),
  ...["Description", "Tag", "Priority"].map(
    (kind): Tool => ({ id: kind, group: "annotations", kind, label: t.tools[kind] ?? kind }),
  ),
  ...refused(t.refusedGroup, ["GroupBy"], "GroupBy"),
  ...refused(t.refusedAggregate, ["Avg", "Count", "Max", "Min", "Sum"], "Aggregate"),
  ...refused(t.refusedWindow, ["SlidingWindow", "BatchWindow"], "TimeInterval"),
];

export function toolsOf(types: readonly string[]): Tool[] {
  const events = types.map(
    (type): Tool => ({ id: `Event:${type}`, group: "events", kind: "Event", label: type, type }),
  );
  return [...events, ...FIXED];
}

/** Why a tool cannot be used now. */
export function whyNot(tool: Tool, canvas: Canvas | null, selected: readonly string[]): string | null {
  if (tool.refused) return tool.refused;
  if (!canvas) return t.needsStatement;
  if (tool.kind === "ComplexEvent" && canvas.nodes.some((one) => one.kind === "ComplexEvent"))
    return t.oneComplex;
  if (tool.group === "conditions" && !targetOf(canvas, selected)) return t.needsEvent;
  return null;
}

/** The event or complex event whose rows the tools of conditions write into. */
function targetOf(canvas: Canvas, selected: readonly string[]): CanvasNode | null {
  const one = selected.length === 1 ? nodeOf(canvas, selected[0] ?? "") : undefined;
  return one && (one.kind === "Event" || one.kind === "ComplexEvent") ? one : null;
}

export interface Target {
  node?: string | undefined;
  /** the link, by the node that it comes from */
  link?: string | undefined;
  /** where it was dropped */
  at?: [number, number] | undefined;
  /** the row that it was dropped on, from 1 */
  row?: number | undefined;
}

/** Once people place a node, all stay where they stand. */
export function frozen(canvas: Canvas): Canvas {
  return withPlaces(canvas, layout(canvas));
}

function hasPlaces(canvas: Canvas): boolean {
  return canvas.nodes.some((one) => one.x !== null);
}

/** The drawing with a new node at a place; without one, beside a node where places are kept. */
function placed(canvas: Canvas, one: CanvasNode, at: [number, number] | undefined, beside?: string): Canvas {
  const size = sizeOf(one);
  if (at) {
    const x = Math.round(at[0] - size.width / 2);
    const y = Math.round(at[1] - size.height / 2);
    return withNode(frozen(canvas), { ...one, x, y });
  }
  const near = beside ? nodeOf(canvas, beside) : undefined;
  if (!hasPlaces(canvas) || !near) return withNode(canvas, one);
  const now = frozen(canvas);
  const sizes = sizesOf(now);
  const taken = now.nodes.map((n) => ({
    x: n.x ?? 0,
    y: n.y ?? 0,
    ...(sizes.get(n.id) ?? { width: 0, height: 0 }),
  }));
  const own = nodeOf(now, near.id);
  const [x, y] = freePlace([own?.x ?? 0, (own?.y ?? 0) + sizeOf(near).height + 20], size, taken);
  return withNode(now, { ...one, x, y });
}

/** Can it take one more operand without an error? */
function hasRoom(canvas: Canvas, id: string): boolean {
  const one = nodeOf(canvas, id);
  return one !== undefined && operandsOf(canvas, id).length < infoOf(one.kind).most;
}

/** Uses a tool; without a target, on what is selected. */
export function use(tool: Tool, target: Target = {}) {
  const { canvas, selected } = getGraph();
  const on =
    target.node ?? (target.at || target.link ? undefined : selected.length === 1 ? selected[0] : undefined);
  const why = whyNot(tool, canvas, on ? [on] : []);
  if (why || !canvas) return say(why ?? t.needsStatement);
  if (tool.group === "conditions") return writeSign(tool, on ?? "", target.row);
  if (tool.group === "annotations") return annotate(tool);
  const one = made(canvas, tool.kind, tool.type ? { typeName: tool.type } : {});
  const info = infoOf(tool.kind);
  const { link } = target;
  const user = link ? userOf(canvas, link) : undefined;
  if (user && link && info.most > 0) {
    edit((now) => wrapped(now, link, one), [one.id]);
    say(t.wrapped(link, one.id));
  } else if (user && info.most === 0) {
    edit((now) => added(now, one, user.to, user.order + 1), [one.id]);
    say(t.added(one.id));
  } else if (
    on &&
    info.most > 0 &&
    tool.kind !== "ComplexEvent" &&
    nodeOf(canvas, on)?.kind !== "ComplexEvent"
  ) {
    edit((now) => wrapped(now, on, one), [one.id]);
    say(t.wrapped(on, one.id));
  } else if (on && tool.kind !== "ComplexEvent" && hasRoom(canvas, on)) {
    edit((now) => added(now, one, on), [one.id]);
    say(t.added(one.id));
  } else {
    edit((now) => placed(now, one, target.at, on), [one.id]);
    say(t.added(one.id));
  }
}

/** A comparison, a sign, a value or a property is written into a row of an event, or makes a new one. */
function writeSign(tool: Tool, id: string, dropped: number | undefined) {
  const { canvas, row } = getGraph();
  const one = canvas ? nodeOf(canvas, id) : undefined;
  if (!one) return;
  const isEvent = one.kind === "Event";
  const rows = isEvent ? conditionsOf(one) : columnsOf(one).map(({ value }) => value);
  const field = isEvent ? "conditions" : "columns";
  const isComparison = COMPARISONS.some(([kind]) => kind === tool.kind);
  const property = propertyOf(one);
  const last = row?.field === field && row.at < rows.length ? row.at : rows.length - 1;
  const at = isComparison && isEvent ? rows.length : dropped !== undefined ? dropped - 1 : Math.max(0, last);
  const before = rows[at] ?? "";
  const operand = tool.kind === "Property" ? property : (tool.sign ?? "");
  const text =
    tool.kind === "Property" || tool.kind === "Value"
      ? `${before} ${operand}`.trim()
      : `${before || property} ${operand} `.trimStart();
  setRowText(id, field, at, text.trimEnd());
  setGraph({ row: { field, at }, selected: [id], link: null });
}

export function setRowText(id: string, field: "conditions" | "columns", at: number, text: string) {
  edit((now) => {
    const node = nodeOf(now, id);
    if (!node) return now;
    const rows =
      field === "conditions"
        ? withRow(conditionsOf(node), at, text)
        : withRow(columnsOf(node), at, {
            name: columnsOf(node)[at]?.name ?? nameFor(node, text),
            value: text,
          });
    return withField(now, id, field, rows);
  });
}

/** A name for a column: that of the property that it takes. */
export function nameFor(node: CanvasNode, value: string): string {
  const stem = /([\p{L}_$][\p{L}\p{N}_$]*)\s*$/u.exec(value)?.[1] ?? "value";
  const taken = new Set(columnsOf(node).map((column) => column.name));
  if (!taken.has(stem)) return stem;
  for (let n = 2; ; n++) if (!taken.has(`${stem}${n}`)) return `${stem}${n}`;
}

/** The first property of an event, with its tag. */
function propertyOf(one: CanvasNode): string {
  if (one.kind !== "Event") return "";
  const [first] = attributesOf(String(one.fields.typeName ?? ""));
  const tag = one.fields.tag ? `${String(one.fields.tag)}.` : "";
  return first ? `${tag}${first.name}` : tag;
}

/** An annotation of the statement: a field of Properties, or a new tag. */
function annotate(tool: Tool) {
  setGraph({ selected: [], link: null });
  set((state) => (state.narrow ? { drawer: "right" } : { panels: { ...state.panels, rightOpen: true } }));
  if (tool.kind === "Tag")
    edit((now) => withHead(now, { tags: [...now.head.tags, { name: "name", value: "value" }] }));
  const label = tool.kind === "Tag" ? undefined : tool.kind;
  requestAnimationFrame(() => {
    const fields = document.querySelectorAll<HTMLElement>(".graph-fields input");
    const field = label ? [...fields].find((one) => one.getAttribute("aria-label") === label) : undefined;
    field?.focus();
  });
}

/** A link is drawn from an operand to an operator. */
export function connect(from: string, to: string) {
  edit((now) => linked(now, from, to));
}

/** Puts a property of an event into the complex event as a column. */
export function addColumn(value: string) {
  const complex = getGraph().canvas?.nodes.find((one) => one.kind === "ComplexEvent");
  if (complex) setRowText(complex.id, "columns", columnsOf(complex).length, value);
}

/** What is drawn, and what can be done to it: functions from a drawing to another. */
import type { Canvas, CanvasHead, CanvasLink, CanvasNode } from "../api/types";

export interface Column {
  name: string | null;
  value: string;
}

export interface KindInfo {
  /** how many operands it takes */
  least: number;
  most: number;
  fields: Record<string, unknown>;
}

const MANY = Number.POSITIVE_INFINITY;

const kind = (least: number, most: number, fields: Record<string, unknown> = {}): KindInfo => ({
  least,
  most,
  fields,
});

export const KINDS: Readonly<Record<string, KindInfo>> = {
  Event: kind(0, 0, { typeName: "", tag: null, conditions: [], consume: 0 }),
  Every: kind(1, 1),
  EveryDistinct: kind(1, 1, { keys: [""], expiry: null }),
  FollowedBy: kind(2, MANY, { limits: [] }),
  Repeat: kind(1, 1, { count: 2 }),
  Until: kind(2, 2, { low: null, high: null }),
  While: kind(1, 1, { condition: "" }),
  And: kind(2, MANY),
  Or: kind(2, MANY),
  Not: kind(1, 1),
  Within: kind(1, 1, { duration: "5 min", count: null }),
  TimeInterval: kind(0, 0, { duration: "5 min" }),
  TimeSchedule: kind(0, 0, {
    minute: "*",
    hour: "*",
    dayOfMonth: "*",
    month: "*",
    dayOfWeek: "*",
    second: null,
  }),
  ComplexEvent: kind(1, 1, { typeName: null, columns: [] }),
  Text: kind(0, 0, { text: "" }),
};

export function infoOf(name: string): KindInfo {
  return KINDS[name] ?? { least: 0, most: 0, fields: {} };
}

export const HEAD: CanvasHead = {
  name: null,
  description: null,
  tags: [],
  priority: null,
  into: null,
  where: null,
  suppress: false,
  discard: false,
};

/** A new pattern: its complex event, named as the pattern. */
export function newCanvas(name: string): Canvas {
  return {
    head: { ...HEAD, name, into: name },
    nodes: [node("ComplexEvent", "ComplexEvent", { typeName: name, columns: [] })],
    links: [],
  };
}

export function node(id: string, name: string, fields: Record<string, unknown> = {}): CanvasNode {
  return { id, kind: name, fields: { ...structuredClone(infoOf(name).fields), ...fields }, x: null, y: null };
}

// -- reading ---------------------------------------------------------------------------------------

export function nodeOf(canvas: Canvas, id: string): CanvasNode | undefined {
  return canvas.nodes.find((one) => one.id === id);
}

/** The links into a node in their order. */
export function operandsOf(canvas: Canvas, id: string): CanvasLink[] {
  return canvas.links.filter((one) => one.to === id).sort((a, b) => a.order - b.order);
}

/** The link out of a node. */
export function userOf(canvas: Canvas, id: string): CanvasLink | undefined {
  return canvas.links.find((one) => one.from === id);
}

/** A node and all that leads into it. */
export function withOperands(canvas: Canvas, id: string, seen = new Set<string>()): Set<string> {
  if (seen.has(id)) return seen;
  seen.add(id);
  for (const link of operandsOf(canvas, id)) withOperands(canvas, link.from, seen);
  return seen;
}

/** Would a link make a circle, or is it none that can be? */
export function cannotLink(
  canvas: Canvas,
  from: string,
  to: string,
): "itself" | "circle" | "no-operands" | null {
  if (from === to) return "itself";
  const target = nodeOf(canvas, to);
  if (!target || infoOf(target.kind).most === 0 || nodeOf(canvas, from)?.kind === "ComplexEvent")
    return "no-operands";
  return withOperands(canvas, from).has(to) ? "circle" : null;
}

export function textOfField(one: CanvasNode | undefined, name: string): string {
  const value = one?.fields[name];
  return value === null || value === undefined ? "" : String(value);
}

export function conditionsOf(one: CanvasNode): string[] {
  return (one.fields.conditions as string[] | undefined) ?? [];
}

export function columnsOf(one: CanvasNode): Column[] {
  return (one.fields.columns as Column[] | undefined) ?? [];
}

/** The tags of the events of a drawing. */
export function tagsOf(canvas: Canvas): string[] {
  return canvas.nodes.flatMap((one) =>
    one.kind === "Event" && one.fields.tag ? [String(one.fields.tag)] : [],
  );
}

// -- ids ---------------------------------------------------------------------------------------------

function firstFree(taken: ReadonlySet<string>, stem: string): string {
  for (let n = 1; ; n++) if (!taken.has(`${stem}${n}`)) return `${stem}${n}`;
}

/** The first free id that begins so. */
export function free(canvas: Canvas, stem: string): string {
  return firstFree(new Set(canvas.nodes.map((one) => one.id)), stem);
}

/** The first free of the tags a1, a2 .. */
export function freeTag(canvas: Canvas): string {
  return firstFree(new Set([...tagsOf(canvas), ...canvas.nodes.map((one) => one.id)]), "a");
}

/** The id of a new node: of an event its tag, of an operator the first free number of its kind. */
export function freeId(canvas: Canvas, name: string): string {
  if (name === "Event") return freeTag(canvas);
  return name === "ComplexEvent" && !nodeOf(canvas, name) ? name : free(canvas, name);
}

/** A new node of a kind, with an id of its own. */
export function made(canvas: Canvas, name: string, fields: Record<string, unknown> = {}): CanvasNode {
  const id = freeId(canvas, name);
  return node(id, name, name === "Event" ? { tag: id, ...fields } : fields);
}

/** The drawing with other ids. */
export function renamedIds(canvas: Canvas, names: Readonly<Record<string, string>>): Canvas {
  const now = (id: string) => names[id] ?? id;
  return {
    ...canvas,
    nodes: canvas.nodes.map((one) => (names[one.id] ? { ...one, id: now(one.id) } : one)),
    links: canvas.links.map((one) =>
      names[one.from] || names[one.to] ? { ...one, from: now(one.from), to: now(one.to) } : one,
    ),
  };
}

// -- changing ----------------------------------------------------------------------------------------

export type Change = (canvas: Canvas) => Canvas;

function changed(canvas: Canvas, id: string, change: (one: CanvasNode) => CanvasNode): Canvas {
  return { ...canvas, nodes: canvas.nodes.map((one) => (one.id === id ? change(one) : one)) };
}

export function withField(canvas: Canvas, id: string, name: string, value: unknown): Canvas {
  const next = changed(canvas, id, (one) => ({ ...one, fields: { ...one.fields, [name]: value } }));
  const isInto = name === "typeName" && nodeOf(canvas, id)?.kind === "ComplexEvent";
  return isInto ? { ...next, head: { ...next.head, into: value as string | null } } : next;
}

export function withHead(canvas: Canvas, change: Partial<CanvasHead>): Canvas {
  const next = { ...canvas, head: { ...canvas.head, ...change } };
  if (!("into" in change)) return next;
  const complex = canvas.nodes.find((one) => one.kind === "ComplexEvent");
  return complex
    ? changed(next, complex.id, (one) => ({
        ...one,
        fields: { ...one.fields, typeName: change.into ?? null },
      }))
    : next;
}

/** The rows of a list: one replaced, added at its end, or taken out. */
export function withRow<T>(rows: readonly T[], at: number, row: T | undefined): T[] {
  if (row === undefined) return rows.filter((_, i) => i !== at);
  return at < rows.length ? rows.with(at, row) : [...rows, row];
}

export function withNode(canvas: Canvas, one: CanvasNode): Canvas {
  return { ...canvas, nodes: [...canvas.nodes, one] };
}

/** The orders of the links into a node are 1, 2 .. again. */
function renumbered(links: readonly CanvasLink[], to: string): CanvasLink[] {
  const into = links.filter((one) => one.to === to).sort((a, b) => a.order - b.order);
  return links.map((one) => (one.to === to ? { ...one, order: into.indexOf(one) + 1 } : one));
}

function fitted(canvas: Canvas, id: string): Canvas {
  const one = nodeOf(canvas, id);
  if (one?.kind !== "FollowedBy") return canvas;
  // a limit belongs to an arrow: there is one less than operands
  const limits = (one.fields.limits as (number | null)[] | undefined) ?? [];
  const arrows = Math.max(0, operandsOf(canvas, id).length - 1);
  if (limits.length === arrows) return canvas;
  const next = Array.from({ length: arrows }, (_, i) => limits[i] ?? null);
  return withField(canvas, id, "limits", next);
}

/** The link out of a node is taken away. */
export function unlinked(canvas: Canvas, from: string): Canvas {
  const link = userOf(canvas, from);
  if (!link) return canvas;
  const links = renumbered(
    canvas.links.filter((one) => one !== link),
    link.to,
  );
  return fitted({ ...canvas, links }, link.to);
}

/** A node becomes an operand of another one, at a place (from 1) or as its last. */
export function linked(canvas: Canvas, from: string, to: string, order?: number): Canvas {
  if (cannotLink(canvas, from, to)) return canvas;
  const old = userOf(canvas, from);
  if (old?.to === to && (order === undefined || order === old.order)) return canvas;
  const without =
    old?.to === to ? { ...canvas, links: canvas.links.filter((one) => one !== old) } : unlinked(canvas, from);
  const into = operandsOf(without, to);
  const at = Math.min(Math.max(1, order ?? into.length + 1), into.length + 1);
  const place = (one: CanvasLink, i: number): CanvasLink => ({ ...one, order: i + 1 < at ? i + 1 : i + 2 });
  const links = [
    ...without.links.filter((one) => one.to !== to),
    ...into.map(place),
    { from, to, order: at },
  ];
  return fitted({ ...without, links }, to);
}

/** A new node takes the place of another one, which becomes its first operand. */
export function wrapped(canvas: Canvas, id: string, one: CanvasNode): Canvas {
  const link = userOf(canvas, id);
  const next = withNode(canvas, one);
  const links = next.links.map((l) => (l === link ? { ...l, from: one.id } : l));
  return fitted({ ...next, links: [...links, { from: id, to: one.id, order: 1 }] }, one.id);
}

/** A new node is an operand of another one. */
export function added(canvas: Canvas, one: CanvasNode, to: string, order?: number): Canvas {
  return linked(withNode(canvas, one), one.id, to, order);
}

/** Nodes are deleted; with `keep` their operands take their places, where one can. */
export function without(canvas: Canvas, ids: ReadonlySet<string>, keep: boolean): Canvas {
  let next = canvas;
  const gone = new Set(ids);
  if (!keep) for (const id of ids) for (const one of withOperands(canvas, id)) gone.add(one);
  for (const one of canvas.nodes) {
    if (!gone.has(one.id)) continue;
    const link = userOf(next, one.id);
    const operands = operandsOf(next, one.id);
    const [only] = operands;
    // a single operand takes the place of what is deleted
    const moves = keep && only && operands.length === 1 && link;
    const links = next.links.filter((l) => l.from !== one.id && l.to !== one.id);
    next = { ...next, nodes: next.nodes.filter((n) => n.id !== one.id), links };
    if (moves) next = { ...next, links: [...links, { from: only.from, to: link.to, order: link.order }] };
    else if (link) next = fitted({ ...next, links: renumbered(links, link.to) }, link.to);
  }
  return next;
}

/** Have some of the nodes operands that are not to be deleted as well? */
export function hasOtherOperands(canvas: Canvas, ids: ReadonlySet<string>): boolean {
  return canvas.links.some((one) => ids.has(one.to) && !ids.has(one.from));
}

/** Places of nodes; whole pixels. */
export type Places = Record<string, [number, number]>;

export function placesOf(canvas: Canvas): Places {
  const out: Places = {};
  for (const { id, x, y } of canvas.nodes) if (x !== null && y !== null) out[id] = [x, y];
  return out;
}

export function withPlaces(canvas: Canvas, places: Places | undefined): Canvas {
  return {
    ...canvas,
    nodes: canvas.nodes.map((one) => {
      const [x, y] = places?.[one.id] ?? [null, null];
      return one.x === x && one.y === y ? one : { ...one, x, y };
    }),
  };
}

/** Are two drawings alike but for the places of their nodes? */
export function sameDrawing(a: Canvas, b: Canvas): boolean {
  return JSON.stringify(withPlaces(a, {})) === JSON.stringify(withPlaces(b, {}));
}

/** Where nodes stand that have no place: operands left of their operators, the complex event at the right. */
import { layout as dagre, Graph } from "@dagrejs/dagre";
import type { Canvas } from "../api/types";
import { type Size, sizeOf } from "./look";
import { operandsOf, type Places } from "./model";

const ACROSS = 56;
const DOWN = 20;

let kept: { key: string; places: Places } = { key: "", places: {} };

/** All nodes, by the structure alone. The last drawing is not laid out again while its structure and sizes stay. */
export function arranged(canvas: Canvas, sizes: ReadonlyMap<string, Size>): Places {
  const key = JSON.stringify([
    canvas.nodes.map((one) => [one.id, one.kind, sizes.get(one.id)]),
    canvas.links,
  ]);
  if (key !== kept.key) kept = { key, places: computed(canvas, sizes) };
  return kept.places;
}

function computed(canvas: Canvas, sizes: ReadonlyMap<string, Size>): Places {
  const graph = new Graph();
  graph.setGraph({ rankdir: "RL", ranksep: ACROSS, nodesep: DOWN, marginx: 0, marginy: 0 });
  graph.setDefaultEdgeLabel(() => ({}));
  // from the complex event, so that operands stand in their order from top to bottom
  const size = (id: string) => sizes.get(id) ?? { width: 0, height: 0 };
  const seen = new Set<string>();
  const add = (id: string) => {
    if (seen.has(id)) return;
    seen.add(id);
    graph.setNode(id, { ...size(id) });
    for (const link of operandsOf(canvas, id)) {
      add(link.from);
      graph.setEdge(id, link.from);
    }
  };
  const used = new Set(canvas.links.map((link) => link.from));
  for (const one of canvas.nodes) if (one.kind === "ComplexEvent") add(one.id);
  for (const one of canvas.nodes) if (!used.has(one.id)) add(one.id);
  for (const one of canvas.nodes) add(one.id);
  dagre(graph, { disableOptimalOrderHeuristic: true });
  // nodes of a column begin at one line, so that the room between columns is free for links
  const left = new Map<number, number>();
  const middle = (id: string) => Math.round((graph.node(id) as { x: number }).x);
  for (const id of seen) {
    const at = middle(id) - size(id).width / 2;
    left.set(middle(id), Math.min(left.get(middle(id)) ?? at, at));
  }
  const places: Places = {};
  for (const id of seen) {
    const { y } = graph.node(id) as { y: number };
    places[id] = [Math.round(left.get(middle(id)) ?? 0), Math.round(y - size(id).height / 2)];
  }
  return places;
}

export function sizesOf(canvas: Canvas): Map<string, Size> {
  return new Map(canvas.nodes.map((one) => [one.id, sizeOf(one)]));
}

type Rect = { x: number; y: number } & Size;

function overlap(a: Rect, b: Rect): boolean {
  const room = DOWN / 2;
  return (
    a.x < b.x + b.width + room &&
    b.x < a.x + a.width + room &&
    a.y < b.y + b.height + room &&
    b.y < a.y + a.height + room
  );
}

/** The nearest free place below or at a wanted one. */
export function freePlace(wanted: [number, number], size: Size, taken: readonly Rect[]): [number, number] {
  const [x, start] = wanted;
  let y = start;
  for (let tries = 0; tries < 200; tries++) {
    const hit = taken.find((one) => overlap({ x, y, ...size }, one));
    if (!hit) break;
    y = hit.y + hit.height + DOWN;
  }
  return [x, y];
}

/** Nodes that have places keep them; the others stand as the structure says, beside those they belong to. */
export function layout(canvas: Canvas, sizes = sizesOf(canvas)): Places {
  const places: Places = {};
  for (const { id, x, y } of canvas.nodes) if (x !== null && y !== null) places[id] = [x, y];
  const missing = canvas.nodes.filter((one) => !places[one.id]);
  if (missing.length === 0) return places;
  const ideal = arranged(canvas, sizes);
  if (missing.length === canvas.nodes.length) return ideal;
  const rect = (id: string): Rect => {
    const [x, y] = places[id] ?? [0, 0];
    return { x, y, ...(sizes.get(id) ?? { width: 0, height: 0 }) };
  };
  const neighbours = (id: string) =>
    canvas.links.flatMap((link) => (link.from === id ? [link.to] : link.to === id ? [link.from] : []));
  const anyPlaced = Object.keys(places)[0] ?? "";
  for (const one of missing) {
    const near = neighbours(one.id).find((id) => places[id]) ?? anyPlaced;
    const [x, y] = places[near] ?? [0, 0];
    const [nearX, nearY] = ideal[near] ?? [0, 0];
    const [ownX, ownY] = ideal[one.id] ?? [0, 0];
    const size = sizes.get(one.id) ?? { width: 0, height: 0 };
    const taken = Object.keys(places).map(rect);
    places[one.id] = freePlace([x + ownX - nearX, y + ownY - nearY], size, taken);
  }
  return places;
}

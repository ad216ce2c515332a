/** Where the boxes of a plan stand: levels from left to right, links that run around boxes and cross little. */

export interface Box {
  id: string;
  level: number;
  reads: readonly string[];
}

export interface Place {
  x: number;
  y: number;
}

/** A link runs through its points; the first is at the right of what is read, the last at the left of the reader. */
export interface Link {
  from: string;
  to: string;
  points: Place[];
}

export interface Layout {
  places: Map<string, Place>;
  links: Link[];
  width: number;
  height: number;
}

export interface Sizes {
  width: number;
  height: number;
  /** between levels, and between boxes of a level */
  across: number;
  down: number;
}

interface Node {
  id: string;
  column: number;
  /** a bend of a link has no box */
  bend: boolean;
  y: number;
  before: Node[];
  after: Node[];
}

/** The height that a bend keeps free. */
const BEND = 14;
const SWEEPS = 12;

export function layout(boxes: readonly Box[], sizes: Sizes): Layout {
  const levels = [...new Set(boxes.map((box) => box.level))].sort((a, b) => a - b);
  const columns: Node[][] = levels.map(() => []);
  const nodes = new Map<string, Node>();
  const add = (id: string, column: number, bend: boolean): Node => {
    const node: Node = { id, column, bend, y: 0, before: [], after: [] };
    columns[column]?.push(node);
    return node;
  };
  for (const box of boxes) nodes.set(box.id, add(box.id, levels.indexOf(box.level), false));
  const chains: { from: Node; to: Node; nodes: Node[] }[] = [];
  for (const box of boxes) {
    const to = nodes.get(box.id) as Node;
    for (const id of new Set(box.reads)) {
      const from = nodes.get(id);
      // what reads its own level is a cycle of rules, and is drawn as one
      if (!from || from === to || from.column >= to.column) continue;
      const chain = [from];
      for (let column = from.column + 1; column < to.column; column++)
        chain.push(add(`${id}>${box.id}`, column, true));
      chain.push(to);
      chain.slice(1).forEach((node, i) => {
        const left = chain[i] as Node;
        left.after.push(node);
        node.before.push(left);
      });
      chains.push({ from, to, nodes: chain });
    }
  }
  order(columns);
  const size = (node: Node) => (node.bend ? BEND : sizes.height);
  const height = spread(columns, size, sizes.down);
  const x = (column: number) => column * (sizes.width + sizes.across);
  const places = new Map<string, Place>();
  for (const node of nodes.values())
    places.set(node.id, { x: x(node.column), y: Math.round(node.y - size(node) / 2) });
  const links = chains.map(({ from, to, nodes: chain }): Link => {
    const points: Place[] = [{ x: x(from.column) + sizes.width, y: from.y }];
    for (const node of chain.slice(1, -1))
      points.push({ x: x(node.column), y: node.y }, { x: x(node.column) + sizes.width, y: node.y });
    points.push({ x: x(to.column), y: to.y });
    return { from: from.id, to: to.id, points };
  });
  const width = Math.max(0, columns.length * (sizes.width + sizes.across) - sizes.across);
  return { places, links, width, height };
}

/** Sorts the columns by the mean place of their neighbours, to and fro, and keeps the order with the fewest crossings. */
function order(columns: Node[][]) {
  let best = columns.map((column) => [...column]);
  let least = crossings(columns);
  for (let sweep = 0; sweep < SWEEPS && least > 0; sweep++) {
    const forth = sweep % 2 === 0;
    const path = forth ? columns.slice(1) : columns.slice(0, -1).reverse();
    for (const column of path) {
      const mean = new Map<Node, number>();
      column.forEach((node, i) => {
        const near = forth ? node.before : node.after;
        const at = near.map((other) => columns[other.column]?.indexOf(other) ?? 0);
        mean.set(node, at.length ? at.reduce((a, b) => a + b, 0) / at.length : i);
      });
      column.sort((a, b) => (mean.get(a) ?? 0) - (mean.get(b) ?? 0));
    }
    const now = crossings(columns);
    if (now < least) {
      least = now;
      best = columns.map((column) => [...column]);
    }
  }
  best.forEach((column, i) => {
    columns[i] = column;
  });
}

export function crossings(columns: readonly (readonly { after: readonly unknown[] }[])[]): number {
  let count = 0;
  columns.forEach((column, i) => {
    const next = columns[i + 1];
    if (!next) return;
    const ends = column.flatMap((node, a) =>
      node.after.map((other) => [a, next.indexOf(other as never)] as const),
    );
    for (let p = 0; p < ends.length; p++)
      for (let q = p + 1; q < ends.length; q++) {
        const [a, b] = ends[p] as readonly [number, number];
        const [c, d] = ends[q] as readonly [number, number];
        if ((a - c) * (b - d) < 0) count++;
      }
  });
  return count;
}

/** Gives nodes their heights: in order, apart, as near to their neighbours as there is room. Returns the whole. */
function spread(columns: Node[][], size: (node: Node) => number, gap: number): number {
  for (const column of columns) {
    let y = 0;
    for (const node of column) {
      node.y = y + size(node) / 2;
      y += size(node) + gap;
    }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const column of sweep % 2 === 0 ? columns : [...columns].reverse()) {
      const wanted = column.map((node) => {
        const near = sweep % 2 === 0 ? node.before : node.after;
        const some = near.length ? near : [...node.before, ...node.after];
        return some.length ? some.reduce((sum, other) => sum + other.y, 0) / some.length : node.y;
      });
      settle(column, wanted, size, gap);
    }
  }
  const all = columns.flat();
  const top = Math.min(0, ...all.map((node) => node.y - size(node) / 2));
  const first = Math.min(Infinity, ...all.map((node) => node.y - size(node) / 2));
  const shift = Number.isFinite(first) ? first : top;
  let bottom = 0;
  for (const node of all) {
    node.y -= shift;
    bottom = Math.max(bottom, node.y + size(node) / 2);
  }
  return bottom;
}

/** Nodes go to where they want to be; those that would overlap form a block around the mean of their wishes. */
function settle(column: Node[], wanted: number[], size: (node: Node) => number, gap: number) {
  interface Block {
    nodes: Node[];
    /** the sum of the wishes for the block's top */
    sum: number;
    height: number;
  }
  const blocks: Block[] = [];
  const top = (block: Block) => block.sum / block.nodes.length;
  column.forEach((node, i) => {
    let block: Block = { nodes: [node], sum: (wanted[i] ?? 0) - size(node) / 2, height: size(node) };
    for (let last = blocks.at(-1); last && top(last) + last.height + gap > top(block); last = blocks.at(-1)) {
      blocks.pop();
      const below = last.height + gap;
      block = {
        nodes: [...last.nodes, ...block.nodes],
        sum: last.sum + block.sum - below * block.nodes.length,
        height: below + block.height,
      };
    }
    blocks.push(block);
  });
  for (const block of blocks) {
    let y = top(block);
    for (const node of block.nodes) {
      node.y = y + size(node) / 2;
      y += size(node) + gap;
    }
  }
}

/** A smooth line through the points of a link, level where it passes a column. */
export function curve(points: readonly Place[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let out = `M${first.x},${first.y}`;
  let last = first;
  for (const point of rest) {
    const half = (point.x - last.x) / 2;
    out +=
      point.y === last.y
        ? `H${point.x}`
        : `C${last.x + half},${last.y} ${point.x - half},${point.y} ${point.x},${point.y}`;
    last = point;
  }
  return out;
}

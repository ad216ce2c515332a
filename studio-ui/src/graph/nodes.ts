/** The drawing as nodes and links of the library that shows it. Measured nodes are kept as copies: others would vanish. */
import type { Edge, Node } from "@xyflow/react";
import type { Canvas, CanvasNode, Problem, Project } from "../api/types";
import { typeColour } from "../parts/colours";
import { texts } from "../texts";
import { layout } from "./layout";
import { type RowText, rowsOf, type Size, sizeOf, titleOf } from "./look";
import { infoOf, operandsOf, textOfField } from "./model";

export type Icon = NonNullable<Project["icons"]>[string];

export interface NodeData extends Record<string, unknown> {
  kind: string;
  title: string;
  tag: string;
  rows: RowText[];
  /** the colour of its type, if it has one */
  colour: string | null;
  icon: Icon | null;
  errors: string[];
  warnings: string[];
  /** rows that are wrong */
  wrong: number[];
  /** how often detections passed it */
  passed: number | null;
  lit: boolean;
}

export type GraphNode = Node<NodeData, "pattern">;
export type GraphLink = Edge<{ order: number; numbered: boolean }, "link">;

export interface Facts {
  faults: readonly Problem[];
  order: readonly string[];
  icons: Project["icons"];
  passed: ReadonlyMap<string, number> | null;
  lit: ReadonlySet<string>;
}

function dataOf(one: CanvasNode, facts: Facts): NodeData {
  const own = facts.faults.filter((fault) => fault.node === one.id);
  const isTyped = one.kind === "Event" || one.kind === "ComplexEvent";
  const type = isTyped ? textOfField(one, "typeName") : "";
  return {
    kind: one.kind,
    title: titleOf(one),
    tag: one.kind === "Event" ? textOfField(one, "tag") : "",
    rows: rowsOf(one),
    colour: type ? typeColour(type, facts.order) : null,
    icon: (type && facts.icons?.[type]) || null,
    errors: own.filter((fault) => fault.severity === "error").map((fault) => fault.message),
    warnings: own.filter((fault) => fault.severity === "warning").map((fault) => fault.message),
    wrong: own.flatMap((fault) => (fault.severity === "error" && fault.row !== null ? [fault.row] : [])),
    passed: facts.passed?.get(one.id) ?? null,
    lit: facts.lit.has(one.id),
  };
}

/** The accessible name: id and kind, what it is, what is wrong with it. */
function nameOf(id: string, data: NodeData): string {
  const t = texts.graph;
  return [
    id === data.kind ? id : `${id}, ${t.kinds[data.kind] ?? data.kind} (${data.kind})`,
    data.colour ? data.title : "",
    ...data.rows.map((row) => (row.name ? `${row.name} = ${row.text}` : row.text)),
    ...data.errors.map((text) => `${t.error}: ${text}`),
    ...data.warnings.map((text) => `${t.warning}: ${text}`),
    data.passed === null ? "" : t.passed(data.passed),
  ]
    .filter(Boolean)
    .join(", ");
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Nodes as they are to be shown; those before them are copied, so that nothing is measured twice. */
export function nodesOf(
  canvas: Canvas,
  facts: Facts,
  selected: ReadonlySet<string>,
  old: readonly GraphNode[],
): GraphNode[] {
  const sizes = new Map<string, Size>(canvas.nodes.map((one) => [one.id, sizeOf(one)]));
  const places = layout(canvas, sizes);
  const before = new Map(old.map((one) => [one.id, one]));
  return canvas.nodes.map((one): GraphNode => {
    const [x, y] = places[one.id] ?? [0, 0];
    const { width, height } = sizes.get(one.id) ?? { width: 0, height: 0 };
    const known = before.get(one.id);
    let data = dataOf(one, facts);
    if (known && same(known.data, data)) data = known.data;
    const isSelected = selected.has(one.id);
    if (
      known &&
      known.data === data &&
      known.position.x === x &&
      known.position.y === y &&
      known.width === width &&
      known.height === height &&
      Boolean(known.selected) === isSelected
    )
      return known;
    return {
      ...known,
      id: one.id,
      type: "pattern",
      position: { x, y },
      width,
      height,
      data,
      selected: isSelected,
      ariaLabel: nameOf(one.id, data),
      domAttributes: {
        "data-testid": `node-${one.id}`,
        "data-kind": one.kind,
        "data-errors": data.errors.length,
        "data-warnings": data.warnings.length,
        "data-passed": data.passed ?? undefined,
        "data-lit": data.lit || undefined,
        "aria-roledescription": texts.graph.node,
      } as GraphNode["domAttributes"],
    };
  });
}

export function linksOf(canvas: Canvas, selected: string | null): GraphLink[] {
  const known = new Set(canvas.nodes.map((one) => one.id));
  return canvas.links
    .filter((one) => known.has(one.from) && known.has(one.to))
    .map((one): GraphLink => {
      const target = canvas.nodes.find((node) => node.id === one.to);
      const numbered = infoOf(target?.kind ?? "").most > 1 || operandsOf(canvas, one.to).length > 1;
      return {
        id: `${one.from}>${one.to}`,
        type: "link",
        source: one.from,
        target: one.to,
        selected: selected === one.from,
        focusable: false,
        data: { order: one.order, numbered },
        ariaLabel: texts.graph.linkName(one.from, one.to, one.order),
        domAttributes: {
          "data-testid": `link-${one.from}-${one.to}`,
          "data-order": one.order,
        } as GraphLink["domAttributes"],
      };
    });
}

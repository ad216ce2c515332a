/** Patterns as EPL text for the clipboard, and patterns that were pasted. */
import type { Canvas, CanvasNode } from "../api/types";
import {
  type Column,
  columnsOf,
  conditionsOf,
  free,
  freeId,
  node,
  nodeOf,
  operandsOf,
  textOfField,
  withField,
  withNode,
} from "./model";

const BARE = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;

/** A name as it is written. */
function name(text: string): string {
  return BARE.test(text) || text.startsWith("`") ? text : `\`${text}\``;
}

/** Everything but an event or a timer stands in parentheses: no precedence is needed. */
function pattern(canvas: Canvas, id: string, chosen: ReadonlySet<string>): string {
  const one = nodeOf(canvas, id);
  if (!one) return "";
  const parts = operandsOf(canvas, id)
    .filter((link) => chosen.has(link.from))
    .map((link) => pattern(canvas, link.from, chosen))
    .filter(Boolean);
  const [first = "", second = ""] = parts;
  const field = (member: string) => textOfField(one, member);
  switch (one.kind) {
    case "Event": {
      const tag = field("tag");
      const filter = conditionsOf(one).filter(Boolean).join(", ");
      const consume = Number(one.fields.consume);
      const consumes = consume === 0 ? "" : consume === 1 ? "@consume" : `@consume(${consume})`;
      return `${tag ? `${name(tag)}=` : ""}${field("typeName")}(${filter})${consumes}`;
    }
    case "TimeInterval":
      return `timer:interval(${field("duration")})`;
    case "TimeSchedule": {
      const fields = ["minute", "hour", "dayOfMonth", "month", "dayOfWeek", "second"].map(field);
      return `timer:at(${fields.filter(Boolean).join(", ")})`;
    }
    case "Text":
      return "";
  }
  if (!first) return "";
  // an operator with too few of its operands is no pattern: what there is of it is copied
  switch (one.kind) {
    case "Every":
      return `(every ${first})`;
    case "Not":
      return `(not ${first})`;
    case "EveryDistinct": {
      const keys = [...((one.fields.keys as string[] | undefined) ?? []), field("expiry")].filter(Boolean);
      return `(every-distinct(${keys.join(", ")}) ${first})`;
    }
    case "Repeat":
      return `([${field("count")}] ${first})`;
    case "While":
      return `(${first} while (${field("condition")}))`;
    case "Within":
      return one.fields.count === null
        ? `(${first} where timer:within(${field("duration")}))`
        : `(${first} where timer:withinmax(${field("duration")}, ${field("count")}))`;
    case "Until": {
      if (!second) return first;
      const { low, high } = one.fields;
      const range = low === null && high === null ? "" : `[${field("low")}:${field("high")}] `;
      return `(${range}${first} until ${second})`;
    }
    case "And":
      return parts.length > 1 ? `(${parts.join(" and ")})` : first;
    case "Or":
      return parts.length > 1 ? `(${parts.join(" or ")})` : first;
    case "FollowedBy": {
      const limits = (one.fields.limits as (number | null)[] | undefined) ?? [];
      const arrow = (i: number) => (limits[i] ? ` -[${limits[i]}]> ` : " -> ");
      return parts.length > 1
        ? `(${parts.map((part, i) => (i ? arrow(i - 1) : "") + part).join("")})`
        : first;
    }
    default:
      return first;
  }
}

/** The patterns that some nodes are, each with those of its operands that are among them; one text a pattern. */
export function patternTexts(canvas: Canvas, ids: ReadonlySet<string>): string[] {
  const roots = canvas.nodes.filter(
    (one) => ids.has(one.id) && !canvas.links.some((link) => link.from === one.id && ids.has(link.to)),
  );
  return roots.map((one) => pattern(canvas, one.id, ids).replace(/\s+/g, " ")).filter(Boolean);
}

/** A whole draft as a statement, as far as it is drawn. */
export function statementText(canvas: Canvas): string {
  const complex = canvas.nodes.find((one) => one.kind === "ComplexEvent");
  const [root] = complex ? operandsOf(canvas, complex.id) : [];
  const body = root ? pattern(canvas, root.from, new Set(canvas.nodes.map((one) => one.id))) : "";
  if (!complex || !body) return body;
  const columns = columnsOf(complex).map((one) =>
    one.name ? `${one.value} as ${name(one.name)}` : one.value,
  );
  const into = textOfField(complex, "typeName");
  return `${into ? `insert into ${name(into)} ` : ""}select ${columns.join(", ") || "*"} from pattern [${body}]`;
}

/** A text in which tags have other names; what stands in quotes is left. */
export function retagged(text: string, names: Readonly<Record<string, string>>): string {
  return text.replace(
    /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<![.\p{L}\p{N}_$])[\p{L}_$][\p{L}\p{N}_$]*/gu,
    (word) => (Object.hasOwn(names, word) ? (names[word] ?? word) : word),
  );
}

/** An event has another tag: so have all texts of the drawing that speak of it, unless two events share it. */
export function withTag(canvas: Canvas, id: string, tag: string | null): Canvas {
  const old = textOfField(nodeOf(canvas, id), "tag");
  const next = withField(canvas, id, "tag", tag);
  const shared = canvas.nodes.some((one) => one.id !== id && textOfField(one, "tag") === old);
  if (!old || !tag || shared || !BARE.test(tag)) return next;
  const names = { [old]: tag };
  const { where } = next.head;
  return {
    ...next,
    head: where === null ? next.head : { ...next.head, where: retagged(where, names) },
    nodes: next.nodes.map((one) => withTags(one, names)),
  };
}

const TEXTS = new Set(["condition"]);
const LISTS = new Set(["conditions", "keys"]);

function withTags(one: CanvasNode, names: Readonly<Record<string, string>>): CanvasNode {
  const fields = Object.fromEntries(
    Object.entries(one.fields).map(([member, value]) => {
      if (TEXTS.has(member) && typeof value === "string") return [member, retagged(value, names)];
      if (LISTS.has(member)) return [member, (value as string[]).map((text) => retagged(text, names))];
      if (member === "columns")
        return [member, (value as Column[]).map((row) => ({ ...row, value: retagged(row.value, names) }))];
      if (member === "tag" && typeof value === "string") return [member, names[value] ?? value];
      return [member, value];
    }),
  );
  return { ...one, fields };
}

/** The drawing with the patterns of others beside it, under ids and tags that are free. */
export function pasted(canvas: Canvas, found: readonly Canvas[]): { canvas: Canvas; ids: string[] } {
  let next = canvas;
  const ids: string[] = [];
  for (const other of found) {
    const nodes = other.nodes.filter((one) => one.kind !== "ComplexEvent");
    const now: Record<string, string> = {};
    const tags: Record<string, string> = {};
    let grown = next;
    const isFree = (id: string) => !grown.nodes.some((one) => one.id === id || one.fields.tag === id);
    for (const one of nodes) {
      const tag = textOfField(one, "tag");
      const id =
        tag && isFree(tag)
          ? tag
          : one.kind === "Event" && !tag
            ? free(grown, "Event")
            : freeId(grown, one.kind);
      now[one.id] = id;
      if (tag) tags[tag] = id;
      ids.push(id);
      grown = withNode(grown, node(id, one.kind));
    }
    next = {
      ...next,
      nodes: [
        ...next.nodes,
        ...nodes.map((one) => ({ ...withTags(one, tags), id: now[one.id] ?? one.id, x: null, y: null })),
      ],
      links: [
        ...next.links,
        ...other.links.flatMap((link) => {
          const [from, to] = [now[link.from], now[link.to]];
          return from && to ? [{ from, to, order: link.order }] : [];
        }),
      ],
    };
  }
  return { canvas: next, ids };
}

/** The event types of a program: declared in the open file, elsewhere, derived, or only in the events. */
import type { DomainChange, OutlineEntry, Statement } from "../api/types";
import { type Attribute, declared, type Known } from "../graph/known";
import { columnsOf } from "../graph/model";
import { derives } from "../parts/order";

export interface EventType {
  name: string;
  attributes: Attribute[];
  /** its declaration is in the open file and can be edited */
  editable: boolean;
  /** where it comes from: statements by name, with their files */
  defined: { name: string; file: string; line: number | null }[];
  read: { name: string; file: string }[];
  derived: boolean;
}

/** Types that can be chosen for an attribute; others are kept as they are written. */
export const TYPES = ["int", "long", "double", "float", "string", "boolean", "timestamp"] as const;

export function typesOf(
  statements: readonly Statement[],
  outline: readonly OutlineEntry[],
  events: Known["events"],
): EventType[] {
  const out = new Map<string, EventType>();
  const type = (name: string): EventType => {
    let one = out.get(name);
    if (!one) {
      one = { name, attributes: [], editable: false, defined: [], read: [], derived: false };
      out.set(name, one);
    }
    return one;
  };
  for (const { kind, text } of statements) {
    const found = kind === "schema" ? declared(text) : null;
    if (!found) continue;
    const one = type(found.name);
    one.editable = true;
    one.attributes = found.attributes;
  }
  for (const entry of outline) {
    if (entry.output) {
      const one = type(entry.output);
      one.defined.push({ name: entry.name, file: entry.file, line: entry.span?.line ?? null });
      one.derived ||= derives(entry);
    }
    for (const name of entry.reads) type(name).read.push({ name: entry.name, file: entry.file });
  }
  for (const { canvas } of statements) {
    const complex = canvas?.nodes.find((node) => node.kind === "ComplexEvent");
    const name = complex?.fields.typeName;
    if (!complex || typeof name !== "string" || !name) continue;
    const one = type(name);
    if (!one.attributes.length)
      one.attributes = columnsOf(complex).flatMap((column) =>
        column.name ? [{ name: column.name, type: null }] : [],
      );
  }
  for (const [name, attributes] of Object.entries(events)) {
    const one = type(name);
    if (!one.attributes.length && !one.editable) one.attributes = attributes;
  }
  const rank = (one: EventType) => (one.editable ? 0 : one.derived ? 2 : 1);
  return [...out.values()]
    .filter((one) => one.name)
    .sort((a, b) => rank(a) - rank(b) || (a.editable ? 0 : a.name.localeCompare(b.name)));
}

/** What the types of the open file lack, beside the events. */
export function differences(
  types: readonly EventType[],
  events: Known["events"],
): {
  change: DomainChange;
  text: [type: string, attribute: string | null, was: string | null, now: string];
}[] {
  const out: ReturnType<typeof differences> = [];
  for (const [name, attributes] of Object.entries(events)) {
    const found = types.find((one) => one.name === name);
    // declared elsewhere, or derived
    if (found && !found.editable && found.defined.length) continue;
    const known = found?.editable ? found : undefined;
    const [first] = attributes;
    if (!known) {
      out.push({
        change: {
          op: "add-type",
          type: name,
          ...(first && { attribute: first.name, to: first.type ?? "string" }),
        },
        text: [name, null, null, attributes.map((one) => `${one.name} ${one.type ?? ""}`).join(", ")],
      });
    }
    for (const attribute of known ? attributes : attributes.slice(1)) {
      const to = attribute.type ?? "string";
      const own = known?.attributes.find((one) => one.name === attribute.name);
      if (!own) {
        const change: DomainChange = { op: "add-attribute", type: name, attribute: attribute.name, to };
        out.push({ change, text: [name, known ? attribute.name : "", null, to] });
      } else if (!fits(own.type, to)) {
        const change: DomainChange = { op: "retype-attribute", type: name, attribute: attribute.name, to };
        out.push({ change, text: [name, attribute.name, own.type, to] });
      }
    }
  }
  return out;
}

const FAMILIES: readonly (readonly string[])[] = [
  ["int", "integer", "long", "short", "byte"],
  ["double", "float"],
  ["string", "char"],
  ["bool", "boolean"],
  ["timestamp"],
];

/** Does a declared type hold the values? A number with a point holds whole numbers, too. */
function fits(own: string | null, wanted: string): boolean {
  const family = (name: string) => FAMILIES.findIndex((names) => names.includes(name.toLowerCase()));
  if (own === null) return true;
  return family(own) === family(wanted) || (family(own) === 1 && family(wanted) === 0);
}

/** A name that no other of its level has. */
export function freeName(taken: readonly string[], stem: string): string {
  for (let n = 1; ; n++) if (!taken.includes(`${stem}${n}`)) return `${stem}${n}`;
}

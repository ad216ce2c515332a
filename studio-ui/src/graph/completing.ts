/** Completion in fields: the names that fit the word at the cursor. */
import type { Canvas, CanvasNode } from "../api/types";
import { get } from "../state/store";
import { attributesOf } from "./known";
import { textOfField } from "./model";

const WORD = /[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}\p{N}_$]*)?$/u;
const SHOWN = 12;
/** A word of fewer characters fits too much to be completed unasked. */
const LEAST = 2;

/** Does a key that has been typed ask for names? A point does, and a letter that goes on with a word. */
export function asks(key: string, text: string, cursor: number): boolean {
  if (key === ".") return true;
  const word = WORD.exec(text.slice(0, cursor))?.[0] ?? "";
  return /^[\p{L}_]$/u.test(key) && word.length >= LEAST;
}

export interface Offer {
  /** where the word begins that is completed */
  from: number;
  names: string[];
}

/** What fits the word before the cursor; none if the word is there already, or stands in quotes. */
export function offer(
  names: readonly string[],
  text: string,
  cursor: number,
  explicit: boolean,
): Offer | null {
  const before = text.slice(0, cursor);
  if ((before.match(/'/g)?.length ?? 0) % 2) return null;
  const word = WORD.exec(before)?.[0] ?? "";
  if (!word && !explicit) return null;
  const wanted = word.toLowerCase();
  const found = names.filter((name) => name.toLowerCase().startsWith(wanted)).slice(0, SHOWN);
  if (!found.length || found.includes(word)) return null;
  return { from: cursor - word.length, names: found };
}

/** The functions of EPL with what each does; the names end where the arguments begin. */
function functions(): ReadonlyMap<string, string> {
  const words = get().about?.languages.find((one) => one.name === "epl")?.words;
  return new Map(words?.functions.map((name) => [`${name}(`, words.calls[name] ?? ""]));
}

/** A name that is a function: how it is called, and what it gives. */
export function meaningOf(name: string): string | undefined {
  return name.endsWith("(") ? functions().get(name) : undefined;
}

/** The properties of all events with tags, those of the event itself without, then functions. */
export function namesFor(canvas: Canvas, one: CanvasNode | null): string[] {
  const own = one?.kind === "Event" ? attributesOf(textOfField(one, "typeName")).map(({ name }) => name) : [];
  const tagged = canvas.nodes.flatMap((node) => {
    const tag = textOfField(node, "tag");
    if (node.kind !== "Event" || !tag) return [];
    return attributesOf(textOfField(node, "typeName")).map(({ name }) => `${tag}.${name}`);
  });
  return [...new Set([...tagged, ...own, ...functions().keys()])];
}

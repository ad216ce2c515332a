/** Completion in fields: the names that fit the word at the cursor. */
import type { Canvas, CanvasNode } from "../api/types";
import { attributesOf } from "./known";
import { textOfField } from "./model";

export interface Offer {
  /** where the word begins that is completed */
  from: number;
  names: string[];
}

const WORD = /[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}\p{N}_$]*)?$/u;
const SHOWN = 12;

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

/** The properties of all events with tags, and those of the event itself without. */
export function namesFor(canvas: Canvas, one: CanvasNode | null): string[] {
  const own = one?.kind === "Event" ? attributesOf(textOfField(one, "typeName")).map(({ name }) => name) : [];
  const tagged = canvas.nodes.flatMap((node) => {
    const tag = textOfField(node, "tag");
    if (node.kind !== "Event" || !tag) return [];
    return attributesOf(textOfField(node, "typeName")).map(({ name }) => `${tag}.${name}`);
  });
  return [...new Set([...tagged, ...own])];
}

/** Questions about detections that are not there, as data: what is asked, times as they are typed, what checks belong to. */
import type { WhyNode, WhyNotRequest } from "../api/schema";
import type { Problem, Ticks } from "../api/types";
import type { MarkedClause, Question } from "../state/store";
import type { Result } from "./state";
import { type Clock, exact, type Range } from "./time";

/** What a time is rounded to, in ticks, so that people can read it: the coarsest that the place of a click allows. */
const UNITS = [60_000_000n, 1_000_000n, 1_000n];

const floor = (at: bigint, unit: bigint) => at - (((at % unit) + unit) % unit);

/** A range of offsets as texts; rounded inwards, where that leaves something, as what is beside it has marks. */
export function rangeTexts(clock: Clock, range: Range): { from: string; to: string } {
  let from = BigInt(clock.ticks(Math.ceil(range.from)));
  let to = BigInt(clock.ticks(Math.max(Math.ceil(range.from), Math.floor(range.to))));
  const unit = clock.kind.timestamp ? UNITS.find((one) => one * 4n <= to - from) : undefined;
  if (unit) [from, to] = [floor(from + unit - 1n, unit), floor(to, unit)];
  return { from: timeText(clock, String(from)), to: timeText(clock, String(to)) };
}

/** A time as it is typed: ISO 8601 in UTC, or a whole number. */
export function timeText(clock: Clock, ticks: Ticks): string {
  const at = exact(ticks);
  if (!clock.kind.timestamp) return String(at);
  const second = floor(at, 1_000_000n);
  const milliseconds = Number(second / 1_000n);
  if (Math.abs(milliseconds) > 8.64e15) return String(at);
  const fraction =
    at === second
      ? ""
      : `.${String(at - second)
          .padStart(6, "0")
          .replace(/0+$/, "")}`;
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, `${fraction}Z`);
}

/** A text in quotes, which stays as it is, or a time as the server writes it. */
const TIMES = /"(?:[^"\\]|\\.)*"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** A sentence of the server with its times as the page shows them: in the project's zone, without the day of `near`. */
export function timesIn(text: string, clock: Clock, near: Ticks): string {
  return text.replace(TIMES, (found) => {
    const milliseconds = found.startsWith('"') ? Number.NaN : Date.parse(found.replace(/\.\d+Z$/, "Z"));
    if (Number.isNaN(milliseconds)) return found;
    const fraction = /\.(\d{1,6})/.exec(found)?.[1] ?? "";
    const at = BigInt(milliseconds) * 1000n + BigInt(fraction.padEnd(6, "0"));
    return clock.between(near, String(at))[1];
  });
}

/** The values that a lane stands for: that of the attribute by which lanes are split, if its type has it. */
export function laneValues(
  lane: { name: string; type: string },
  by: string,
  found: Result["found"],
): Record<string, string | null> {
  const attributes = found.find((one) => one.type === lane.type)?.attributes ?? [];
  const name = by && attributes.find((one) => one.toLowerCase() === by.toLowerCase());
  return name ? { [name]: lane.name === "null" ? null : lane.name } : {};
}

/** How far a search goes: clauses of a reason, reasons, relaxed programs that are tried. */
export type Most = Pick<WhyNotRequest, "edits" | "limit" | "variants">;

/** The question as the server reads it: a field without a text asks for nothing. */
export function requestOf(question: Question, most: Most): WhyNotRequest {
  const { type, from, to } = question;
  const where = Object.entries(question.where).filter(([, value]) => value !== "");
  return {
    type,
    where: Object.fromEntries(where),
    from: from.trim() || null,
    to: to.trim() || null,
    ...most,
  };
}

/** Problems by the field that they are about, and those of none. */
export function byField(problems: readonly Problem[]): { fields: Record<string, string>; rest: Problem[] } {
  const fields: Record<string, string> = {};
  const rest: Problem[] = [];
  for (const one of problems) {
    if (one.severity !== "error") continue;
    if (one.node !== null && /^(type|from|to|where\..*)$/s.test(one.node)) fields[one.node] ??= one.message;
    else rest.push(one);
  }
  return { fields, rest };
}

/** What was checked for a row: clauses, times without a row, aggregates; `parts`: the rows that an aggregate counts. */
export interface CheckOf {
  node: WhyNode;
  parts: WhyNode[];
}

const ROWS = new Set(["detection", "event", "timer"]);

/** The checks of each row of a derivation, by the label of the row. */
export function checksByLabel(nodes: readonly WhyNode[]): Map<string, CheckOf[]> {
  const byNumber = new Map(nodes.map((node) => [node.node, node]));
  const out = new Map<string, CheckOf[]>();
  const done = new Map<number, CheckOf>();
  for (const node of nodes) {
    const parent = node.parent === null ? undefined : byNumber.get(node.parent);
    if (!parent) continue;
    if (ROWS.has(node.kind)) {
      done.get(parent.node)?.parts.push(node);
      continue;
    }
    if (parent.label === null || !ROWS.has(parent.kind)) continue;
    const check = { node, parts: [] };
    done.set(node.node, check);
    // a row that is part of several others is derived the same way in each of them
    const known = out.get(parent.label) ?? [];
    const twice = known.some(
      (one) =>
        one.node.parent !== node.parent && one.node.kind === node.kind && one.node.message === node.message,
    );
    if (!twice) out.set(parent.label, [...known, check]);
  }
  return out;
}

/** The clauses that stand in a text, as they are marked there. */
export function markedClauses(
  clauses: readonly Pick<WhyNode, "file" | "span" | "message">[],
): MarkedClause[] {
  return clauses.flatMap(({ file, span, message }) =>
    file !== null && span ? [{ file, span, message: message ?? "" }] : [],
  );
}

/** The options of runs: how the server describes them, how they are grouped, and their values as text in fields. */
import type { OptionInfo, Options, OptionValue } from "../api/types";
import { texts } from "../texts";
import { knowsZone } from "./time";

const t = texts.run.option;

/** Those that most runs need; the others are in groups that open. */
const COMMON = ["time_unit", "start", "until", "zone", "bad_rows"];
const GROUPS = ["input", "text", "result", "rules", "run"] as const;
export type Group = (typeof GROUPS)[number];

export interface Grouped {
  common: OptionInfo[];
  groups: { of: Group; options: OptionInfo[] }[];
}

export function groupedOptions(infos: readonly OptionInfo[]): Grouped {
  const common = COMMON.flatMap((name) => infos.find((one) => one.name === name) ?? []);
  const groups = GROUPS.map((of) => ({
    of,
    options: infos.filter((one) => !COMMON.includes(one.name) && (one.of ?? "run") === of),
  }));
  return { common, groups: groups.filter((group) => group.options.length > 0) };
}

/** How many options of a group are not as they are by default. */
export function countSet(infos: readonly OptionInfo[], options: Options): number {
  return infos.filter((one) => one.name in options).length;
}

/** A value as the text of its field; empty: the default. */
export function fieldText(value: OptionValue | undefined): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "object")
    return Object.entries(value)
      .map(([name, path]) => `${name}=${path}`)
      .join(", ");
  return String(value);
}

function listed(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}

/** The value that the text of a field means; undefined: the default. Null: the text has no meaning. */
export function fieldValue(info: OptionInfo, text: string): { value: OptionValue | undefined } | null {
  // of a delimiter blanks count
  const given = info.name === "delimiter" ? text : text.trim();
  if (given === "") return { value: undefined };
  const whole = /^-?\d{1,15}$/.test(given);
  switch (info.kind) {
    case "flag":
      return { value: given === "true" };
    case "number":
      return whole ? { value: Number(given) } : null;
    case "moment":
      return { value: whole ? Number(given) : given };
    case "names":
      return { value: listed(given) };
    case "paths": {
      const out: Record<string, string> = {};
      for (const part of listed(given)) {
        const at = part.indexOf("=");
        if (at < 1 || at === part.length - 1) return null;
        out[part.slice(0, at).trim()] = part.slice(at + 1).trim();
      }
      return { value: out };
    }
    default:
      return { value: given };
  }
}

/** `time_unit` as people read it. */
export function titleOf(name: string): string {
  const words = name.replaceAll("_", " ");
  return t.titles[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

// -- values that are wrong ---------------------------------------------------------------------------

const DURATIONS = new Set(["window", "step"]);
const ISO =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s?(?:(Z)|([+-])(\d\d)(?::?(\d\d))?)?$/;

/** A time as text in milliseconds, as the program reads it: without a zone in UTC. Null: the text is no time. */
export function momentOf(text: string): number | null {
  const found = ISO.exec(text);
  if (!found) return null;
  const [, date, clock = "00:00", seconds = "00", fraction = "", , sign, hours = "0", minutes = "0"] = found;
  const at = Date.parse(`${date}T${clock}:${seconds}.${fraction.padEnd(3, "0").slice(0, 3)}Z`);
  const ahead = 60_000 * (60 * Number(hours) + Number(minutes));
  return Number.isNaN(at) ? null : sign === "-" ? at + ahead : at - ahead;
}

/** A number of ticks or a time in the kind of time that the options say; null: it is none. */
function momentIn(text: string, options: Options): number | null {
  if (/^[+-]?\d{1,19}$/.test(text)) return Number(text);
  return options.time_unit ? null : momentOf(text);
}

/** What is wrong with the text of a field, beside the values of other fields. */
export function problemOf(info: OptionInfo, text: string, options: Options): string | null {
  const given = text.trim();
  if (!fieldValue(info, text)) return info.kind === "paths" ? t.wrongPaths : t.wrongNumber;
  if (!given) return null;
  if (info.name === "zone") return knowsZone(given) ? null : t.wrongZone;
  if (info.kind !== "moment") return null;
  if (DURATIONS.has(info.name)) return /^\d+(\.\d+)?\s*[a-zA-Z]*$/.test(given) ? null : t.wrongDuration;
  const at = momentIn(given, options);
  if (at === null) return options.time_unit ? t.wrongTick : t.wrongTime;
  const start = info.name === "until" ? momentIn(fieldText(options.start), options) : null;
  return start !== null && at < start ? t.wrongUntil : null;
}

/** The first option with a wrong text in its field, be it typed or the project's. */
export function firstWrong(
  infos: readonly OptionInfo[],
  options: Options,
  typed: Record<string, string>,
): { name: string; text: string } | null {
  for (const info of infos) {
    if (info.kind === "flag" || info.choices.length) continue;
    const text = problemOf(info, typed[info.name] ?? fieldText(options[info.name]), options);
    if (text) return { name: info.name, text };
  }
  return null;
}

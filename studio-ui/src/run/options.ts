/** The options of runs: how the server describes them, how they are grouped, and their values as text in fields. */
import type { OptionInfo, Options, OptionValue } from "../api/types";

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
  return words.charAt(0).toUpperCase() + words.slice(1);
}

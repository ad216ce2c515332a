/** Messages about events as the page says them: without what it shows beside them, and without options of commands. */
import type { Problem } from "../api/types";
import { titleOf } from "./options";

/** `--bad-rows` as the option is called here. */
function optionName(command: string): string {
  const name = command
    .replace(/^--/, "")
    .replace(/-column$/, "")
    .replaceAll("-", "_");
  return titleOf(name);
}

function withoutCommands(text: string): string {
  return text
    .replace(/\s*\(Python: [^)]*\)/g, "")
    .replace(/--[a-z][a-z-]*/g, optionName)
    .replace(/\.\.$/, "…");
}

/** The message of a problem; that it is about a row is said beside it. */
export function plainMessage(message: string): string {
  return withoutCommands(message.replace(/^row \d+: /, ""));
}

/** The hint of a problem; null for one that the page has a button for. */
export function plainHint(hint: string | null): string | null {
  if (!hint || hint.includes("--bad-rows")) return null;
  return withoutCommands(hint);
}

/** Which options the messages of a server are about, each with its message as its field has it. */
export function optionsNamed(problems: readonly Problem[]): Record<string, string> {
  const out: Record<string, string> = {};
  for (const { message, hint, severity } of problems) {
    const found = severity === "error" ? /^--([a-z-]+?)(?:-column)? (.*)$/s.exec(message) : null;
    if (!found) continue;
    const [, name = "", rest = ""] = found;
    out[name.replaceAll("-", "_")] = withoutCommands(hint ? `${rest}; ${hint}` : rest);
  }
  return out;
}

/** The line on which a row stands, if rows of such a file are lines; a header is a line, too. */
export function lineOf(file: string, row: number): number | null {
  if (/\.csv$/i.test(file)) return row + 1;
  return /\.jsonl$/i.test(file) ? row : null;
}

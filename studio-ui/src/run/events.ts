/** The project's choice of events: entries are paths or `TYPE=PATH`, as on the command line. */
import type { EventChoice, FileEntry, Options, OptionValue, OutlineEntry, Project } from "../api/types";
import { withProgram } from "../state/program";

export interface EventEntry {
  type: string;
  path: string;
}

/** A type's name has no slash and no dot that a file's would have; `=` in a path alone is no type. */
export function parseEntry(entry: string): EventEntry {
  const at = entry.indexOf("=");
  return at > 0 ? { type: entry.slice(0, at), path: entry.slice(at + 1) } : { type: "", path: entry };
}

export function formatEntry({ type, path }: EventEntry): string {
  return type ? `${type}=${path}` : path;
}

/** What of the page says which events are chosen. */
export interface Given {
  project: Project;
  files: readonly FileEntry[];
  /** what the server offers; null: it has not said so yet */
  events: readonly EventChoice[] | null;
  check: { outline: readonly OutlineEntry[] };
}

/** The events that are chosen; without a choice those that the server reads by default. */
export function entriesOf(given: Given): EventEntry[] {
  const { project, events, files } = given;
  const chosen = project.program?.events;
  if (chosen) return chosen.map(parseEntry);
  if (events) return events.filter((one) => one.default).map(({ entry }) => parseEntry(entry));
  return files
    .filter((file) => file.kind === "event" && !file.path.includes("/"))
    .map(({ path }) => entryFor(path, given));
}

/** How a file or directory is named in the program when it is chosen. */
export function entryFor(path: string, given: Given): EventEntry {
  const offered = given.events?.find((one) => one.path === path);
  return offered ? parseEntry(offered.entry) : { path, type: typeByName(path, given.check.outline) };
}

/** The files of events, directories of such files, and what the project names but is not there. */
export function eventPaths(given: Given): string[] {
  const offered = given.events?.map((one) => one.path) ?? [];
  const known = given.files.filter((file) => file.kind === "event").map((file) => file.path);
  const named = entriesOf(given).map((entry) => entry.path);
  return [...new Set([...known, ...offered, ...named])].sort(byName);
}

function byName(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The type whose rows a file holds, if its name says so: `Departure.csv` for an input type `Departure`. */
function typeByName(path: string, outline: readonly OutlineEntry[]): string {
  const stem = (path.split("/").at(-1) ?? "").replace(/\.[^.]*$/, "");
  const known = new Set(outline.flatMap((entry) => [...entry.reads, entry.output ?? ""]));
  return known.has(stem) ? stem : "";
}

/** The entries with a file chosen or not; the order of the others stays. */
export function withEntry(entries: readonly EventEntry[], entry: EventEntry, chosen: boolean): EventEntry[] {
  const at = entries.findIndex((one) => one.path === entry.path);
  if (!chosen) return entries.filter((one) => one.path !== entry.path);
  return at < 0 ? [...entries, entry] : entries.with(at, entry);
}

export function withEvents(project: Project, entries: readonly EventEntry[]): Project {
  return withProgram(project, { events: entries.map(formatEntry) });
}

/** The project with an option; undefined: its default. */
export function withOption(project: Project, name: string, value: OptionValue | undefined): Project {
  const options: Options = { ...project.program?.options };
  if (value === undefined) delete options[name];
  else options[name] = value;
  return withProgram(project, { options });
}

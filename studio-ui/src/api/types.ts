/** The shapes of the interface for programs (`/api/v1`). Offsets and columns count code points, lines from 1. */
import type { FireRequest, JobNet, NetRequest } from "./schema";

export type Severity = "error" | "warning" | "notice";

export interface Span {
  line: number;
  column: number;
  end_line: number;
  end_column: number;
}

export interface Related {
  message: string;
  file: string | null;
  span: Span | null;
}

export interface Problem {
  kind: string;
  severity: Severity;
  message: string;
  hint: string | null;
  file: string | null;
  span: Span | null;
  related: Related[];
  node: string | null;
  row: number | null;
  definition: string | null;
}

export interface ErrorBody {
  error: { kind: string; message: string; hint: string | null; problems: Problem[] };
}

/** A piece of text to start from; `${name}` in `insert` stands for what is to be filled in. */
export interface Snippet {
  label: string;
  insert: string;
  detail: string;
}

/** How a text of a language looks; an editor highlights by it and comments lines out. */
export interface Words {
  line_comments: string[];
  line_start_comments: string[];
  block_comments: [string, string][];
  strings: string[];
  escape: string;
  quoted_names: string;
  word_signs: string;
  variable_marks: string;
  ignore_case: boolean;
  keywords: string[];
  constants: string[];
  types: string[];
  units: string[];
  functions: string[];
  /** how functions are called, and what they do */
  calls: Record<string, string>;
  operators: string[];
  snippets: Snippet[];
  meanings: Record<string, string>;
}

export interface Language {
  name: string;
  suffixes: string[];
  words: Words | null;
}

/** An option of runs; `of` is null while the language worker cannot be asked. `none`: null is a value, not the default. */
export interface OptionInfo {
  name: string;
  of: "input" | "text" | "result" | "rules" | "run" | null;
  kind: "text" | "choice" | "flag" | "number" | "moment" | "names" | "paths";
  choices: string[];
  default: unknown;
  none: boolean;
  help: string;
}

export interface About {
  version: string;
  /** the name of the directory */
  project: string;
  languages: Language[];
  limits: Record<string, number>;
  options: OptionInfo[];
  examples: string[];
}

export interface FileEntry {
  path: string;
  kind: "rules" | "event" | "net" | "model" | "other";
  language: string | null;
  size: number;
  etag: string;
  in_program: boolean;
  writable: boolean;
  /** why it is read-only */
  note?: string | null;
}

export type OptionValue = string | number | boolean | null | string[] | Record<string, string>;
export type Options = Record<string, OptionValue>;

export interface Project {
  version?: number;
  program?: { rules?: string[]; events?: string[]; options?: Options };
  icons?: Record<string, { character?: string; colour?: string; image?: string }>;
  /** file -> statement -> node -> place */
  layout?: Record<string, Record<string, Record<string, [number, number]>>>;
  /** file -> statement -> what is drawn and is no text yet */
  drafts?: Record<string, Record<string, { canvas: Canvas }>>;
  [more: string]: unknown;
}

export interface OutlineEntry {
  file: string;
  name: string;
  kind: string;
  output: string | null;
  reads: string[];
  span: Span | null;
}

/** A file of events, or a directory of such files: how it is named in the program, and whether it is read by default. */
export interface EventChoice {
  path: string;
  entry: string;
  directory: boolean;
  default: boolean;
}

export interface CheckAnswer {
  problems: Problem[];
  outline: OutlineEntry[];
  events?: EventChoice[];
}

export type Texts = Record<string, string>;

export interface Item {
  label: string;
  kind: string;
  detail: string | null;
  insert: string | null;
}

export interface CompleteAnswer {
  from: number;
  items: Item[];
}

export interface HoverAnswer {
  span: Span | null;
  text: string | null;
}

export interface DefinitionAnswer {
  places: { file: string; span: Span }[];
}

/** The name at a place, and the edits that rename it, by path; offsets count code points. Without `to` only the name. */
export interface Renamed {
  name: string | null;
  kind: "type" | "attribute" | "tag" | null;
  span: Span | null;
  edits: Record<string, { from: number; to: number; insert: string }[]>;
  problems: Problem[];
}

/** `problems` say why the text stays as it is. */
export interface FormatAnswer {
  text: string;
  problems: Problem[];
}

/** `added`: the project had no rules, so the example is its program; if not, `command` opens the example. */
export interface ExampleAnswer {
  files: string[];
  added?: boolean;
  command?: string | null;
}

export interface Retention {
  type: string | null;
  ticks: Ticks | null;
  text: string;
  unbounded: boolean;
  hint: string | null;
}

export interface Definition {
  name: string;
  language: string;
  output: string;
  reads: string[];
  level: number;
  /** the attributes of the key, by type that is read */
  key: Record<string, string[]>;
  why_no_key: string | null;
  retention: Retention[];
  state: string;
  /** warnings of the definition, such as of what its execution costs */
  warnings: { kind: string; severity: Problem["severity"]; message: string; hint: string | null }[];
  /** how hosts run it */
  notes: string[];
  file: string | null;
  line: number | null;
  span: Span | null;
}

export interface PlanAnswer {
  inputs: { type: string; attributes: { name: string; type: string | null }[] | null; intervals: boolean }[];
  definitions: Definition[];
  spark: unknown;
  stream: unknown;
  text: string;
}

export type JobState = "queued" | "running" | "done" | "failed" | "cancelled";
export type JobKind = "run" | "verify" | "space" | "random";
/** Questions about a run, which the page that asks follows by itself. */
export type QuestionKind = "why" | "why-not";

export interface Job {
  id: string;
  kind: JobKind | QuestionKind;
  state: JobState;
  progress: {
    done: number;
    total: number | null;
    at: string | number | null;
    found: number;
    /** a file of events: `done` of `total` are the bytes read before it */
    reading?: string | null;
  } | null;
  result: unknown;
  problems: Problem[];
}

/** The result of a run that is done; `first` and `last` are null if there were no rows. */
export interface RunResult {
  time: { timestamp: boolean; unit: string | null };
  first: Ticks | null;
  last: Ticks | null;
  counts: Record<string, number>;
  inputs: { name: string; count: number }[];
  types: { name: string; count: number }[];
  /** of the same types: attributes in their order, and whether they are intervals */
  schemas: { name: string; attributes: string[]; lasting: boolean }[];
  total: number;
  milliseconds: number;
}

/** Ticks beyond 2^53 - 1 are texts. */
export type Ticks = number | string;

export interface Lane {
  name: string;
  type: string;
  input: boolean;
  count: number;
  counts?: number[];
  /** start, end (null: open; of an instant its start), which row of its type */
  marks?: [Ticks, Ticks | null, number][];
}

/** `total`, `count` and `exact` are of detections, not of input events; `more` lanes are left out. */
export interface TimelineAnswer {
  total: number;
  count: number;
  exact: boolean;
  from: Ticks;
  to: Ticks;
  lanes: Lane[];
  more: number;
}

export interface Row {
  row: number | null;
  type: string;
  time: string | number | null;
  ticks: Ticks;
  end: string | number | null;
  end_ticks: Ticks | null;
  open: boolean;
  label: string | null;
  values: Record<string, unknown>;
}

/** The first columns are those of every row: row, type, time, ticks, end, end_ticks, open, label. */
export interface RowsAnswer {
  columns: { name: string; type: string }[];
  rows: unknown[][];
  total: number;
}

export interface Source {
  file: string | null;
  line: number | null;
  row: number | null;
}

/** `ticks` is null of what has no time; `more` constituents are left out. */
export interface Constituent extends Omit<Row, "ticks"> {
  role: string | null;
  ticks: Ticks | null;
  source: Source | null;
  constituents: Constituent[];
  more: number;
}

export interface WhyAnswer {
  detection: Row & { source: Source | null };
  constituents: Constituent[];
  more: number;
}

/** Two runs: detections that only one of them has, the first in the order of time. */
export interface ChangesAnswer {
  types: { type: string; gained: number; lost: number; same: number }[];
  gained: Row[];
  lost: Row[];
}

/** With problems the text is as it was. */
export interface FormatAnswer {
  text: string;
  problems: Problem[];
}

export interface PeekedRow {
  type: string;
  time: string | number;
  end: string | number | null;
  values: Record<string, unknown>;
  file: string | null;
  line: number | null;
  row: number;
}

/** `rows` and `last` of a type are null if there is more than was read. */
export interface PeekAnswer {
  types: {
    name: string;
    schema: Record<string, string>;
    rows: number | null;
    first: string | number | null;
    last: string | number | null;
  }[];
  rows: PeekedRow[];
  problems: Problem[];
}

/** A net to open; what is left out has its default. */
export type NetAsked = Partial<NetRequest>;

/** How a job of a net is done; what is left out has its default. */
export type NetJob = Partial<JobNet>;

/** One of `steps`, `end`, `row`, `transition`, `back`, `reset`. */
export type NetMove = Partial<Omit<FireRequest, "reset">> & { reset?: number | null };

/** An event of `GET updates`. */
export type Update =
  | { event: "job"; data: Job }
  | { event: "file"; data: { path: string; etag: string | null } }
  | { event: "worker"; data: { worker?: string; state?: string; message?: string } }
  | { event: "reload"; data: unknown }
  | { event: "bye"; data: unknown };

// -- drawings of EPL statements ------------------------------------------------------------------------

export interface CanvasHead {
  name: string | null;
  description: string | null;
  tags: { name: string; value: string }[];
  priority: number | string | null;
  into: string | null;
  where: string | null;
  suppress: boolean;
  discard: boolean;
}

export interface CanvasNode {
  id: string;
  kind: string;
  fields: Record<string, unknown>;
  x: number | null;
  y: number | null;
}

/** From an operand to its operator, where it has the place `order` (from 1). */
export interface CanvasLink {
  from: string;
  to: string;
  order: number;
}

export interface Canvas {
  head: CanvasHead;
  nodes: CanvasNode[];
  links: CanvasLink[];
}

export interface Statement {
  id: string;
  kind: "pattern" | "simple" | "schema" | "text";
  span: Span;
  text: string;
  canvas: Canvas | null;
  draft: boolean;
}

export interface GraphAnswer {
  statements: Statement[];
  problems: Problem[];
}

/** Characters from `from` up to `to` become `insert`; offsets count code points of the text before all edits. */
export interface Edit {
  from: number;
  to: number;
  insert: string;
}

export interface CanvasAnswer {
  text: string | null;
  edits: Edit[];
  statement: string | null;
  statements: Statement[];
  renamed: Record<string, string>;
  problems: Problem[];
}

export interface DomainChange {
  op:
    | "add-type"
    | "rename-type"
    | "remove-type"
    | "add-attribute"
    | "rename-attribute"
    | "retype-attribute"
    | "remove-attribute";
  type?: string;
  attribute?: string;
  name?: string;
  to?: string;
}

export interface DomainAnswer {
  text: string | null;
  edits: Edit[];
  problems: Problem[];
}

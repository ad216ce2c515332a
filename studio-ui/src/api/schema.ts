/** The shapes of the interface; `npm run shapes` makes them from schemas.json. */

export interface Schemas {
  About: About;
  At: At;
  Changed: Changed;
  Changes: Changes;
  Checked: Checked;
  Column: Column;
  Completions: Completions;
  Constituent: Constituent;
  Count: Count;
  Detected: Detected;
  Detection: Detection;
  Draft: Draft;
  ErrorAnswer: ErrorAnswer;
  Event: Event;
  Example: Example;
  ExportQuery: ExportQuery;
  File: File;
  Format: Format;
  Formatted: Formatted;
  Hover: Hover;
  Icon: Icon;
  InFile: InFile;
  Item: Item;
  Job: Job;
  JobRequest: JobRequest;
  JobStarted: JobStarted;
  Lane: Lane;
  Language: Language;
  Opened: Opened;
  Option: Option;
  Options: Options;
  Outline: Outline;
  Peek: Peek;
  Peeked: Peeked;
  PeekedRow: PeekedRow;
  PeekedType: PeekedType;
  Place: Place;
  Places: Places;
  Plan: Plan;
  PlanOf: PlanOf;
  Problem: Problem;
  Program: Program;
  Progress: Progress;
  Refusal: Refusal;
  Related: Related;
  Result: Result;
  Rows: Rows;
  RowsQuery: RowsQuery;
  Sidecar: Sidecar;
  Snippet: Snippet;
  Span: Span;
  Texts: Texts;
  TimeKind: TimeKind;
  Timeline: Timeline;
  TimelineQuery: TimelineQuery;
  Why: Why;
  WhyQuery: WhyQuery;
  Words: Words;
}
/**
 * The server: its version, the name of its directory, and what it can do.
 */
export interface About {
  examples: string[];
  languages: Language[];
  limits: {
    [k: string]: number;
  };
  options: Option[];
  project: string;
  version: string;
}
/**
 * A language of rules.  ``words`` is null while the language worker cannot be asked.
 */
export interface Language {
  name: string;
  suffixes: string[];
  words: Words | null;
}
/**
 * How a text of a language looks, in pieces that every editor can use.
 *
 *     A word is a letter, an underscore or one of ``word_signs``, then these and digits.  A number is digits, a fraction,
 *     an exponent.
 *
 *     Attributes:
 *         line_comments: Marks of comments that end with the line.
 *         line_start_comments: The same, but only where nothing but blanks stands before the mark in its line.
 *         block_comments: Opening and closing marks.
 *         strings: Marks around texts, which end on their line.
 *         escape: The sign before a mark in a text that does not end it; empty: a doubled mark stands for one.
 *         quoted_names: The mark around names that are no words, empty if there is none.
 *         word_signs: Signs besides letters, digits and ``_`` that words may have.
 *         variable_marks: Signs that begin a variable.
 *         ignore_case: Whether ``Select`` is the keyword ``select``.
 *         keywords: Words with a meaning, and forms of several words or signs such as ``timer:within``.
 *         constants: Words that are values.
 *         types: Names of the types of attributes.
 *         units: Units of durations.
 *         functions: Functions and aggregates.
 *         calls: How functions are called, and what they give, in a sentence.
 *         operators: Operators that are made of signs.
 *         access: The sign between an event and its attribute, empty if there is none.
 *         statement_end: The sign that ends a statement, empty if none has to.
 *         snippets: Statements to start from.
 *         forms: Pieces of statements to start from.
 *         meanings: A sentence for words and operators; keys are in lower case if ``ignore_case``.
 */
export interface Words {
  access: string;
  block_comments: [string, string][];
  calls: {
    [k: string]: string;
  };
  constants: string[];
  escape: string;
  forms: Snippet[];
  functions: string[];
  ignore_case: boolean;
  keywords: string[];
  line_comments: string[];
  line_start_comments: string[];
  meanings: {
    [k: string]: string;
  };
  operators: string[];
  quoted_names: string;
  snippets: Snippet[];
  statement_end: string;
  strings: string[];
  types: string[];
  units: string[];
  variable_marks: string;
  word_signs: string;
}
/**
 * A piece of text to start from; ``${name}`` in ``insert`` stands for what is to be filled in.
 */
export interface Snippet {
  detail: string;
  insert: string;
  label: string;
}
/**
 * An option of runs.  ``of``: what it describes or changes; null while the language worker cannot be asked.
 *
 *     ``kind``: the form of its value; a ``moment`` is a text or an integer, ``names`` are a list, ``paths`` an object
 *     from names to paths.  ``choices``: the values there are.  ``none``: null is a value of its own, not the default.
 */
export interface Option {
  choices: string[];
  default: unknown;
  help: string;
  kind: "choice" | "flag" | "moment" | "names" | "number" | "paths" | "text";
  name: string;
  none: boolean;
  of: ("input" | "result" | "rules" | "run" | "text") | null;
}
/**
 * A position in one text of the program, as an offset in code points.
 */
export interface At {
  offset: number;
  path: string;
  texts: {
    [k: string]: string;
  };
}
/**
 * How many detections of a type two runs have each alone and both.
 */
export interface Changed {
  gained: number;
  lost: number;
  same: number;
  type: string;
}
/**
 * Two runs: counts by type, and the first detections that are new or gone, in the order of time.
 */
export interface Changes {
  gained: Detection[];
  lost: Detection[];
  types: Changed[];
}
/**
 * A row of a run.  ``row``: its number in its type; ``open``: it has no end yet.
 */
export interface Detection {
  end: string | number | null;
  end_ticks: number | string | null;
  label: string | null;
  open: boolean;
  row: number | null;
  ticks: number | string | null;
  time: string | number | null;
  type: string;
  values: {
    [k: string]: unknown;
  };
}
/**
 * The problems of a program and the outline of what can be read of it.
 */
export interface Checked {
  outline: Outline[];
  problems: Problem[];
}
/**
 * A statement of a program.  ``output``: the type that it defines or declares; ``reads``: those that it reads.
 */
export interface Outline {
  file: string;
  kind: string;
  name: string;
  output: string | null;
  reads: string[];
  span: Span | null;
}
/**
 * A place in a text.  Lines and columns count from 1; ``end_column`` is the first column after the place.
 */
export interface Span {
  column: number;
  end_column: number;
  end_line: number;
  line: number;
}
/**
 * One error, warning or notice.  ``node``: the element of a drawing it is about; ``row``: the row of an input.
 */
export interface Problem {
  definition: string | null;
  file: string | null;
  hint: string | null;
  kind: string;
  message: string;
  node: string | null;
  related: Related[];
  row: number | null;
  severity: "error" | "notice" | "warning";
  span: Span | null;
}
/**
 * Another place that belongs to a problem.
 */
export interface Related {
  file: string | null;
  message: string;
  span: Span | null;
}
/**
 * A column of a table.
 */
export interface Column {
  name: string;
  type: string;
}
/**
 * What may stand at a place; ``from``: where the word begins that it replaces.
 */
export interface Completions {
  from: number;
  items: Item[];
}
/**
 * Something to complete with.  ``insert``: the text to put there, of a snippet with ``${name}`` to fill in.
 */
export interface Item {
  detail: string;
  insert: string;
  kind: "attribute" | "constant" | "function" | "keyword" | "snippet" | "tag" | "type" | "unit" | "variable";
  label: string;
}
/**
 * An event that a detection is made of.  ``more``: its constituents that are left out.
 */
export interface Constituent {
  constituents: Constituent[];
  end: string | number | null;
  end_ticks: number | string | null;
  label: string | null;
  more: number;
  open: boolean;
  role: string | null;
  row: number | null;
  source: InFile | null;
  ticks: number | string | null;
  time: string | number | null;
  type: string;
  values: {
    [k: string]: unknown;
  };
}
/**
 * A row of a file: its number from 1, and its line if rows are lines.
 */
export interface InFile {
  file: string | null;
  line: number | null;
  row: number;
}
/**
 * How many rows of a type there are.
 */
export interface Count {
  count: number;
  name: string;
}
/**
 * A type of detections: its attributes in their order, and whether it is of intervals.
 */
export interface Detected {
  attributes: string[];
  lasting: boolean;
  name: string;
}
/**
 * A drawing that is not yet a text.
 */
export interface Draft {
  canvas: {
    [k: string]: unknown;
  };
}
/**
 * Every answer that is not a success.
 */
export interface ErrorAnswer {
  error: Refusal;
}
/**
 * Why a call was refused.
 */
export interface Refusal {
  hint: string | null;
  kind: string;
  message: string;
  problems: Problem[];
}
/**
 * A detection, or a row of the input, which has a ``source``.
 */
export interface Event {
  end: string | number | null;
  end_ticks: number | string | null;
  label: string | null;
  open: boolean;
  row: number | null;
  source: InFile | null;
  ticks: number | string | null;
  time: string | number | null;
  type: string;
  values: {
    [k: string]: unknown;
  };
}
/**
 * The name of an example.
 */
export interface Example {
  name: string;
}
/**
 * Which rows, chosen as in RowsQuery, and as what; `html`: the page of `occurs plot`, input events included.
 */
export interface ExportQuery {
  format: "csv" | "html" | "jsonl" | "parquet";
  from: number | null;
  text: string;
  to: number | null;
  type: string;
}
/**
 * A file of the directory.  ``note``: why it is read-only, if that is not its kind.
 */
export interface File {
  etag: string;
  in_program: boolean;
  kind: "event" | "model" | "net" | "other" | "rules";
  language: string | null;
  note: string | null;
  path: string;
  size: number;
  writable: boolean;
}
/**
 * A text to be written in its canonical form.
 */
export interface Format {
  path: string;
  text: string;
}
/**
 * A text in its canonical form; with problems it is the text as it was.
 */
export interface Formatted {
  problems: Problem[];
  text: string;
}
/**
 * What is to be said of a place; ``text`` has lines, the first of which is code.
 */
export interface Hover {
  span: Span;
  text: string;
}
/**
 * A character in a colour, or an image file of the project.
 */
export interface Icon {
  character: string | null;
  colour:
    | ("amber" | "blue" | "cyan" | "green" | "grey" | "indigo" | "lime" | "orange" | "pink" | "red" | "teal" | "violet")
    | null;
  image: string | null;
}
/**
 * A job: how it is, and in the end its result or why it failed.
 */
export interface Job {
  id: string;
  kind: "random" | "run" | "space" | "verify";
  problems: Problem[];
  progress: Progress | null;
  result: Result | null;
  state: "cancelled" | "done" | "failed" | "queued" | "running";
}
/**
 * How far a job is: rows that are processed, of how many, the time that is reached, detections so far.
 */
export interface Progress {
  at: string | number | null;
  done: number;
  found: number;
  ticks: number | string | null;
  total: number;
}
/**
 * What a run found, or whether a verification found the engine ``equal`` to the meaning of the rules.
 *
 *     ``first``, ``last``: the clock of a run in ticks; ``counts``: rows read, bad, outside ..; ``report``: counts or
 *     differences of a verification as text.
 */
export interface Result {
  counts: {
    [k: string]: number;
  };
  equal: boolean;
  first: number | string | null;
  inputs: Count[];
  last: number | string | null;
  milliseconds: number;
  report: string;
  schemas: Detected[];
  time: TimeKind;
  total: number;
  types: Count[];
}
/**
 * What ticks count: microseconds since 1970 UTC if they are timestamps, else the unit, if there is one.
 */
export interface TimeKind {
  timestamp: boolean;
  unit: string | null;
}
/**
 * A job: unsaved texts, and events and options in the place of those of the project.
 */
export interface JobRequest {
  events: string[] | null;
  kind: "random" | "run" | "space" | "verify";
  options: {
    [k: string]: unknown;
  } | null;
  texts: {
    [k: string]: string;
  };
}
/**
 * The id of a job.
 */
export interface JobStarted {
  id: string;
}
/**
 * A lane: how many rows there are in every pixel, or one by one as [start, end, row].
 *
 *     The end of what is open is null, that of an instant its start.
 */
export interface Lane {
  count: number;
  counts: number[];
  input: boolean;
  marks: [number | string, number | string | null, number][];
  name: string;
  type: string;
}
/**
 * The files of an example that was copied.
 */
export interface Opened {
  files: string[];
}
/**
 * Those options of ``detect`` and of text files that a project may set.
 */
export interface Options {
  bad_rows: "error" | "skip";
  delimiter: string;
  encoding: string;
  end: string | null;
  ended: boolean;
  facts: {
    [k: string]: string;
  } | null;
  format: ("csv" | "json" | "jsonl" | "parquet") | null;
  label: string | null;
  max_instances: number | null;
  only: string[] | null;
  require_bounds: boolean;
  sequence: string | null;
  start: string | number | null;
  step: string | number | null;
  strict: boolean;
  time: string;
  time_format: string | null;
  time_unit: ("d" | "h" | "min" | "ms" | "s" | "us") | null;
  type: string | null;
  until: string | number | null;
  window: string | number | null;
  zone: string;
}
/**
 * Which events to look at, read how, and how many rows of each type to return.
 */
export interface Peek {
  events: string[] | null;
  options: {
    [k: string]: unknown;
  } | null;
  rows: number;
}
/**
 * What the head of some files holds.
 */
export interface Peeked {
  problems: Problem[];
  rows: PeekedRow[];
  types: PeekedType[];
}
/**
 * A row of a file: its number from 1, and its line if rows are lines.  Times are as people see them.
 */
export interface PeekedRow {
  end: string | number | null;
  file: string | null;
  line: number | null;
  row: number;
  time: string | number;
  type: string;
  values: {
    [k: string]: unknown;
  };
}
/**
 * A type in the head of some files.  ``schema``: attributes and their types.  ``rows`` and ``last``: None if there
 *     is more than was read.
 */
export interface PeekedType {
  first: string | number | null;
  last: string | number | null;
  name: string;
  rows: number | null;
  schema: {
    [k: string]: string;
  };
}
/**
 * A place in a file.
 */
export interface Place {
  file: string;
  span: Span;
}
/**
 * Where a name is defined.
 */
export interface Places {
  places: Place[];
}
/**
 * The plan of a program as plain data: dicts, lists, text and numbers.
 *
 *     Attributes:
 *         inputs: The types that come in: ``{type, attributes: [{name, type}] or None, intervals}``.
 *         definitions: ``{name, language, output, reads, level, key, why_no_key, retention, state, costs, notes, file,
 *             line, span}``; ``key``: the attributes of every type read by which it can be split; ``retention``: ``{type,
 *             ticks, text, unbounded, hint}``; ``costs``: warnings of what its execution costs, ``{kind, message, hint}``;
 *             ``notes``: how hosts run it.
 *         spark: How definitions are partitioned on Spark.
 *         stream: How their state is laid over buckets.
 *         text: The same as ``occurs explain`` prints it.
 */
export interface Plan {
  definitions: {
    [k: string]: unknown;
  }[];
  inputs: {
    [k: string]: unknown;
  }[];
  spark: {
    [k: string]: unknown;
  }[];
  stream: {
    [k: string]: unknown;
  };
  text: string;
}
/**
 * What to plan: unsaved texts, and the events that give the schemas (default: those of the project).
 */
export interface PlanOf {
  events: string[] | null;
  texts: {
    [k: string]: string;
  };
}
/**
 * Which files are run; null: all those of the directory itself.
 */
export interface Program {
  events: string[] | null;
  options: Options;
  rules: string[] | null;
}
/**
 * A page of rows, each the list of its columns' values.  The columns ``row`` (its number in its type), ``type``,
 *     ``time``, ``ticks``, ``end``, ``end_ticks``, ``open`` (it has no end yet) and ``label`` are first.
 */
export interface Rows {
  columns: Column[];
  rows: unknown[][];
  total: number;
}
/**
 * Which rows: types (`A,B`; none: all detections), a range of ticks, a text in them; sorted by a column (`-v`: the
 *     greatest first).
 */
export interface RowsQuery {
  from: number | null;
  limit: number;
  offset: number;
  sort: string;
  text: string;
  to: number | null;
  type: string;
}
/**
 * The content of ``studio.json``.
 */
export interface Sidecar {
  drafts: {
    [k: string]: {
      [k: string]: Draft;
    };
  };
  icons: {
    [k: string]: Icon;
  };
  layout: {
    [k: string]: {
      [k: string]: {
        /**
         * @minItems 2
         * @maxItems 2
         */
        [k: string]: [number, number];
      };
    };
  };
  program: Program;
  version: 1;
}
/**
 * Unsaved texts by path; the rest of the program comes from disk.
 */
export interface Texts {
  texts: {
    [k: string]: string;
  };
}
/**
 * A range of time.  ``total``, ``count`` (in the range), ``exact`` (one by one): of detections.
 *
 *     ``more``: lanes that are left out.
 */
export interface Timeline {
  count: number;
  exact: boolean;
  from: number | string;
  lanes: Lane[];
  more: number;
  to: number | string;
  total: number;
}
/**
 * A range in ticks, both ends included (default: all), pixels, an attribute to have lanes by, types (`A,B`).
 */
export interface TimelineQuery {
  by: string | null;
  from: number | null;
  to: number | null;
  types: string;
  width: number;
}
/**
 * A detection and what it is made of.  ``more``: constituents that are left out.
 */
export interface Why {
  constituents: Constituent[];
  detection: Event;
  more: number;
}
/**
 * How many levels of constituents.
 */
export interface WhyQuery {
  depth: number | null;
}

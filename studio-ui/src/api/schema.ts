/** The shapes of the interface; `npm run shapes` makes them from schemas.json. */

export interface Schemas {
  About: About;
  At: At;
  Bar: Bar;
  Canvas: Canvas;
  CanvasHead: CanvasHead1;
  CanvasLink: CanvasLink;
  CanvasNode: CanvasNode;
  CanvasOf: CanvasOf;
  CanvasTag: CanvasTag;
  Change: Change;
  Changed: Changed;
  Changes: Changes;
  Checked: Checked;
  Column: Column;
  Completions: Completions;
  Constituent: Constituent;
  Count: Count;
  Derivation: Derivation;
  Detected: Detected;
  Detection: Detection;
  Difference: Difference;
  DomainChanged: DomainChanged;
  DomainOf: DomainOf;
  Draft: Draft;
  Edit: Edit;
  Edited: Edited;
  ErrorAnswer: ErrorAnswer;
  Event: Event;
  EventFile: EventFile;
  Example: Example;
  ExportQuery: ExportQuery;
  FailedClause: FailedClause;
  File: File;
  FireRequest: FireRequest;
  Format: Format;
  Formatted: Formatted;
  FoundRow: FoundRow;
  Graph: Graph;
  GraphOf: GraphOf;
  Hover: Hover;
  Icon: Icon;
  InFile: InFile;
  Item: Item;
  Job: Job;
  JobNet: JobNet;
  JobRequest: JobRequest;
  JobStarted: JobStarted;
  Lane: Lane;
  Language: Language;
  ModelOf: ModelOf;
  NetArc: NetArc;
  NetBreaks: NetBreaks;
  NetChange: NetChange;
  NetChoice: NetChoice;
  NetCounted: NetCounted;
  NetDerived: NetDerived;
  NetDrawing: NetDrawing;
  NetEdit: NetEdit;
  NetExportQuery: NetExportQuery;
  NetFiring: NetFiring;
  NetOpened: NetOpened;
  NetOrigin: NetOrigin;
  NetPage: NetPage;
  NetPlace: NetPlace;
  NetRequest: NetRequest;
  NetRow: NetRow;
  NetState: NetState;
  NetTaken: NetTaken;
  NetText: NetText;
  NetTransition: NetTransition;
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
  Reason: Reason;
  Refusal: Refusal;
  Related: Related;
  Rename: Rename;
  Renamed: Renamed;
  Repair: Repair;
  RepairedText: RepairedText;
  Result: Result;
  Rows: Rows;
  RowsQuery: RowsQuery;
  SideCounts: SideCounts;
  Sidecar: Sidecar;
  Snippet: Snippet;
  Span: Span;
  Statement: Statement;
  Texts: Texts;
  TimeKind: TimeKind;
  Timeline: Timeline;
  TimelineQuery: TimelineQuery;
  Token: Token;
  Tokens: Tokens;
  Why: Why;
  WhyNode: WhyNode;
  WhyNot: WhyNot;
  WhyNotRequest: WhyNotRequest;
  WhyQuery: WhyQuery;
  WhyRequest: WhyRequest;
  WitnessRow: WitnessRow;
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
 * A word is a letter, an underscore or one of ``word_signs``, then these and digits.  A number is digits, a fraction,
 * an exponent.
 *
 * Attributes:
 *     line_comments: Marks of comments that end with the line.
 *     line_start_comments: The same, but only where nothing but blanks stands before the mark in its line.
 *     block_comments: Opening and closing marks.
 *     strings: Marks around texts, which end on their line.
 *     escape: The sign before a mark in a text that does not end it; empty: a doubled mark stands for one.
 *     quoted_names: The mark around names that are no words, empty if there is none.
 *     word_signs: Signs besides letters, digits and ``_`` that words may have.
 *     variable_marks: Signs that begin a variable.
 *     ignore_case: Whether ``Select`` is the keyword ``select``.
 *     keywords: Words with a meaning, and forms of several words or signs such as ``timer:within``.
 *     constants: Words that are values.
 *     types: Names of the types of attributes.
 *     units: Units of durations.
 *     functions: Functions and aggregates.
 *     calls: How functions are called, and what they give, in a sentence.
 *     operators: Operators that are made of signs.
 *     access: The sign between an event and its attribute, empty if there is none.
 *     statement_end: The sign that ends a statement, empty if none has to.
 *     snippets: Statements to start from.
 *     forms: Pieces of statements to start from.
 *     meanings: A sentence for words and operators; keys are in lower case if ``ignore_case``.
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
 * ``kind``: the form of its value; a ``moment`` is a text or an integer, ``names`` are a list, ``paths`` an object
 * from names to paths.  ``choices``: the values there are.  ``none``: null is a value of its own, not the default.
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
 * The number of runs in which something was there ``low`` to ``high`` times.
 */
export interface Bar {
  high: number;
  low: number;
  runs: number;
}
/**
 * The drawing of one EPL statement.
 */
export interface Canvas {
  head: CanvasHead;
  links: CanvasLink[];
  nodes: CanvasNode[];
}
/**
 * The statement around a drawn pattern.  ``into``: the type that it derives, as the complex event says, too.
 *
 * ``where``: the condition on detections.
 */
export interface CanvasHead {
  description: string | null;
  discard: boolean;
  into: string | null;
  name: string | null;
  priority: number | string | null;
  suppress: boolean;
  tags: CanvasTag[];
  where: string | null;
}
/**
 * An annotation `@Tag(name='..', value='..')`.
 */
export interface CanvasTag {
  name: string;
  value: string;
}
/**
 * From an operand to its operator, where it has the place ``order`` (from 1).
 */
export interface CanvasLink {
  from: string;
  order: number;
  to: string;
}
/**
 * A node of a drawing; ``fields``: those of its kind.  It has no place (null) where it is to be laid out.
 */
export interface CanvasNode {
  fields: {
    [k: string]: unknown;
  };
  id: string;
  kind: string;
  x: number | null;
  y: number | null;
}
/**
 * The statement around a drawn pattern.  ``into``: the type that it derives, as the complex event says, too.
 *
 * ``where``: the condition on detections.
 */
export interface CanvasHead1 {
  description: string | null;
  discard: boolean;
  into: string | null;
  name: string | null;
  priority: number | string | null;
  suppress: boolean;
  tags: CanvasTag[];
  where: string | null;
}
/**
 * A drawing to put in the place of a statement of an EPL text; ``statement``: its id, null for a new one.
 */
export interface CanvasOf {
  canvas: Canvas;
  path: string | null;
  statement: string | null;
  text: string;
  texts: {
    [k: string]: string;
  };
}
/**
 * A change of a type of events or of its attribute; ``to``: the new name, or the type of the attribute.
 *
 * ``name``: the name of what is added, if ``type`` or ``attribute`` does not say it.
 */
export interface Change {
  attribute: string | null;
  name: string | null;
  op:
    | "add-attribute"
    | "add-type"
    | "remove-attribute"
    | "remove-type"
    | "rename-attribute"
    | "rename-type"
    | "retype-attribute";
  to: string | null;
  type: string | null;
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
 * The problems of a program, the outline of what can be read of it, and the events that it can be run on.
 */
export interface Checked {
  events: EventFile[];
  outline: Outline[];
  problems: Problem[];
}
/**
 * A file of events, or a directory in which all files are events.
 *
 * ``entry``: how it is read if nobody says it, `PATH` or `TYPE=PATH`.  ``default``: whether it is read if the project
 * names no events.
 */
export interface EventFile {
  default: boolean;
  directory: boolean;
  entry: string;
  path: string;
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
 * Everything that was checked for a detection.
 *
 * ``more``: nodes that are left out; ``leaves``: rows of the input.
 */
export interface Derivation {
  label: string | null;
  leaves: number;
  more: number;
  nodes: WhyNode[];
  notes: string[];
}
/**
 * A node of a derivation, numbered from 1, behind its parent.
 *
 * ``kind``: `detection`, `event`, `timer`, `clause`, `absence` (with the time in which no such row was allowed),
 * `aggregate`, `passed`.
 */
export interface WhyNode {
  clause: string | null;
  definition: string | null;
  end: string | number | null;
  end_ticks: number | string | null;
  file: string | null;
  found: string | null;
  kind: string;
  label: string | null;
  message: string | null;
  needed: string | null;
  node: number;
  parent: number | null;
  role: string | null;
  span: Span | null;
  ticks: number | string | null;
  time: string | number | null;
  type: string | null;
  values: {
    [k: string]: unknown;
  };
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
 * The first instant at which a side differs from the reference in a type.
 *
 * ``text``: detections that are missing or unexpected; ``why``: what the run of a net says of it.
 */
export interface Difference {
  side: string;
  text: string;
  ticks: number | string;
  time: string | number;
  type: string;
  why: string[];
}
/**
 * A text after a change of its types; null if there are errors.
 */
export interface DomainChanged {
  edits: Edit[];
  problems: Problem[];
  text: string | null;
}
/**
 * The characters from ``from`` up to ``to`` become ``insert``; offsets count code points.
 */
export interface Edit {
  from: number;
  insert: string;
  to: number;
}
/**
 * A change of the types that an EPL text declares.
 */
export interface DomainOf {
  change: Change;
  path: string | null;
  text: string;
  texts: {
    [k: string]: string;
  };
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
 * A text after an edit of a drawing; null if the drawing has errors.  ``renamed``: ids of nodes that have other
 * ones now.
 */
export interface Edited {
  edits: Edit[];
  problems: Problem[];
  renamed: {
    [k: string]: string;
  };
  statement: string | null;
  statements: Statement[];
  text: string | null;
}
/**
 * A statement of an EPL text.  ``canvas``: its drawing, null for a schema.
 */
export interface Statement {
  canvas: Canvas | null;
  draft: boolean;
  id: string;
  kind: "pattern" | "schema" | "simple" | "text";
  span: Span;
  text: string;
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
 * A clause of a reason.  ``repair``: the text in its place (empty: it is removed).
 */
export interface FailedClause {
  clause: string | null;
  definition: string | null;
  end: string | number | null;
  end_ticks: number | string | null;
  file: string | null;
  found: string | null;
  kind: string;
  label: string | null;
  message: string | null;
  needed: string | null;
  repair: string;
  span: Span | null;
  ticks: number | string | null;
  time: string | number | null;
  type: string | null;
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
 * One of: a number of firings (``steps``), a run to the ``end`` or to the entry of a ``row``, one ``transition``
 * (with a ``binding`` as the state lists it; without: the first), firings to take ``back``, or ``reset`` with a seed
 * or null.
 *
 * ``breaks``: of runs.
 */
export interface FireRequest {
  back: number;
  binding: {
    [k: string]: string;
  } | null;
  breaks: NetBreaks | null;
  end: true;
  reset: number | null;
  row: number;
  steps: number;
  transition: string;
}
/**
 * Where a run stops: behind a firing of a transition, and when a place gets a number of tokens.
 */
export interface NetBreaks {
  places: {
    [k: string]: number;
  };
  transitions: string[];
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
 * A detection that was asked for and is there.
 */
export interface FoundRow {
  end: string | number | null;
  end_ticks: number | string | null;
  ticks: number | string | null;
  time: string | number | null;
  values: {
    [k: string]: unknown;
  };
}
/**
 * The statements of an EPL text; ``definition`` of a problem is the id of its statement.
 */
export interface Graph {
  problems: Problem[];
  statements: Statement[];
}
/**
 * An EPL text to draw.  With its ``path`` the rest of the program counts, too: ``texts`` are its unsaved ones.
 */
export interface GraphOf {
  path: string | null;
  text: string;
  texts: {
    [k: string]: string;
  };
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
  kind: "random" | "run" | "space" | "verify" | "why" | "why-not";
  problems: Problem[];
  progress: Progress | null;
  result: Result | null;
  state: "cancelled" | "done" | "failed" | "queued" | "running";
}
/**
 * How far a job is.
 *
 * Of a run: rows that are processed, of how many, the time that is reached, detections so far.  ``done`` of ``total``
 * are else sides (`verify`), expanded markings of those that are known (`space`), or runs (`random`).  While events
 * are read, ``reading`` names the file, and ``done`` of ``total`` are the bytes of the files before it and of all.
 */
export interface Progress {
  at: string | number | null;
  done: number;
  found: number;
  reading: string | null;
  ticks: number | string | null;
  total: number;
}
/**
 * What a job found; the members depend on its kind.
 *
 * Of a run: ``first``, ``last``: its clock in ticks; ``counts``: rows read, bad, outside ..  Of a verification:
 * ``equal``, ``report`` as text, ``sides`` with their ``table`` and ``differences``, ``firings`` of the nets,
 * ``without``: why there is no net, or one only.  Of a state space: ``report``, ``complete``, ``nodes``, ``arcs``, and
 * the numbers of markings that are dead or home (null if unknown).  Of random streams: ``counted``.  Of questions:
 * ``why``, ``why_not``.
 */
export interface Result {
  arcs: number;
  complete: boolean;
  confidence: number;
  counted: NetCounted[];
  counts: {
    [k: string]: number;
  };
  dead_markings: number;
  dead_transitions: string[];
  differences: Difference[];
  equal: boolean;
  firings: {
    [k: string]: number;
  };
  first: number | string | null;
  home_markings: number | null;
  inputs: Count[];
  last: number | string | null;
  milliseconds: number;
  nodes: number;
  report: string;
  runs: number;
  schemas: Detected[];
  sides: string[];
  table: SideCounts[];
  time: TimeKind;
  total: number;
  types: Count[];
  why: Derivation;
  why_not: WhyNot;
  without: string | null;
}
/**
 * How often something was there in each of many random runs.
 *
 * Attributes:
 *     of: Rows of the input, events that statements derive, or firings.
 *     interval: Of the mean; None for a single run.
 *     share: The share of runs in which it was there at all.
 *     histogram: At most 20 bars.
 */
export interface NetCounted {
  histogram: Bar[];
  interval: [number, number] | null;
  least: number;
  mean: number;
  most: number;
  name: string;
  of: "firings" | "input" | "output";
  share: number;
  /**
   * @minItems 2
   * @maxItems 2
   */
  share_interval: [number, number];
}
/**
 * The numbers of detections of a type, in the order of the sides.
 */
export interface SideCounts {
  counts: number[];
  type: string;
}
/**
 * What ticks count: microseconds since 1970 UTC if they are timestamps, else the unit, if there is one.
 */
export interface TimeKind {
  timestamp: boolean;
  unit: string | null;
}
/**
 * The answer to why there is no detection: reasons, the nearest first.
 *
 * ``found``: how many there are after all, the first of them in ``rows``.  ``complete``: whether no repair was left
 * untried; ``notes`` say what was not.  The range is as it was understood, in ticks.
 */
export interface WhyNot {
  complete: boolean;
  found: number;
  from: number | string;
  notes: string[];
  reasons: Reason[];
  rows: FoundRow[];
  to: number | string;
  type: string;
  where: {
    [k: string]: unknown;
  };
}
/**
 * A smallest set of clauses without which the detection would be there.
 *
 * ``repair``: a sentence; ``files``: the paths of the texts that the repair changes, which `repairs` returns;
 * ``added``: the row that it adds to the input, or null; ``more``: rows of the witness that are left out.
 */
export interface Reason {
  added: {
    [k: string]: unknown;
  } | null;
  clauses: FailedClause[];
  cost: number;
  files: string[];
  more: number;
  number: number;
  repair: string;
  verified: boolean;
  witness: WitnessRow[];
}
/**
 * A row that a reason shows: of the repaired detection, or (not ``ok``) one at which a clause failed.
 *
 * ``added``: it is not in the input; ``parent``: the number of the derived row that it belongs to, from 0.
 */
export interface WitnessRow {
  added: boolean;
  end: string | number | null;
  end_ticks: number | string | null;
  label: string | null;
  ok: boolean;
  parent: number | null;
  role: string | null;
  ticks: number | string | null;
  time: string | number | null;
  type: string | null;
  values: {
    [k: string]: unknown;
  };
}
/**
 * The net of a job that is not a run.
 *
 * Attributes:
 *     path: A file of rules, or for `space` of a net; null: the whole program.
 *     black: Of `space` and `random`: whether to keep black transitions.
 *     first: The number at which searches start.
 *     sink_exits: Whether to keep the Exit places below `every` empty.
 *     rows: The maximum number of rows: 1,000 for `space`, 20,000 for `verify`.
 *     max_states: Of `space`: the number of markings at which the search stops.
 *     stream: Of `random`: the file that describes the streams (`.toml`, `.json`), or the description itself.
 *     runs: Of `random`: the number of runs.
 *     seed: Of `random`: determines all streams.
 *     steps: Of `random`: the maximum number of firings of a run.
 */
export interface JobNet {
  black: boolean;
  first: 0 | 1;
  max_states: number;
  path: string | null;
  rows: number | null;
  runs: number;
  seed: number;
  sink_exits: boolean;
  steps: number | null;
  stream:
    | string
    | {
        [k: string]: unknown;
      }
    | null;
}
/**
 * A job: unsaved texts, and events and options in the place of those of the project.
 *
 * ``run`` the program, ``verify`` it with its nets, explore the state ``space`` of its net, or count over ``random``
 * streams.
 */
export interface JobRequest {
  events: string[] | null;
  kind: "random" | "run" | "space" | "verify";
  net: JobNet | null;
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
 * The end of what is open is null, that of an instant its start.
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
 * A statement of an EPL text to make a graphical model of, or the graphical model to make a text of.
 *
 * ``xml``: the content of a ``.pattern`` or ``.domain`` file of MEdit4CEP, to make a text of.
 */
export interface ModelOf {
  model: {
    [k: string]: unknown;
  } | null;
  statement: string | null;
  text: string | null;
  xml: string | null;
}
/**
 * A line between a place and a transition, for one arc or for two with the same inscription.
 *
 * Attributes:
 *     into: Whether it has a head at the transition.
 *     out: Whether it has a head at the place.
 *     points: From the place to the transition: two points, or three of a curve through the second.
 *     text: The inscription as CPN ML.
 *     label: The inscription, where it is written.
 */
export interface NetArc {
  into: boolean;
  label: NetText | null;
  out: boolean;
  place: string;
  points: [number, number][];
  text: string;
  transition: string;
}
/**
 * Lines of text and their middle.
 */
export interface NetText {
  lines: string[];
  x: number;
  y: number;
}
/**
 * A new text of an element, as CPN ML.
 *
 * ``element``: a place for ``initial``, else a transition.  Of an ``arc`` also its ``place``, and whether it leads
 * ``into`` the transition; null: both directions, as a line with two heads is.
 */
export interface NetChange {
  element: string;
  into: boolean | null;
  place: string | null;
  text: string;
  what: "arc" | "guard" | "initial" | "priority";
}
/**
 * A transition that can fire, with the first of its bindings; ``count``: of all of them.
 */
export interface NetChoice {
  bindings: {
    [k: string]: string;
  }[];
  count: number;
  more: boolean;
  transition: string;
}
/**
 * An event that a firing derived.
 */
export interface NetDerived {
  taken: NetTaken[];
  ticks: number;
  time: string | number;
  type: string;
  values: {
    [k: string]: unknown;
  };
}
/**
 * An event that a derived event is made of: its tag, and its row; None if a statement derived it.
 */
export interface NetTaken {
  row: NetRow | null;
  tag: string;
}
/**
 * A row of the input of a net: its number from 1 in the order in which rows enter, and its place in a file.
 */
export interface NetRow {
  file: string | null;
  line: number | null;
  number: number;
  row: number | null;
  ticks: number;
  time: string | number;
  type: string;
}
/**
 * A net.  ``width``, ``height``: of the sheet with all pages.
 */
export interface NetDrawing {
  height: number;
  name: string;
  pages: NetPage[];
  width: number;
}
/**
 * A page.  ``x``, ``y``: its upper left corner on the sheet of all pages.
 */
export interface NetPage {
  arcs: NetArc[];
  height: number;
  name: string;
  places: NetPlace[];
  transitions: NetTransition[];
  width: number;
  x: number;
  y: number;
}
/**
 * A place: an ellipse.
 *
 * Attributes:
 *     x: The middle on its page, as y.
 *     colour: The name of its colour set.
 *     role: Its role in a net of event patterns; ``Fp`` is F'.
 *     fusion: The name of its fusion set; None if it is not fused.
 *     holder: The place that stands for its fusion set in states; itself if it is not fused.
 *     initial: The initial tokens.
 *     note: Where the colour and the fusion set are written.
 *     tokens_at: The middle of the text with the number of tokens.
 */
export interface NetPlace {
  colour: string;
  fusion: string | null;
  height: number;
  holder: string;
  initial: Tokens;
  name: string;
  note: NetText;
  origin: NetOrigin | null;
  role: ("Clock" | "Control" | "End" | "Exit" | "F" | "Fp" | "Init" | "Input" | "Seq") | null;
  /**
   * @minItems 2
   * @maxItems 2
   */
  tokens_at: [number, number];
  width: number;
  x: number;
  y: number;
}
/**
 * The tokens of a place: how many there are, the values of up to 200 of them, and how many are left out.
 */
export interface Tokens {
  count: number;
  more: number;
  tokens: Token[];
}
/**
 * A value on a place, as text, and how often it is there.  A text of more than 2,000 characters is cut.
 */
export interface Token {
  count: number;
  value: string;
}
/**
 * The statement that an element belongs to, and the part of its text.
 */
export interface NetOrigin {
  definition: string;
  file: string | null;
  span: Span | null;
}
/**
 * A transition: a box.
 *
 * Attributes:
 *     priority: The level; lower is more urgent.
 *     urgency: The level by its name (``P_HN``), or as a number.
 *     guard: As CPN ML, in brackets; empty if it has none.
 *     note: Where the urgency is written; None for ``P_NORMAL``.
 *     label: The guard, where it is written.
 */
export interface NetTransition {
  black: boolean;
  guard: string;
  height: number;
  label: NetText | null;
  name: string;
  note: NetText | null;
  origin: NetOrigin | null;
  priority: number;
  urgency: string;
  width: number;
  x: number;
  y: number;
}
/**
 * Changes of a net, all of which are made, or none.
 */
export interface NetEdit {
  changes: NetChange[];
}
/**
 * A file: for CPN Tools, with black transitions, or a picture with the tokens of now.
 */
export interface NetExportQuery {
  format: "cpn" | "net.json" | "svg";
  theme: "dark" | "light";
}
/**
 * A firing.
 *
 * Attributes:
 *     step: Its number, from 1.
 *     binding: The values of its variables as texts.
 *     row: The row of the input that it took or let in.
 *     derived: The event that it derived.
 */
export interface NetFiring {
  binding: {
    [k: string]: string;
  };
  derived: NetDerived | null;
  row: NetRow | null;
  step: number;
  transition: string;
}
/**
 * A net that was opened, with its drawing and its first state.
 *
 * ``state`` is null if it cannot be run, as a problem says.  ``rows``: the first 1,000.  ``problems``: statements
 * without a net, rows that are left out, and parts of a file that are not supported.
 */
export interface NetOpened {
  id: string;
  net: NetDrawing;
  problems: Problem[];
  rows: NetRow[];
  state: NetState | null;
}
/**
 * The state of a net after a call.
 *
 * Attributes:
 *     steps: The number of firings so far.
 *     row: The number of rows that have entered.
 *     rows: The number of all rows.
 *     seed: Of the random choices; None if the first enabled transition fires.
 *     changed: The tokens of the places that are other than before the call, by ``holder``.  After opening, those of
 *         all places that have any.  A run that is stopped by ``time`` only counts them; the next answer has them.
 *     enabled: The transitions that can fire, in the order of the net.
 *     fired: The last 200 firings of the call.
 *     more: The number of earlier firings of the call.
 *     stopped: Why a run stopped; ``time``: it may go on, ask again.
 *     at: The transition or place of a break.
 */
export interface NetState {
  at: string | null;
  changed: {
    [k: string]: Tokens;
  };
  enabled: NetChoice[];
  fired: NetFiring[];
  more: number;
  row: number;
  rows: number;
  seed: number | null;
  steps: number;
  stopped: ("break" | "end" | "row" | "steps" | "time") | null;
}
/**
 * A net to open: of the EPL statements of the program with events, or of a file.
 *
 * Attributes:
 *     texts: Unsaved texts.
 *     path: A file of a net, or one file of rules; null: the whole program.
 *     events: Null: those of the project.  A file of a net has its own tokens.
 *     options: How the events are read; null: as the project says.
 *     black: Whether to keep black transitions; they are encoded with priorities otherwise.
 *     first: The number at which searches start.
 *     sink_exits: Whether to keep the Exit places below `every` empty.
 *     rows: The maximum number of rows.
 */
export interface NetRequest {
  black: boolean;
  events: string[] | null;
  first: 0 | 1;
  options: {
    [k: string]: unknown;
  } | null;
  path: string | null;
  rows: number;
  sink_exits: boolean;
  texts: {
    [k: string]: string;
  };
}
/**
 * The files of an example that was copied.
 *
 * ``added``: the project, which had no rules, has its program now.  ``command``: else, how to open it.
 */
export interface Opened {
  added: boolean;
  command: string | null;
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
  max_steps: number | null;
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
 * A type in the head of some files.  ``schema``: attributes and their types.  ``rows``: None if there is more than
 * was read.  ``last``: then the greatest time in the beginning and the end of the files, None if that is not known.
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
 * Attributes:
 *     inputs: The types that come in: ``{type, attributes: [{name, type}] or None, intervals}``.
 *     definitions: ``{name, language, output, reads, level, key, why_no_key, retention, state, notes, warnings, file,
 *         line, span}``; ``key``: the attributes of every type read by which it can be split; ``retention``: ``{type,
 *         ticks, text, unbounded, hint}``; ``notes``: how hosts run it; ``warnings``: such as costs, ``{kind,
 *         severity, message, hint}``.
 *     spark: How definitions are partitioned on Spark.
 *     stream: How their state is laid over buckets.
 *     text: The same as ``occurs explain`` prints it.
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
 * A position in one text of the program, and a name; null: only say what can be renamed.
 */
export interface Rename {
  offset: number;
  path: string;
  texts: {
    [k: string]: string;
  };
  to: string | null;
}
/**
 * The name at a place with its span, all null if there is none, and the edits by path.
 *
 * With problems there are no edits.
 */
export interface Renamed {
  edits: {
    [k: string]: Edit[];
  };
  kind: ("attribute" | "tag" | "type") | null;
  name: string | null;
  problems: Problem[];
  span: Span | null;
}
/**
 * The texts that a repair changes.
 */
export interface Repair {
  texts: RepairedText[];
}
/**
 * A text as it was run, and as a repair changes it.
 */
export interface RepairedText {
  after: string;
  before: string;
  path: string;
}
/**
 * A page of rows, each the list of its columns' values.  The columns ``row`` (its number in its type), ``type``,
 * ``time``, ``ticks``, ``end``, ``end_ticks``, ``open`` (it has no end yet) and ``label`` are first.
 */
export interface Rows {
  columns: Column[];
  rows: unknown[][];
  total: number;
}
/**
 * Which rows: types (`A,B`; none: all detections), a range of ticks, a text in them; sorted by a column (`-v`: the
 * greatest first).
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
 * ``more``: lanes that are left out.
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
 * A detection that a run does not have, and of which is asked why.
 *
 * Attributes:
 *     type: Its type.
 *     where: Values of its attributes as text, which is read by the type of the attribute; null is null.
 *     begin: Its earliest time: ticks, or a time as text; null: that of the run.
 *     stop: Its latest time.
 *     edits: The maximum number of clauses of a reason.
 *     limit: The maximum number of reasons.
 *     variants: The maximum number of relaxed programs that are tried.
 */
export interface WhyNotRequest {
  edits: number;
  from: number | string | null;
  limit: number;
  to: number | string | null;
  type: string;
  variants: number;
  where: {
    [k: string]: string | null;
  };
}
/**
 * How many levels of constituents.
 */
export interface WhyQuery {
  depth: number | null;
}
/**
 * The label of a detection of a run, of which everything that was checked is asked.
 */
export interface WhyRequest {
  label: string;
}

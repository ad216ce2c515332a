/** The state of the Run view: which events, the run that is shown, what of it is in view, what is marked. */
import { create } from "zustand";
import type { Job, Row, RunResult, Ticks } from "../api/types";
import { keepSizes, keptSizes } from "../parts/sizes";
import type { Snapshot } from "./changed";
import type { Offered } from "./copies";
import type { Picture } from "./lanes";
import { Clock, exact, type Range, type TimeKind } from "./time";
import { limitsOf } from "./view";

/** What a run has found: counts by type in the order of evaluation, and the range of its times. */
export interface Result {
  kind: TimeKind;
  first: Ticks;
  last: Ticks;
  found: { type: string; count: number; attributes: string[]; lasting: boolean }[];
  inputs: string[];
  total: number;
  /** rows that were read, and those that did not count */
  counts: Record<string, number>;
  milliseconds: number;
}

/** A time that is marked: the chosen detection, or one of its constituents. */
export interface Marked {
  type: string;
  start: Ticks;
  end: Ticks | null;
  label: string | null;
  row: number | null;
  /** it is a time in which something was looked for and not found */
  absent?: boolean;
  /** a clause failed at it */
  failed?: boolean;
  /** the lane in which it is, where that is known */
  lane?: string;
}

/** Why no run was started. `problems`: the list of problems has more; `option`: a field that is wrong. */
export interface Refused {
  title: string;
  text: string;
  hint: string | null;
  problems?: boolean;
  /** it is nobody's fault, something is only still to be done */
  quiet?: boolean;
  /** there are none yet: some can be made */
  rules?: boolean;
  option?: string;
}

export interface RunState {
  /** when the run began and ended, by this page's clock */
  began: number | null;
  ended: number | null;
  /** why no run was started: errors in the rules, or the server's answer */
  refused: Refused | null;
  /** a run that has failed, but whose events or options were changed since: its trouble is not shown any more */
  dismissed: string | null;
  snapshot: Snapshot | null;
  starting: boolean;
  job: string | null;
  result: Result | null;
  /** whose result that is */
  shown: string | null;
  /** the types in the order of their colours, as it was when the run ended */
  order: string[] | null;
  /** the server has no longer the run that is shown */
  gone: boolean;
  clock: Clock | null;
  limits: Range;
  range: Range;
  brush: Range | null;
  picture: Picture | null;
  pictureError: string | null;
  /** the attribute by which lanes are split (empty: by type alone), and those there are */
  by: string;
  attributes: string[];
  /** whether the lanes of input events are shown */
  inputs: boolean | null;
  /** the timeline has little room: inputs, which nobody has asked for, leave it to the detections */
  crowded: boolean;
  types: string[];
  filter: string;
  sort: string;
  chosen: Marked | null;
  constituents: Marked[];
  pointed: Marked | null;
  peek: string | null;
  /** texts in the fields of options that are not the project's: they are being typed, or are wrong */
  typed: Record<string, string>;
  /** the option whose field is to have the focus */
  wanted: string | null;
  /** what the server says of options, each by its name; `options`: as they were then */
  told: { options: string; of: Record<string, string> } | null;
  /** files from elsewhere that may be copied into the directory: who dropped or chose them is asked first */
  offered: Offered[];
  /** the run before the one that is shown */
  before: string | null;
  comparing: boolean;
  /** whether events and options are shown; null: if there is room */
  side: boolean | null;
  sideWidth: number;
  timelineHeight: number;
  /** whether everything that was checked for a detection is asked for */
  checks: boolean;
}

const nowhere = { from: 0, to: 1 };

const SIZES = "occurs-run-sizes";
const sizes = keptSizes(SIZES, {
  side: null as boolean | null,
  sideWidth: 240,
  timelineHeight: 0,
  inputs: null as boolean | null,
  checks: false,
});

export const useRun = create<RunState>()(() => ({
  began: null,
  ended: null,
  refused: null,
  dismissed: null,
  snapshot: null,
  starting: false,
  job: null,
  result: null,
  shown: null,
  order: null,
  gone: false,
  clock: null,
  limits: nowhere,
  range: nowhere,
  brush: null,
  picture: null,
  pictureError: null,
  by: "",
  attributes: [],
  types: [],
  filter: "",
  sort: "time",
  chosen: null,
  constituents: [],
  pointed: null,
  peek: null,
  typed: {},
  wanted: null,
  told: null,
  offered: [],
  before: null,
  comparing: false,
  crowded: false,
  ...sizes,
}));

useRun.subscribe(({ side, sideWidth, timelineHeight, inputs, checks }, before) => {
  const now = { side, sideWidth, timelineHeight, inputs, checks };
  const changed = (Object.keys(now) as (keyof typeof now)[]).some((name) => now[name] !== before[name]);
  if (changed) keepSizes(SIZES, now);
});

export const getRun = useRun.getState;
export const setRun = useRun.setState;

/** Whether inputs have lanes: as it was chosen, else if there is room. */
export function showsInputs({ inputs, crowded }: RunState): boolean {
  return inputs ?? !crowded;
}

/** The result of a run that is done, from the job's answer. */
export function resultOf(job: Job): Result | null {
  const given = job.result as RunResult | null;
  if (!given || job.state !== "done") return null;
  const first = given.first ?? 0;
  return {
    kind: given.time,
    first,
    last: given.last ?? first,
    found: given.types.map(({ name, count }) => {
      const schema = given.schemas.find((one) => one.name === name);
      return { type: name, count, attributes: schema?.attributes ?? [], lasting: schema?.lasting ?? false };
    }),
    inputs: given.inputs.map(({ name }) => name),
    total: given.total,
    counts: given.counts,
    milliseconds: given.milliseconds,
  };
}

/** The view of a new result: all of it. */
export function viewOf(result: Result, zone: string): Pick<RunState, "clock" | "limits" | "range"> {
  const clock = new Clock(result.kind, exact(result.first), zone);
  const limits = limitsOf(0, clock.offset(result.last));
  return { clock, limits, range: limits };
}

/** A row as it is marked on the timeline, if it has a time. */
export function markedOf(one: Omit<Row, "ticks"> & { ticks: Ticks | null }): Marked | null {
  if (one.ticks === null) return null;
  const { type, end_ticks: end, label, row } = one;
  return { type, start: one.ticks, end, label, row };
}

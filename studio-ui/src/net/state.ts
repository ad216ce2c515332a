/** The state of the Net view: the net that is shown, its tokens, its log; what changes it is in `actions.ts`. */
import { create } from "zustand";
import type {
  NetChoice,
  NetDrawing,
  NetFiring,
  NetPlace,
  NetRow,
  NetTransition,
  Problem,
} from "../api/schema";
import type { Marking } from "./log";

/** Why there is no net, or a call was refused. */
export interface Trouble {
  title: string;
  text: string;
  hint: string | null;
  problems: readonly Problem[];
  /** what may help */
  action: "open" | "problems" | "example" | null;
}

/** Where runs stop: behind a firing of a transition, and when a place has so many tokens. */
export interface Breakpoints {
  transitions: readonly string[];
  places: Readonly<Record<string, number>>;
}

export interface Options {
  black: boolean;
  first: 0 | 1;
  sink_exits: boolean;
  rows: number;
}

/** Elements by name, and the page of each. */
export interface Elements {
  places: ReadonlyMap<string, NetPlace>;
  transitions: ReadonlyMap<string, NetTransition>;
  pages: ReadonlyMap<string, string>;
}

/** A net that is open, as it was left: one for every file of a net, and one of the program. */
export interface Session {
  /** the file of a net, or "" for the program */
  source: string;
  /** the texts, events and options that the net was made of */
  signature: string;
  id: string | null;
  net: NetDrawing | null;
  elements: Elements;
  rows: readonly NetRow[];
  problems: readonly Problem[];
  /** it has parts that cannot be run */
  still: boolean;
  marking: Marking;
  enabled: Readonly<Record<string, NetChoice>>;
  log: readonly NetFiring[];
  steps: number;
  row: number;
  rowCount: number;
  seed: number | null;
  /** counts firings that are shown as they happen */
  flash: number;
  stopped: string | null;
  page: string;
  selected: string | null;
  breaks: Breakpoints;
  trouble: Trouble | null;
}

export interface NetView extends Session {
  opening: boolean;
  running: boolean;
  /** the rules or events are not those that the net was made of */
  stale: boolean;
  /** the element under the pointer */
  pointed: string | null;
  /** a transition of which a binding is to be chosen */
  choosing: string | null;
  options: Options;
  show: { inscriptions: boolean; guards: boolean; priorities: boolean; colours: boolean };
  height: number;
  tab: "firings" | "study";
}

export const NO_ELEMENTS: Elements = { places: new Map(), transitions: new Map(), pages: new Map() };

export function newSession(source: string): Session {
  return {
    source,
    signature: "",
    id: null,
    net: null,
    elements: NO_ELEMENTS,
    rows: [],
    problems: [],
    still: false,
    marking: {},
    enabled: {},
    log: [],
    steps: 0,
    row: 0,
    rowCount: 0,
    seed: null,
    flash: 0,
    stopped: null,
    page: "",
    selected: null,
    breaks: { transitions: [], places: {} },
    trouble: null,
  };
}

export const useNet = create<NetView>()(() => ({
  ...newSession(""),
  opening: false,
  running: false,
  stale: false,
  pointed: null,
  choosing: null,
  options: { black: true, first: 0, sink_exits: false, rows: 1000 },
  show: { inscriptions: true, guards: true, priorities: true, colours: true },
  height: 0,
  tab: "firings",
}));

export const getNet = useNet.getState;
export const setNet = useNet.setState;

export function elementsOf(net: NetDrawing): Elements {
  const places = new Map<string, NetPlace>();
  const transitions = new Map<string, NetTransition>();
  const pages = new Map<string, string>();
  for (const page of net.pages) {
    for (const place of page.places) places.set(place.name, place);
    for (const transition of page.transitions) transitions.set(transition.name, transition);
    for (const { name } of [...page.places, ...page.transitions]) pages.set(name, page.name);
  }
  return { places, transitions, pages };
}

/** The fusion set that is lit: that of the place under the pointer, or of the chosen one. */
export function litFusion({ pointed, selected, elements }: NetView): string | null {
  return elements.places.get(pointed ?? selected ?? "")?.fusion ?? null;
}

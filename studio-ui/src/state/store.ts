/** The state of the page: one store, read by `useStudio(selector)`; what changes it is in `actions.ts`. */
import { create } from "zustand";
import { subscribeWithSelector } from "zustand/middleware";
import type {
  About,
  EventChoice,
  FileEntry,
  Job,
  JobKind,
  OutlineEntry,
  PlanAnswer,
  Problem,
  Project,
  Span,
  WhyAnswer,
} from "../api/types";
import type { Connection } from "../api/updates";
import type { View } from "../views";

/** A file that is open. `saved` is its text on disk with `etag`, as far as the page knows; `text` what is edited. */
export interface Buffer {
  path: string;
  text: string;
  saved: string;
  etag: string | null;
  dirty: boolean;
  writable: boolean;
  error: string | null;
  /** why the file cannot be read or saved, while its text here is kept */
  trouble: string | null;
  /** counts replacements of the text that do not come from the editor (read again, formatted, restored) */
  epoch: number;
}

/** A detection that was chosen: of which run, its label, its type. */
export interface Selection {
  job: string;
  label: string;
  type: string;
}

/** A detection that is not there: of which run, its type, values of its attributes, and when; texts as they are typed. */
export interface Question {
  job: string;
  type: string;
  where: Record<string, string | null>;
  from: string;
  to: string;
  /** the lane in which it was asked for, where values have lanes of their own */
  lane?: string;
}

/** A clause that is marked in the text, and what is said of it. */
export interface MarkedClause {
  file: string;
  span: Span;
  message: string;
}

export interface Place {
  path: string;
  line: number;
  column: number;
  end_line?: number;
  end_column?: number;
  /** whether all of it is to be selected */
  select?: boolean;
}

export interface Conflict {
  path: string;
  theirs: string | null;
  etag: string | null;
  /** it was found when saving: keeping mine saves it */
  saving: boolean;
}

export interface Notice {
  id: number;
  kind: "error" | "notice";
  title: string;
  text: string;
}

export interface Check {
  state: "none" | "checking" | "done";
  /** whether there was an answer yet */
  checked: boolean;
  problems: Problem[];
  outline: OutlineEntry[];
  /** definitions of files that cannot be read just now, as they were before */
  stale: OutlineEntry[];
  /** the derived types, in the order in which they are evaluated */
  order: string[];
  error: string | null;
}

/** The height of the panel below the views that nobody has set: as high as its content, at most this. */
export const BOTTOM = 136;

/** The panels around the view: their sizes in pixels, and which are open. All of it is kept in the browser. */
export interface Panels {
  left: number;
  right: number;
  bottom: number;
  /** heights of the upper panels at the sides; 0: as high as the content, at most half */
  files: number;
  properties: number;
  leftOpen: boolean;
  rightOpen: boolean;
  bottomOpen: boolean;
  /** the panels at the sides; one that is not open is its title only */
  filesOpen: boolean;
  outlineOpen: boolean;
  propertiesOpen: boolean;
  whyOpen: boolean;
}

export interface Studio {
  ready: boolean;
  failed: string | null;
  about: About | null;
  files: FileEntry[];
  /** tells projects of the same name apart */
  mark: string;
  project: Project;
  projectEtag: string;
  /** why `studio.json` does not count; it is left as it is */
  projectWrong: string | null;
  buffers: Record<string, Buffer>;
  check: Check;
  /** what is wrong with drawings: at which node, also of those that are no text yet */
  drawn: Problem[];
  /** the events that there are, as the last check that was answered says */
  events: EventChoice[] | null;
  plan: PlanAnswer | null;
  active: string | null;
  view: View;
  statement: string | null;
  /** the statement follows the cursor: the address is replaced, not added to the history */
  quiet: boolean;
  /** a node of the drawing that is to be shown */
  node: string | null;
  cursor: Place | null;
  cursorOffset: number;
  selected: number;
  selection: Selection | null;
  /** why the chosen detection was made, once that is known */
  why: WhyAnswer | null;
  /** what is asked about a detection that is not there, in place of a selection */
  question: Question | null;
  /** the clauses of the reason that is shown */
  clauses: readonly MarkedClause[];
  job: Job | null;
  /** the last verification, state space and random runs of the program's net */
  netJobs: Partial<Record<JobKind, Job>>;
  /** the id of the net that is shown, for exports */
  net: string | null;
  /** the server's worker of nets has ended, and why: every net that was open is gone */
  netsEnded: string | null;
  /** the events that a run reads; `rows` is null if they are too many to be counted */
  eventCounts: { rows: number | null; types: number } | null;
  connection: Connection;
  retry: number | null;
  /** files that were changed elsewhere and here; the first is asked about */
  conflicts: Conflict[];
  notices: Notice[];
  said: string;
  /** several places to choose from: the uses of a name */
  places: Place[];
  dialog: "new-file" | "delete-file" | "keys" | "go-to" | "places" | "rename" | null;
  /** the name that is renamed, and where that was asked for */
  renaming: { path: string; offset: number; name: string; kind: string } | null;
  canUndo: boolean;
  canRedo: boolean;
  theme: "light" | "dark" | "system";
  dark: boolean;
  panels: Panels;
  /** less than 1024 px wide: the panels at the sides are drawers */
  narrow: boolean;
  drawer: "left" | "right" | null;
}

export const useStudio = create<Studio>()(
  subscribeWithSelector(
    (): Studio => ({
      ready: false,
      failed: null,
      about: null,
      files: [],
      mark: "",
      project: {},
      projectEtag: "",
      projectWrong: null,
      buffers: {},
      check: { state: "none", checked: false, problems: [], outline: [], stale: [], order: [], error: null },
      events: null,
      drawn: [],
      plan: null,
      active: null,
      view: "Text",
      statement: null,
      quiet: false,
      node: null,
      cursor: null,
      cursorOffset: 0,
      selected: 0,
      selection: null,
      why: null,
      question: null,
      clauses: [],
      job: null,
      eventCounts: null,
      netJobs: {},
      net: null,
      netsEnded: null,
      connection: "connecting",
      retry: null,
      conflicts: [],
      notices: [],
      said: "",
      places: [],
      dialog: null,
      renaming: null,
      canUndo: false,
      canRedo: false,
      theme: "system",
      dark: false,
      panels: {
        left: 240,
        right: 300,
        bottom: BOTTOM,
        files: 0,
        properties: 0,
        leftOpen: true,
        rightOpen: true,
        bottomOpen: true,
        filesOpen: true,
        outlineOpen: true,
        propertiesOpen: true,
        whyOpen: true,
      },
      narrow: false,
      drawer: null,
    }),
  ),
);

export const get = useStudio.getState;
export const set = useStudio.setState;

/** The derived types, in the order in which they are evaluated: the order of their colours. */
export function typeOrder(state: Studio): string[] {
  return state.check.order;
}

type Open =
  | "leftOpen"
  | "rightOpen"
  | "bottomOpen"
  | "filesOpen"
  | "outlineOpen"
  | "propertiesOpen"
  | "whyOpen";

/** Whether a panel is open, and the change of that. */
export function usePanel(name: Open): [boolean, () => void] {
  return [useStudio((state) => state.panels[name]), () => togglePanel(name)];
}

export function togglePanel(name: Open) {
  set((state) => ({ panels: { ...state.panels, [name]: !state.panels[name] } }));
}

export function resize(change: Partial<Panels>) {
  set((state) => ({ panels: { ...state.panels, ...change } }));
}

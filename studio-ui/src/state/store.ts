/** The state of the page: one store, read by `useStudio(selector)`; what changes it is in `actions.ts`. */
import { create } from "zustand";
import { subscribeWithSelector } from "zustand/middleware";
import type { About, FileEntry, Job, OutlineEntry, PlanAnswer, Problem, Project } from "../api/types";
import type { Connection } from "../api/updates";
import { evaluationOrder } from "../parts/order";
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

export interface Place {
  path: string;
  line: number;
  column: number;
  end_line?: number;
  end_column?: number;
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
  problems: Problem[];
  outline: OutlineEntry[];
  error: string | null;
}

/** The panels around the view: their sizes in pixels, and which are open. */
export interface Panels {
  left: number;
  right: number;
  bottom: number;
  leftOpen: boolean;
  rightOpen: boolean;
  bottomOpen: boolean;
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
  job: Job | null;
  connection: Connection;
  retry: number | null;
  /** files that were changed elsewhere and here; the first is asked about */
  conflicts: Conflict[];
  notices: Notice[];
  said: string;
  /** several places to choose from: the uses of a name */
  places: Place[];
  dialog: "new-file" | "delete-file" | "keys" | "go-to" | "places" | null;
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
      check: { state: "none", problems: [], outline: [], error: null },
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
      job: null,
      connection: "connecting",
      retry: null,
      conflicts: [],
      notices: [],
      said: "",
      places: [],
      dialog: null,
      canUndo: false,
      canRedo: false,
      theme: "system",
      dark: false,
      panels: { left: 240, right: 300, bottom: 136, leftOpen: true, rightOpen: true, bottomOpen: true },
      narrow: false,
      drawer: null,
    }),
  ),
);

export const get = useStudio.getState;
export const set = useStudio.setState;

/** The derived types, in the order in which they are evaluated: the order of their colours. */
export function typeOrder(state: Studio): string[] {
  return evaluationOrder(state.check.outline);
}

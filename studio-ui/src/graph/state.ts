/** The state of the Graph view: the statements of the open file, which is drawn, what is selected. */
import { create } from "zustand";
import { subscribeWithSelector } from "zustand/middleware";
import type { Canvas, Problem, Statement } from "../api/types";
import type { Places } from "./model";

export interface GraphState {
  path: string | null;
  /** the text that the statements are of */
  text: string | null;
  statements: Statement[];
  /** of the text, each with its statement and node */
  problems: Problem[];
  failed: string | null;
  /** by file and statement: what is drawn and is no text yet */
  drafts: Record<string, Record<string, Canvas>>;
  /** by statement of the file: what its draft lacks */
  faults: Record<string, Problem[]>;
  /** by file and statement: nodes that people have placed */
  layout: Record<string, Record<string, Places>>;
  chosen: string | null;
  /** as it is drawn, with edits that the server has not seen yet */
  canvas: Canvas | null;
  /** the server has not yet said what it makes of the last edit */
  waiting: boolean;
  selected: readonly string[];
  /** the link that is selected, as the id of the node that it comes from */
  link: string | null;
  /** the row of the selected node that palette tools write into */
  row: { field: "conditions" | "columns"; at: number } | null;
  dialog: "new-pattern" | "delete" | null;
  /** counts requests to fit the drawing into the view */
  fits: number;
  /** all of the drawing is in view, and stays so until somebody moves it */
  fitted: boolean;
  palette: boolean;
  minimap: boolean;
  previewHeight: number;
}

export const useGraph = create<GraphState>()(
  subscribeWithSelector(
    (): GraphState => ({
      path: null,
      text: null,
      statements: [],
      problems: [],
      failed: null,
      drafts: {},
      faults: {},
      layout: {},
      chosen: null,
      canvas: null,
      waiting: false,
      selected: [],
      link: null,
      row: null,
      dialog: null,
      fits: 0,
      fitted: false,
      palette: true,
      minimap: true,
      previewHeight: 128,
    }),
  ),
);

export const getGraph = useGraph.getState;
export const setGraph = useGraph.setState;

export function draftOf(state: GraphState, id = state.chosen): Canvas | undefined {
  return state.path && id ? state.drafts[state.path]?.[id] : undefined;
}

export function statementOf(state: GraphState, id = state.chosen): Statement | undefined {
  return state.statements.find((one) => one.id === id);
}

/** The statements that can be drawn: those of the text, then new ones that are drafts. */
export function drawable(state: GraphState): string[] {
  const inText = state.statements.filter((one) => one.canvas).map((one) => one.id);
  const drafts = Object.keys((state.path && state.drafts[state.path]) || {});
  return [...inText, ...drafts.filter((id) => !inText.includes(id))];
}

/** What is wrong with the drawing that is shown. */
export function faultsOf(state: GraphState): Problem[] {
  const { chosen } = state;
  if (!chosen) return [];
  if (draftOf(state)) return state.faults[chosen] ?? [];
  return state.problems.filter((one) => one.definition === chosen);
}

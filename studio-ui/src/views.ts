/** The views of the page: a line in this table and a folder is all that a view needs. */
import { type ComponentType, lazy } from "react";
import type { FileEntry } from "./api/types";

/** All views in the order of their tabs. Their numbers are keys (Ctrl+1 to Ctrl+6) and never change. */
export const VIEW_NAMES = ["Text", "Graph", "Domain", "Plan", "Net", "Run"] as const;
export type View = (typeof VIEW_NAMES)[number];

export interface ViewEntry {
  /** the name of the tab and its panel; in lower case, the part of the address */
  id: View;
  /** the view itself; it is loaded when it is first opened, and then stays */
  component: ComponentType;
  /** buttons at the end of the line of tabs while the view is shown */
  tools?: ComponentType;
  /** the content of the region Properties while the view is shown; without it, the definition at the cursor */
  properties?: ComponentType;
  /** it shows the whole program, not the open file */
  program?: boolean;
  /** the kinds of files that open in this view rather than as text */
  opens?: readonly FileEntry["kind"][];
  /** it edits texts: the text editor, which has their history, is loaded with it */
  edits?: boolean;
}

/** The views that exist, in the order of their numbers. */
export const VIEWS: readonly ViewEntry[] = [
  {
    id: "Text",
    component: lazy(() => import("./text/TextView")),
    tools: lazy(() => import("./text/TextTools")),
  },
  {
    id: "Graph",
    component: lazy(() => import("./graph/GraphView")),
    properties: lazy(() => import("./graph/GraphProperties")),
    opens: ["model"],
    edits: true,
  },
  { id: "Domain", component: lazy(() => import("./domain/DomainView")), edits: true },
  { id: "Plan", component: lazy(() => import("./plan/PlanView")), program: true },
  {
    id: "Net",
    component: lazy(() => import("./net/NetView")),
    properties: lazy(() => import("./net/NetProperties")),
    opens: ["net"],
    program: true,
  },
  { id: "Run", component: lazy(() => import("./run/RunView")), program: true },
];

/** The number of a view, which is that of its key. */
export function numberOf(view: View): number {
  return VIEW_NAMES.indexOf(view) + 1;
}

/** The view of a number, if it exists. */
export function viewNumbered(number: number): View | null {
  return VIEWS.find((entry) => numberOf(entry.id) === number)?.id ?? null;
}

/** A view that exists: this one, or Text. */
export function existing(view: View): View {
  return VIEWS.some((entry) => entry.id === view) ? view : "Text";
}

/** The view in which a kind of file opens. */
export function viewFor(kind: FileEntry["kind"] | undefined): View {
  return VIEWS.find((entry) => kind && entry.opens?.includes(kind))?.id ?? "Text";
}

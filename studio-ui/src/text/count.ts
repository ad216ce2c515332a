/** The count of matches in the search bar, with the number of the one that is selected. */
import { getSearchQuery, type SearchQuery, searchPanelOpen } from "@codemirror/search";
import type { EditorState } from "@codemirror/state";
import { type EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { texts } from "../texts";

/** More are not counted. */
const MOST = 1000;

/** Where the matches begin; null without a search that can be made. */
export function matchesOf(state: EditorState, query: SearchQuery, most = MOST): number[] | null {
  if (!query.search || !query.valid) return null;
  const out: number[] = [];
  const cursor = query.getCursor(state);
  for (let next = cursor.next(); !next.done && out.length <= most; next = cursor.next())
    out.push(next.value.from);
  return out;
}

class Count {
  private query: SearchQuery | null = null;
  private found: number[] | null = null;

  constructor(view: EditorView) {
    this.show(view, true);
  }

  update(update: ViewUpdate) {
    this.show(update.view, update.docChanged);
  }

  private show(view: EditorView, anew: boolean) {
    const { state } = view;
    if (!searchPanelOpen(state)) {
      this.query = null;
      return;
    }
    const query = getSearchQuery(state);
    if (anew || !this.query?.eq(query)) this.found = matchesOf(state, query);
    this.query = query;
    const { found } = this;
    const at = found ? found.indexOf(state.selection.main.from) + 1 : 0;
    const text = found ? texts.text.matches(Math.min(found.length, MOST), at, found.length > MOST) : "";
    // the panel itself may come with this very update
    view.requestMeasure({ key: this, read: () => null, write: () => write(view, text) });
  }
}

function write(view: EditorView, text: string) {
  const panel = view.dom.querySelector(".cm-panel.cm-search");
  if (!panel) return;
  let count = panel.querySelector(".cm-search-count");
  if (!count) {
    count = document.createElement("span");
    count.className = "cm-search-count";
    count.setAttribute("role", "status");
    panel.querySelector("[name=select]")?.after(count);
  }
  if (count.textContent !== text) count.textContent = text;
}

export const searchCount = ViewPlugin.fromClass(Count);

/** The editor: one view, a state per file, so that each file keeps its history, its cursor and its folds. */
import {
  defaultKeymap,
  history,
  historyKeymap,
  indentWithTab,
  isolateHistory,
  redo,
  redoDepth,
  undo,
  undoDepth,
} from "@codemirror/commands";
import {
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  foldService,
  indentUnit,
} from "@codemirror/language";
import { lintKeymap } from "@codemirror/lint";
import {
  highlightSelectionMatches,
  openSearchPanel,
  search,
  searchKeymap,
  selectNextOccurrence,
} from "@codemirror/search";
import {
  type ChangeSpec,
  Compartment,
  EditorState,
  type Extension,
  type StateEffect,
  Transaction,
} from "@codemirror/state";
import {
  crosshairCursor,
  drawSelection,
  dropCursor,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  rectangularSelection,
} from "@codemirror/view";
import type { Edit, OutlineEntry, Problem, Words } from "../api/types";
import { type Asked, isRules, type Step, say } from "../state/actions";
import type { Buffer, MarkedClause, Place } from "../state/store";
import { texts } from "../texts";
import { searchCount } from "./count";
import {
  clauseMarks,
  clausesOf,
  type Explained,
  explainedMarks,
  marksOf,
  setClauses,
  setMarks,
} from "./explained";
import { type Fact, facts, keepFacts, setFacts } from "./facts";
import { colours, highlighter } from "./highlight";
import { fromOffset, offsetOf, placeOf, pointsOf, positionOf, separatorOf } from "./offsets";
import { startRename } from "./rename";
import { explainAt, goToDefinitionAt, mark, services } from "./services";
import { stepped, steps } from "./steps";
import { look } from "./theme";

export interface Events {
  changed(path: string, text: () => string): void;
  moved(place: Place, selected: number): void;
  history(canUndo: boolean, canRedo: boolean): void;
  format(): void;
  /** a step of another view was made, undone or made again */
  stepped(step: Step): void;
  fact(line: number): void;
  /** the last line of the definition that begins on a line, for folding; asked for each line in view at each key */
  lastLine(line: number): number | undefined;
}

interface Kept {
  state: EditorState;
  epoch: number;
  /** where it was scrolled to; a place that is revealed afterwards wins */
  scroll: StateEffect<unknown>;
}

const dark = new Compartment();
const language = new Compartment();

/**
 * What is pasted, dropped or replaced ends its lines as the file does. What is undone or moved stays as it was, so that
 * mixed line ends of a file stay.
 */
const lineEnds: Extension = [
  EditorView.clipboardInputFilter.of((text, state) => text.replace(/\r\n?|\n/g, state.lineBreak)),
  EditorState.transactionFilter.of((transaction) => {
    const { startState: state, changes } = transaction;
    if (state.lineBreak === "\n" || !transaction.docChanged || !transaction.isUserEvent("input"))
      return transaction;
    const ends: ChangeSpec[] = [];
    changes.iterChanges((_from, _to, start, _end, inserted) => {
      let at = start;
      for (const line of inserted.iterLines()) {
        for (const found of line.matchAll(/\n/g))
          ends.push({
            from: at + found.index,
            to: at + found.index + 1,
            insert: state.toText(state.lineBreak),
          });
        at += line.length + 1;
      }
    });
    return ends.length ? [transaction, { changes: ends, sequential: true }] : transaction;
  }),
];

export function nonce(): string {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]');
  return meta?.nonce || meta?.content || "";
}

export class Editor {
  readonly view: EditorView;
  path: string | null = null;
  private watch: ResizeObserver;
  private kept = new Map<string, Kept>();
  private epoch = -1;
  private isDark = false;
  private words: Words | null = null;
  private types: ReadonlySet<string> = new Set();
  private languages = new Map<Words, Extension>();

  constructor(
    parent: HTMLElement,
    private events: Events,
  ) {
    this.view = new EditorView({
      parent,
      state: EditorState.create({ extensions: EditorView.cspNonce.of(nonce()) }),
    });
    let before = 0;
    this.watch = new ResizeObserver(([entry]) => {
      const height = entry?.contentRect.height ?? 0;
      this.resized(before, height);
      before = height;
    });
    this.watch.observe(this.view.scrollDOM);
  }

  /** After the editor has become less high: a cursor that was in view stays in view. */
  private resized(before: number, height: number) {
    const { view } = this;
    if (height >= before || !view.hasFocus || this.path === null) return;
    const cursor = view.coordsAtPos(view.state.selection.main.head);
    const top = view.scrollDOM.getBoundingClientRect().top;
    if (!cursor || cursor.bottom > top + before || cursor.bottom <= top + height) return;
    view.dispatch({ effects: EditorView.scrollIntoView(view.state.selection.main.head, { y: "nearest" }) });
  }

  destroy() {
    this.watch.disconnect();
    this.view.destroy();
  }

  /** Shows a file, as it was left. */
  show(buffer: Buffer, words: Words | null): void {
    if (this.path === buffer.path && this.epoch === buffer.epoch) return;
    if (this.path === buffer.path) {
      this.replace(buffer);
      return;
    }
    this.leave();
    // before the text is another one, so that nothing is measured at a place that it does not have
    this.view.scrollDOM.scrollTo(0, 0);
    this.words = words;
    const kept = this.kept.get(buffer.path);
    const same =
      kept && kept.state.lineBreak === separatorOf(buffer.text) && kept.state.readOnly === !buffer.writable;
    const state = same ? kept.state : this.create(buffer, words);
    this.path = buffer.path;
    this.epoch = same ? kept.epoch : buffer.epoch;
    this.view.setState(state);
    // what has changed since it was left
    if (same) this.view.dispatch({ effects: language.reconfigure(this.language(words)) });
    this.setDark(this.isDark);
    if (same && kept.epoch !== buffer.epoch) this.replace(buffer);
    this.view.dispatch({ effects: same ? kept.scroll : EditorView.scrollIntoView(0, { y: "start" }) });
    this.report();
  }

  private leave() {
    if (this.path === null) return;
    const { state } = this.view;
    this.kept.set(this.path, { state, epoch: this.epoch, scroll: this.view.scrollSnapshot() });
  }

  /** A text from outside: only what differs is replaced, so that cursor and history stay. */
  private replace(buffer: Buffer): void {
    const { state } = this.view;
    this.epoch = buffer.epoch;
    const now = state.sliceDoc();
    if (now === buffer.text) return;
    if (state.lineBreak !== separatorOf(buffer.text) || state.readOnly === buffer.writable) {
      this.path = null;
      this.kept.delete(buffer.path);
      this.show(buffer, this.words);
      return;
    }
    const old = state.doc;
    const next = state.toText(buffer.text);
    const a = old.toString();
    const b = next.toString();
    let start = 0;
    const most = Math.min(a.length, b.length);
    while (start < most && a.charCodeAt(start) === b.charCodeAt(start)) start++;
    let end = 0;
    while (end < most - start && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end)) end++;
    this.view.dispatch({
      changes: { from: start, to: a.length - end, insert: next.slice(start, b.length - end) },
      annotations: [Transaction.userEvent.of("outside"), isolateHistory.of("full")],
    });
  }

  /** A text that was never shown gets a history, which a replacement of the text then begins. */
  prepare(buffer: Buffer, words: Words | null) {
    if (this.path === buffer.path || this.kept.has(buffer.path)) return;
    const state = this.create(buffer, words);
    const scroll = EditorView.scrollIntoView(0, { y: "start" });
    this.kept.set(buffer.path, { state, epoch: buffer.epoch, scroll });
  }

  forget(path: string) {
    this.kept.delete(path);
    if (this.path === path) this.path = null;
  }

  private language(words: Words | null): Extension {
    if (!words) return [];
    let made = this.languages.get(words);
    if (!made) {
      made = highlighter(words, this.types);
      this.languages.set(words, made);
    }
    return made;
  }

  /** The words of a language came later than its text, or anew. */
  setWords(words: Words | null) {
    if (words === this.words || this.path === null) return;
    this.words = words;
    this.view.dispatch({ effects: language.reconfigure(this.language(words)) });
  }

  /** The names that are types of events, which are highlighted. */
  setTypes(types: ReadonlySet<string>) {
    if (types.size === this.types.size && [...types].every((one) => this.types.has(one))) return;
    this.types = types;
    this.languages.clear();
    if (this.path !== null) this.view.dispatch({ effects: language.reconfigure(this.language(this.words)) });
  }

  private create(buffer: Buffer, words: Words | null): EditorState {
    // only a text in a language is asked about
    const path = () => (this.words ? this.path : null);
    return EditorState.create({
      doc: buffer.text,
      extensions: [
        EditorState.lineSeparator.of(separatorOf(buffer.text)),
        lineEnds,
        EditorState.readOnly.of(!buffer.writable),
        EditorState.allowMultipleSelections.of(true),
        EditorView.cspNonce.of(nonce()),
        EditorView.contentAttributes.of({
          "aria-label": texts.text.editor,
          tabindex: "0",
          spellcheck: "false",
          autocorrect: "off",
          autocapitalize: "off",
          ...(buffer.writable ? {} : { "aria-readonly": "true" }),
        }),
        explainedMarks,
        clauseMarks,
        isRules(buffer.path) ? facts((_, line) => this.events.fact(line)) : [],
        lineNumbers(),
        codeFolding(),
        foldGutter({ openText: "⌄", closedText: "›" }),
        foldService.of((state, from) => {
          const line = state.doc.lineAt(from);
          const end = this.events.lastLine(line.number);
          if (end === undefined || end > state.doc.lines) return null;
          return { from: line.to, to: state.doc.line(end).to };
        }),
        highlightSpecialChars(),
        history({ minDepth: 500 }),
        steps((step) => {
          this.events.stepped(step);
          this.report();
        }),
        drawSelection(),
        dropCursor(),
        indentUnit.of("    "),
        bracketMatching(),
        EditorView.clickAddsSelectionRange.of((event) => event.altKey),
        rectangularSelection({ eventFilter: (event) => event.altKey && event.shiftKey }),
        crosshairCursor({ key: "Shift" }),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSelectionMatches(),
        search({ top: true }),
        searchCount,
        EditorState.phrases.of(texts.text.phrases),
        language.of(this.language(words)),
        colours,
        services(path),
        keymap.of([
          { key: "F12", run: () => this.ask("definition"), preventDefault: true },
          { key: "Shift-F12", run: () => this.ask("uses"), preventDefault: true },
          { key: "Alt-F12", run: () => this.ask("explain"), preventDefault: true },
          { key: "F2", run: () => this.ask("rename"), preventDefault: true },
          {
            key: "Shift-Alt-f",
            run: () => {
              this.events.format();
              return true;
            },
          },
          { key: "Mod-d", run: selectNextOccurrence, preventDefault: true },
          ...searchKeymap,
          ...historyKeymap,
          ...foldKeymap,
          ...lintKeymap.filter((binding) => binding.key !== "F8"),
          ...defaultKeymap,
          indentWithTab,
        ]),
        EditorView.domEventHandlers({
          // a browser that replaces marked text itself keeps its look by a style attribute, which the policy refuses
          beforeinput: (event, view) => {
            const { state } = view;
            const typed = event.inputType === "insertText" && !view.composing ? event.data : null;
            if (typed === null || state.readOnly || state.selection.ranges.every((one) => one.empty))
              return false;
            view.dispatch(
              state.update(state.replaceSelection(typed), { userEvent: "input.type", scrollIntoView: true }),
            );
            return true;
          },
          mousedown: (event, view) => {
            if (!(event.ctrlKey || event.metaKey) || event.button !== 0 || event.altKey) return false;
            const position = view.posAtCoords({ x: event.clientX, y: event.clientY });
            return position !== null && this.definition(position);
          },
        }),
        dark.of(look(this.isDark)),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && this.path !== null) {
            const { state } = update;
            this.events.changed(this.path, () => state.sliceDoc());
          }
          if (update.docChanged || update.selectionSet) this.report();
          for (const one of update.transactions) {
            if (one.isUserEvent("undo")) say(texts.said.undone);
            else if (one.isUserEvent("redo")) say(texts.said.redone);
          }
        }),
      ],
    });
  }

  /** Asks something about the name at the cursor. */
  ask(what: Asked): boolean {
    if (this.path === null || !this.words) return false;
    const { state } = this.view;
    const { head } = state.selection.main;
    if (what === "rename") void startRename(this.path, offsetOf(state.doc, head, state.lineBreak));
    else if (what === "explain") void explainAt(this.view, this.path, head);
    else return this.definition(head, what === "uses");
    return true;
  }

  private definition(position: number, uses = false): boolean {
    if (this.path === null || !this.words) return false;
    void goToDefinitionAt(this.view, this.path, position, uses);
    return true;
  }

  private report() {
    const { state } = this.view;
    if (this.path === null) return;
    const { main } = state.selection;
    const selected = main.empty ? 0 : pointsOf(state.sliceDoc(main.from, main.to));
    this.events.moved({ path: this.path, ...placeOf(state.doc, main.head) }, selected);
    this.events.history(undoDepth(state) > 0, redoDepth(state) > 0);
  }

  setDark(now: boolean) {
    this.isDark = now;
    this.view.dispatch({ effects: dark.reconfigure(look(now)) });
  }

  setProblems(problems: readonly Problem[]) {
    if (this.path !== null) mark(this.view, problems, this.path);
  }

  /** Marks why the chosen detection was made. */
  setWhy(outline: readonly OutlineEntry[], why: Explained | null) {
    if (this.path === null) return;
    const marks = marksOf(this.view.state.doc, this.path, outline, why);
    this.view.dispatch({ effects: setMarks.of(marks) });
  }

  /** Marks clauses of this file, each with what is said of it. */
  setClauses(clauses: readonly MarkedClause[]) {
    if (this.path === null) return;
    const own = clauses.filter(({ file }) => file === this.path);
    this.view.dispatch({ effects: setClauses.of(clausesOf(this.view.state.doc, own)) });
  }

  /** What is known of the definitions; null: nothing new. */
  setFacts(list: readonly Fact[] | null) {
    this.view.dispatch({ effects: list ? setFacts.of(list) : keepFacts.of(null) });
  }

  undo() {
    undo(this.view);
  }

  redo() {
    redo(this.view);
  }

  /** Edits from elsewhere as one change of the history, with the step that they belong to. */
  change(edits: readonly Edit[], step: Step | null) {
    const { state } = this.view;
    const at = (offset: number) => fromOffset(state.doc, offset, state.lineBreak);
    this.view.dispatch({
      changes: edits.map(({ from, to, insert }) => ({
        from: at(from),
        to: at(to),
        insert: state.toText(insert),
      })),
      effects: step ? stepped.of(step) : [],
      annotations: [isolateHistory.of("full"), Transaction.userEvent.of("draw")],
    });
  }

  search() {
    openSearchPanel(this.view);
  }

  focus() {
    this.view.focus();
  }

  reveal(place: Place, focus: boolean) {
    const { doc } = this.view.state;
    const position = positionOf(doc, place.line, place.column);
    const { select, end_line: line, end_column: column } = place;
    const head = select && line && column ? positionOf(doc, line, column) : position;
    this.view.dispatch({
      selection: { anchor: position, head },
      effects: EditorView.scrollIntoView(position, { y: "center" }),
    });
    if (focus) this.view.focus();
  }
}

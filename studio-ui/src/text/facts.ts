/** The gutter beside definitions: detections of the last run, unbounded state, the key. */
import { type EditorState, RangeSet, StateEffect, StateField, type Text } from "@codemirror/state";
import { type EditorView, GutterMarker, gutter } from "@codemirror/view";

export interface Fact {
  /** the line of the definition, from 1 */
  line: number;
  /** its last line */
  end: number;
  name: string;
  found: number | null;
  key: string[];
  unbounded: boolean;
  /** all of it in words */
  text: string;
}

class FactMarker extends GutterMarker {
  constructor(readonly fact: Fact) {
    super();
  }

  override eq(other: FactMarker) {
    return other.fact.text === this.fact.text && other.fact.name === this.fact.name;
  }

  override toDOM() {
    const { fact } = this;
    const out = document.createElement("span");
    out.className = "fact";
    out.title = fact.text;
    const part = (text: string, look: string) => {
      const span = document.createElement("span");
      span.className = look;
      span.textContent = text;
      out.append(span);
    };
    if (fact.unbounded) part("∞", "fact-unbounded");
    if (fact.key.length) out.append(keyIcon());
    if (fact.found !== null) part(short(fact.found), fact.found ? "fact-found" : "fact-none");
    return out;
  }
}

/** The key of lucide's set, drawn here as the editor's gutter is no part of React. */
function keyIcon(): SVGElement {
  const svg = (name: string, attributes: Record<string, string>) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const icon = svg("svg", {
    class: "fact-key",
    viewBox: "0 0 24 24",
    width: "12",
    height: "12",
    "aria-hidden": "true",
  });
  icon.append(
    svg("circle", { cx: "7.5", cy: "15.5", r: "5.5" }),
    svg("path", { d: "m21 2-9.6 9.6m4.1-4.1 3 3L22 7l-3-3" }),
  );
  return icon;
}

/** 1234567 as 1.2M: the gutter is narrow, the tooltip has the whole number. */
export function short(n: number): string {
  if (n < 10_000) return String(n);
  if (n < 999_500) return `${Math.round(n / 1000)}k`;
  return `${(n / 1_000_000).toFixed(n < 9_950_000 ? 1 : 0)}M`;
}

export const setFacts = StateEffect.define<readonly Fact[]>();
/** Nothing new is known, as while a statement is wrong: those of statements that have not changed stay. */
export const keepFacts = StateEffect.define<null>();

/** A fact with the lines of its definition, which move as the text around them changes. */
interface Placed {
  fact: Fact;
  from: number;
  to: number;
  text: string;
}

interface Shown {
  placed: readonly Placed[];
  markers: RangeSet<GutterMarker>;
}

function shown(placed: readonly Placed[]): Shown {
  return {
    placed,
    markers: RangeSet.of(
      placed.map((one) => new FactMarker(one.fact).range(one.from)),
      true,
    ),
  };
}

function place(list: readonly Fact[], doc: Text): Placed[] {
  return list
    .filter((fact) => fact.line >= 1 && fact.line <= doc.lines)
    .map((fact) => {
      const { from } = doc.line(fact.line);
      const { to } = doc.line(Math.min(doc.lines, Math.max(fact.line, fact.end)));
      return { fact, from, to, text: doc.sliceString(from, to) };
    });
}

/** Does the definition still have its lines for itself, and are they the same? */
function isSame({ from, to, text }: Placed, doc: Text): boolean {
  if (from > to || doc.lineAt(from).from !== from || doc.lineAt(to).to !== to) return false;
  return doc.sliceString(from, to) === text;
}

const field = StateField.define<Shown>({
  create: () => shown([]),
  update(before, { changes, docChanged, effects, newDoc }) {
    let out = before;
    if (docChanged)
      out = {
        placed: before.placed.map((one) => ({
          ...one,
          from: changes.mapPos(one.from, 1),
          to: changes.mapPos(one.to, -1),
        })),
        markers: before.markers.map(changes),
      };
    for (const effect of effects) {
      if (effect.is(setFacts)) out = shown(place(effect.value, newDoc));
      else if (effect.is(keepFacts)) out = shown(out.placed.filter((one) => isSame(one, newDoc)));
    }
    return out;
  },
});

/** The names beside the text, with the lines where they stand. */
export function factsIn(state: EditorState): [string, number][] {
  const out: [string, number][] = [];
  for (const at = state.field(field).markers.iter(); at.value; at.next())
    out.push([(at.value as FactMarker).fact.name, state.doc.lineAt(at.from).number]);
  return out;
}

/** The gutter; `onClick` is told the line that is clicked. */
export function facts(onClick: (view: EditorView, line: number) => void) {
  return [
    field,
    gutter({
      class: "cm-facts",
      markers: (view) => view.state.field(field).markers,
      domEventHandlers: {
        click(view, block) {
          onClick(view, view.state.doc.lineAt(block.from).number);
          return true;
        },
      },
    }),
  ];
}

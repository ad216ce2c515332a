/** The gutter beside definitions: detections of the last run, unbounded state, the key. */
import { RangeSet, StateEffect, StateField } from "@codemirror/state";
import { type EditorView, GutterMarker, gutter } from "@codemirror/view";

export interface Fact {
  /** the line of the definition, from 1 */
  line: number;
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

const field = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(markers, transaction) {
    let out = markers.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setFacts)) continue;
      const { doc } = transaction.state;
      const ranges = effect.value
        .filter((fact) => fact.line >= 1 && fact.line <= doc.lines)
        .map((fact) => new FactMarker(fact).range(doc.line(fact.line).from));
      out = RangeSet.of(ranges, true);
    }
    return out;
  },
});

/** The gutter; `onClick` is told the line that is clicked. */
export function facts(onClick: (view: EditorView, line: number) => void) {
  return [
    field,
    gutter({
      class: "cm-facts",
      markers: (view) => view.state.field(field),
      domEventHandlers: {
        click(view, block) {
          onClick(view, view.state.doc.lineAt(block.from).number);
          return true;
        },
      },
    }),
  ];
}

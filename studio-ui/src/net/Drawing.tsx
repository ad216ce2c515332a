/** The pages of a net as SVG. Lines stand in one path per page; a node draws itself anew when its tokens change. */
import { memo } from "react";
import type { NetPage, NetPlace, NetText, NetTransition } from "../api/schema";
import { typeColour } from "../parts/colours";
import { typeOrder, useStudio } from "../state/store";
import { grouped, texts } from "../texts";
import { headsOf, lineOf } from "./geometry";
import { getNet, litFusion, type NetView, useNet } from "./state";

const t = texts.net;
/** The height of a line of text, and the width of a character of it. */
const LINE = 14;
const CHARACTER = 6.7;

/** A page; without `labels` what is beside nodes is left out, as it could not be read. */
export const PageDrawing = memo(function PageDrawing(props: {
  page: NetPage;
  x: number;
  y: number;
  labels: boolean;
}) {
  const { page, x, y, labels } = props;
  const lines = page.arcs.map((arc) => lineOf(arc.points)).join("");
  const heads = page.arcs.map((arc) => headsOf(arc)).join("");
  return (
    <g transform={`translate(${x} ${y})`} className="net-page" data-page={page.name}>
      <rect className="net-frame" width={page.width} height={page.height} rx="6" />
      <text className="net-title" x="12" y="21">
        {page.name}
      </text>
      <path className="net-lines" d={lines} />
      <path className="net-heads" d={heads} />
      <Chosen page={page} />
      {page.places.map((place) => (
        <Place key={place.name} place={place} />
      ))}
      {page.transitions.map((transition) => (
        <Transition key={transition.name} transition={transition} />
      ))}
      {labels ? <Labels page={page} /> : null}
    </g>
  );
});

/** What is written beside nodes and arcs. */
function Labels({ page }: { page: NetPage }) {
  return (
    <>
      <g className="net-inscriptions">
        {page.arcs.map((arc, i) =>
          arc.label ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the arcs of a page have no names and never change
            <Lines key={i} text={arc.label} />
          ) : null,
        )}
      </g>
      <g className="net-guards">
        {page.transitions.map(({ name, label }) => (label ? <Lines key={name} text={label} /> : null))}
      </g>
      <g className="net-priorities">
        {page.transitions.map(({ name, note }) => (note ? <Lines key={name} text={note} /> : null))}
      </g>
      <g className="net-colours">
        {page.places.map(({ name, note }) => (
          <Lines key={name} text={note} />
        ))}
      </g>
    </>
  );
}

/** The arcs of the chosen element, over the others. */
function Chosen({ page }: { page: NetPage }) {
  const selected = useNet((state) =>
    state.elements.pages.get(state.selected ?? "") === page.name ? state.selected : null,
  );
  if (selected === null) return null;
  const arcs = page.arcs.filter((arc) => arc.place === selected || arc.transition === selected);
  return (
    <g className="net-chosen">
      <path className="net-lines" d={arcs.map((arc) => lineOf(arc.points)).join("")} />
      <path className="net-heads" d={arcs.map((arc) => headsOf(arc)).join("")} />
    </g>
  );
}

/** Lines around a middle, on a ground of their own. */
function Lines({ text: { lines, x, y } }: { text: NetText }) {
  const height = lines.length * LINE;
  const width = Math.max(...lines.map((line) => line.length)) * CHARACTER + 2;
  return (
    <>
      <rect className="net-ground" x={x - width / 2} y={y - height / 2} width={width} height={height} />
      {lines.map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
        <text key={i} x={x} y={y - height / 2 + LINE * (i + 0.78)}>
          {line}
        </text>
      ))}
    </>
  );
}

/** What of the state a place shows: as one value, so that of 2,000 places only those that change are drawn anew. */
function placeKey(state: NetView, { name, holder, fusion }: NetPlace): string {
  const lit = fusion !== null && litFusion(state) === fusion;
  const count = state.marking[holder]?.count ?? 0;
  return `${count} ${lit} ${state.selected === name} ${state.breaks.places[name] ?? ""}`;
}

const Place = memo(function Place({ place }: { place: NetPlace }) {
  useNet((state) => placeKey(state, place));
  const { marking, selected, breaks, ...rest } = getNet();
  const { name, x, y, width, height, fusion, role, holder, origin } = place;
  const count = marking[holder]?.count ?? 0;
  const stop = breaks.places[name];
  const lit = fusion !== null && litFusion({ marking, selected, breaks, ...rest }) === fusion;
  const [tx, ty] = place.tokens_at;
  const text = grouped(count);
  const wide = Math.max(18, text.length * 7 + 10);
  return (
    // biome-ignore lint/a11y/useSemanticElements: an element of a drawing; the net takes clicks and keys
    <g
      role="button"
      aria-label={t.placeName(name, count)}
      tabIndex={-1}
      className={`net-node net-place${lit ? " is-lit" : ""}${selected === name ? " is-selected" : ""}`}
      data-testid={`place-${name}`}
      data-node={name}
      data-tokens={count}
      data-role={role ?? undefined}
      data-fusion={fusion ?? undefined}
    >
      <ellipse className="net-shape" cx={x} cy={y} rx={width / 2} ry={height / 2} />
      {fusion === null ? null : (
        <ellipse className="net-inner" cx={x} cy={y} rx={width / 2 - 3.5} ry={height / 2 - 3.5} />
      )}
      <text className="net-name" x={x} y={y}>
        {name}
      </text>
      {role === "End" && origin ? <TypeMark name={origin.definition} x={x - width / 2} y={y} /> : null}
      {count ? (
        <g className="net-tokens">
          <rect x={tx - wide / 2} y={ty - 9} width={wide} height="18" rx="9" />
          <text x={tx} y={ty}>
            {text}
          </text>
        </g>
      ) : null}
      {stop === undefined ? null : (
        <circle className="net-break" cx={x - width / 2 + 6} cy={y - height / 2} r="5" />
      )}
    </g>
  );
});

/** The colour of the type that a statement derives, as everywhere on the page. */
function TypeMark({ name, x, y }: { name: string; x: number; y: number }) {
  const colour = useStudio((state) => {
    const entry = state.check.outline.find((one) => one.name === name);
    return entry ? typeColour(entry.output ?? entry.name, typeOrder(state)) : null;
  });
  return colour ? <circle className="net-type" cx={x} cy={y} r="6" fill={colour} /> : null;
}

function transitionKey(state: NetView, name: string): string {
  const { enabled, selected, breaks, log } = state;
  const last = log.at(-1)?.transition === name;
  return `${enabled[name] !== undefined} ${selected === name} ${breaks.transitions.includes(name)} ${last}`;
}

const Transition = memo(function Transition({ transition }: { transition: NetTransition }) {
  const { name, x, y, width, height, black } = transition;
  useNet((state) => transitionKey(state, name));
  const { enabled, selected, breaks, log } = getNet();
  const can = enabled[name] !== undefined;
  const marks = [
    "net-node net-transition",
    black && "is-black",
    can && "is-enabled",
    selected === name && "is-selected",
    log.at(-1)?.transition === name && "is-last",
  ];
  return (
    // biome-ignore lint/a11y/useSemanticElements: an element of a drawing; the net takes clicks and keys
    <g
      role="button"
      aria-label={t.transitionName(name, can)}
      tabIndex={-1}
      className={marks.filter(Boolean).join(" ")}
      data-testid={`transition-${name}`}
      data-node={name}
      data-enabled={can}
    >
      {can ? (
        <rect
          className="net-halo"
          x={x - width / 2 - 4}
          y={y - height / 2 - 4}
          width={width + 8}
          height={height + 8}
          rx="5"
        />
      ) : null}
      <rect className="net-shape" x={x - width / 2} y={y - height / 2} width={width} height={height} rx="2" />
      <text className="net-name" x={x} y={y}>
        {name}
      </text>
      {breaks.transitions.includes(name) ? (
        <circle className="net-break" cx={x - width / 2} cy={y - height / 2} r="5" />
      ) : null}
    </g>
  );
});

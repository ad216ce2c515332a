/** The drawing that is moved and zoomed: one group under a transform, by d3-zoom; one stop of Tab, arrows move in it. */
import { select as d3select } from "d3-selection";
import { type D3ZoomEvent, zoom as d3zoom, type ZoomBehavior, zoomIdentity } from "d3-zoom";
import { type KeyboardEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { NetDrawing } from "../api/schema";
import { grouped, texts } from "../texts";
import { act, choose, hasBreak, setBreak, setPage } from "./actions";
import { animate } from "./animate";
import { PageDrawing } from "./Drawing";
import {
  arranged,
  type Direction,
  fitted,
  neighbour,
  revealing,
  sheetOf,
  shownPages,
  spotsOf,
  type Zoom,
} from "./geometry";
import { NO_TOKENS } from "./log";
import { getNet, setNet, useNet } from "./state";

const t = texts.net;
const STEP = 1.3;
/** Below this size texts cannot be read, and are not drawn. */
const FAR = 0.34;

/** What the toolbar asks of the drawing. */
export interface Handle {
  fit(): void;
  arrange(): void;
  zoom(by: number): void;
}

let handle: Handle | null = null;
export const canvas = (): Handle | null => handle;

/** Where each page was left, by the net's drawing. */
const left = new WeakMap<NetDrawing, Map<string, Zoom>>();

/** The net with its pages in the order of rows that fits the window: found when it is opened, and on request. */
export function Canvas({ net }: { net: NetDrawing }) {
  const box = useRef<HTMLDivElement>(null);
  const [laid, setLaid] = useState<{ of: NetDrawing; as: NetDrawing } | null>(null);
  const arrange = () => {
    const { clientWidth: width, clientHeight: height } = box.current ?? { clientWidth: 0, clientHeight: 0 };
    setLaid({ of: net, as: width && height ? arranged(net, { width, height }) : net });
  };
  useLayoutEffect(arrange, [net]);
  return (
    <div className="net-box" ref={box}>
      {laid?.of === net ? <Stage net={laid.as} arrange={arrange} /> : null}
    </div>
  );
}

function Stage({ net, arrange }: { net: NetDrawing; arrange: () => void }) {
  const page = useNet((state) => state.page);
  const show = useNet((state) => state.show);
  const stage = useRef<HTMLDivElement>(null);
  const sheet = useRef<SVGGElement>(null);
  const moving = useRef<SVGGElement>(null);
  const zoom = useRef<Zoom>({ x: 0, y: 0, k: 1 });
  const behaviour = useRef<ZoomBehavior<HTMLDivElement, unknown> | null>(null);
  const untouched = useRef(true);
  const [far, setFar] = useState(true);
  const pages = useMemo(() => shownPages(net, page), [net, page]);
  const spots = useMemo(() => spotsOf(net, page), [net, page]);

  const room = () => ({ width: stage.current?.clientWidth ?? 0, height: stage.current?.clientHeight ?? 0 });

  const place = (to: Zoom) => {
    const element = stage.current;
    if (element && behaviour.current)
      d3select(element).call(behaviour.current.transform, zoomIdentity.translate(to.x, to.y).scale(to.k));
  };
  const showAll = () => {
    place(fitted(sheetOf(net, page), room()));
    untouched.current = true;
  };

  // d3-zoom turns wheel, pinch and drag into a transform; React is not asked
  useLayoutEffect(() => {
    const element = stage.current;
    if (!element) return;
    const made = d3zoom<HTMLDivElement, unknown>()
      .scaleExtent([0.02, 6])
      .clickDistance(4)
      .filter(
        (event) => !event.button && event.type !== "dblclick" && !(event.ctrlKey && event.type !== "wheel"),
      )
      .on("start", (event: D3ZoomEvent<HTMLDivElement, unknown>) => {
        if (event.sourceEvent && getNet().pointed) setNet({ pointed: null });
      })
      .on("zoom", ({ transform: { x, y, k }, sourceEvent }: D3ZoomEvent<HTMLDivElement, unknown>) => {
        zoom.current = { x, y, k };
        if (sourceEvent) untouched.current = false;
        const group = sheet.current;
        if (!group) return;
        group.style.transform = `translate(${x}px, ${y}px) scale(${k})`;
        if (group.dataset.far === String(k < FAR)) return;
        group.dataset.far = String(k < FAR);
        setFar(k < FAR);
      });
    behaviour.current = made;
    d3select(element).call(made);
    return () => {
      d3select(element).on(".zoom", null);
      behaviour.current = null;
    };
  }, []);

  // a page is shown as it was left, else whole
  // biome-ignore lint/correctness/useExhaustiveDependencies: when another page is shown
  useLayoutEffect(() => {
    const pages = left.get(net) ?? new Map<string, Zoom>();
    left.set(net, pages);
    const before = pages.get(page);
    if (before) place(before);
    else showAll();
    untouched.current = !before;
    return () => {
      if (untouched.current) pages.delete(page);
      else pages.set(page, zoom.current);
    };
  }, [net, page]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a drawing that was not moved fits whatever the size
  useEffect(() => {
    const element = stage.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      if (untouched.current && element.clientWidth) showAll();
    });
    observer.observe(element);
    const by = (factor: number) => {
      if (!behaviour.current) return;
      untouched.current = false;
      d3select(element).call(behaviour.current.scaleBy, factor);
    };
    handle = { fit: showAll, zoom: by, arrange };
    return () => {
      observer.disconnect();
      handle = null;
    };
  }, [net, page]);

  // what fires moves its tokens along its arcs
  useEffect(
    () =>
      useNet.subscribe((now, before) => {
        const firing = now.log.at(-1);
        if (now.flash !== before.flash && firing && moving.current) animate(moving.current, pages, firing);
      }),
    [pages],
  );

  // what was chosen elsewhere comes into view
  // biome-ignore lint/correctness/useExhaustiveDependencies: `place` is of this drawing
  useEffect(
    () =>
      useNet.subscribe((now, before) => {
        if (now.selected === before.selected || !now.selected) return;
        reveal(now.selected);
      }),
    [spots],
  );

  const reveal = (name: string) => {
    const spot = spots.find((one) => one.name === name);
    if (!spot) return;
    const box = { ...spot, x: spot.x - spot.width / 2, y: spot.y - spot.height / 2 };
    const to = revealing(box, zoom.current, room());
    if (to.x === zoom.current.x && to.y === zoom.current.y) return;
    place(to);
    untouched.current = false;
  };

  const focus = (name: string | undefined) => {
    if (!name) return;
    choose(name);
    nodeNamed(stage.current, name)?.focus({ preventScroll: true });
  };

  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { selected, enabled, elements } = getNet();
    if (event.key.startsWith("Arrow"))
      focus(neighbour(spots, selected ?? "", event.key as Direction)?.name ?? selected ?? undefined);
    else if (event.key === "Enter" || event.key === " ") {
      if (selected && elements.transitions.has(selected)) act(selected);
    } else if (event.key === "+" || event.key === "=") handle?.zoom(STEP);
    else if (event.key === "-") handle?.zoom(1 / STEP);
    else if (event.key === "0") showAll();
    else if (event.key === "e") {
      const can = spots.filter(({ name }) => enabled[name]);
      focus(can[(can.findIndex(({ name }) => name === selected) + 1) % can.length]?.name);
    } else if (event.key === "b" && selected) setBreak(selected, !hasBreak(selected));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the elements of the drawing are its buttons
    <div
      className="net-stage"
      data-testid="net"
      data-inscriptions={show.inscriptions}
      data-guards={show.guards}
      data-priorities={show.priorities}
      data-colours={show.colours}
      ref={stage}
      onKeyDown={keys}
      onClick={(event) => {
        const name = nameAt(event.target);
        if (name) {
          choose(name);
          if (getNet().elements.transitions.has(name)) act(name);
        } else choose(null);
      }}
      onDoubleClick={(event) => {
        const own = (event.target as Element).closest<SVGElement>("[data-page]")?.dataset.page;
        if (own && !page && !nameAt(event.target)) setPage(own);
      }}
      onPointerOver={(event) => {
        const name = nameAt(event.target);
        if (name !== getNet().pointed && !event.buttons) setNet({ pointed: name });
      }}
      onPointerLeave={() => setNet({ pointed: null })}
      onFocus={(event) => {
        const name = nameAt(event.target);
        if (name) choose(name);
      }}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing is no set of fields */}
      <svg className="net-svg" role="group" aria-label={t.name(net.name)}>
        <g className="net-sheet" ref={sheet}>
          {pages.map(({ page, x, y }) => (
            <PageDrawing key={page.name} page={page} x={x} y={y} labels={!far} />
          ))}
          <g ref={moving} />
        </g>
      </svg>
      <TabStop net={net} page={page} stage={stage} />
      <Tip stage={stage} />
    </div>
  );
}

function nameAt(target: EventTarget): string | null {
  return (target as Element).closest<SVGElement>("[data-node]")?.dataset.node ?? null;
}

export function nodeNamed(stage: Element | null, name: string): SVGGElement | null {
  return stage?.querySelector<SVGGElement>(`[data-node="${CSS.escape(name)}"]`) ?? null;
}

/** One element can be reached by Tab: the chosen one, else one that can fire, else the first. */
function TabStop({
  net,
  page,
  stage,
}: {
  net: NetDrawing;
  page: string;
  stage: React.RefObject<Element | null>;
}) {
  const selected = useNet((state) => state.selected);
  const enabled = useNet((state) => state.enabled);
  useEffect(() => {
    const spots = spotsOf(net, page);
    const shown = (name: string) => spots.some((one) => one.name === name);
    const stop = selected && shown(selected) ? selected : Object.keys(enabled).find(shown);
    const node = nodeNamed(stage.current, stop ?? spots[0]?.name ?? "");
    node?.setAttribute("tabindex", "0");
    return () => node?.setAttribute("tabindex", "-1");
  }, [net, page, stage, selected, enabled]);
  return null;
}

/** Tokens shown in the tooltip. */
const SHOWN = 12;

/** What is under the pointer: tokens of a place, guard of a transition. */
function Tip({ stage }: { stage: React.RefObject<HTMLDivElement | null> }) {
  const pointed = useNet((state) => state.pointed);
  const choosing = useNet((state) => state.choosing);
  const [at, setAt] = useState<{ left: number; top: number; above: boolean } | null>(null);
  useLayoutEffect(() => {
    const box = stage.current?.getBoundingClientRect();
    const node = pointed ? nodeNamed(stage.current, pointed) : null;
    if (!box || !node) return setAt(null);
    const rect = node.getBoundingClientRect();
    const above = rect.bottom - box.top > box.height * 0.6;
    const left = Math.max(8, Math.min(rect.left - box.left, box.width - 330));
    setAt({ left, top: above ? rect.top - box.top - 6 : rect.bottom - box.top + 6, above });
  }, [pointed, stage]);
  if (!pointed || !at || choosing) return null;
  return (
    <div
      className={at.above ? "net-tip is-above" : "net-tip"}
      style={{ left: at.left, top: at.top }}
      role="tooltip"
    >
      <About name={pointed} />
    </div>
  );
}

function About({ name }: { name: string }) {
  const place = useNet((state) => state.elements.places.get(name));
  const transition = useNet((state) => state.elements.transitions.get(name));
  const tokens = useNet((state) => (place && state.marking[place.holder]) || NO_TOKENS);
  const choice = useNet((state) => state.enabled[name]);
  if (place) {
    const some = tokens.tokens.slice(-SHOWN);
    const more = tokens.count - some.reduce((sum, one) => sum + one.count, 0);
    return (
      <>
        <p>
          <b>{name}</b> <span className="dim">{place.colour}</span>
          {place.fusion ? <span className="dim"> {t.fused(place.fusion)}</span> : null}
        </p>
        <p className="dim">{tokens.count ? t.tokens(tokens.count) : t.noTokens}</p>
        {more ? <p className="dim">{t.moreTokens(more)}</p> : null}
        {some.map(({ value, count }) => (
          <p key={value} className="mono net-value">
            {count === 1 ? "" : `${grouped(count)}\`` /* as CPN ML writes it */}
            {value}
          </p>
        ))}
      </>
    );
  }
  if (!transition) return null;
  return (
    <>
      <p>
        <b>{name}</b> <span className="dim">{transition.urgency}</span>
      </p>
      <p className={choice ? "is-good" : "dim"}>{choice ? t.canFireWith(choice.count) : t.cannotFire}</p>
      {transition.guard ? <p className="mono net-value">{transition.guard}</p> : null}
    </>
  );
}

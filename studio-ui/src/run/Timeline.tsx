/** Detections in time: lanes on a canvas; wheel and pinch zoom, drag moves, Shift and drag selects, keys do it all. */
import { select as d3select } from "d3-selection";
import { type D3ZoomEvent, zoom as d3zoom, type ZoomBehavior, zoomIdentity } from "d3-zoom";
import { CircleQuestionMark, Maximize, Minus, Plus, X, ZoomIn } from "lucide-react";
import {
  type KeyboardEvent,
  type PointerEvent,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { Swatch } from "../frame/Outline";
import { Button, IconButton } from "../parts/Button";
import { INPUT, isSecond, strokeColour, typeColour } from "../parts/colours";
import { say } from "../state/actions";
import { useStudio } from "../state/store";
import { grouped, texts } from "../texts";
import { chooseMark, setBy, setRange, setWidth, showAll, showBrush } from "./actions";
import { askWhyNot, openQuestion } from "./asking";
import { draw, type Spot, type Theme } from "./draw";
import {
  around,
  asStrokes,
  emptyPicture,
  type Hit,
  hit,
  type Mark,
  nearest,
  nextMark,
  offMiddle,
  offsetAt,
  type Picture,
  pixel,
  type Strip,
  strips,
} from "./lanes";
import { useRunOrder } from "./order";
import { getRun, type Marked, setRun, showsInputs, useRun } from "./state";
import { FORCED, themeOf } from "./theme";
import type { Clock, Range } from "./time";
import { length, mostZoom, moved, rangeOf, shownOf, transformOf, zoomed } from "./view";

const t = texts.run;
/** The column of lane names: as wide as its longest name, between these; a character is about so wide. */
const LABELS = { least: 128, most: 280, character: 7.2, beside: 78 };
/** An empty place has no mark within so many pixels; a click is a single one after so many milliseconds. */
const NEAR = 8;
const DOUBLE = 250;
/** Half of a digit of the axis. */
const DIGIT = 3.3;

function labelsWidth(picture: Picture): number {
  const longest = picture.lanes.reduce((most, { name, type }) => {
    return Math.max(most, name.length + (name === type ? 0 : type.length + 1));
  }, 0);
  return Math.min(LABELS.most, Math.max(LABELS.least, Math.ceil(longest * LABELS.character + LABELS.beside)));
}

/** The width and height of an element, as they change. */
function useSize(ref: React.RefObject<HTMLElement | null>): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [ref]);
  return size;
}

/** Are the colours those that the reader's system prescribes? */
function useForced(): boolean {
  return useSyncExternalStore(
    (changed) => {
      const forced = matchMedia(FORCED);
      forced.addEventListener("change", changed);
      return () => forced.removeEventListener("change", changed);
    },
    () => matchMedia(FORCED).matches,
  );
}

/** The colours as they were read last: reading them takes a while, and they change with the theme only. */
let colours: { key: string; theme: Theme } | null = null;

function themeFor(element: Element, dark: boolean, forced: boolean): Theme {
  const key = `${dark} ${forced}`;
  if (colours?.key !== key) colours = { key, theme: themeOf(element) };
  return colours.theme;
}

export function Timeline() {
  const result = useRun((state) => state.result);
  const clock = useRun((state) => state.clock);
  const picture = useRun((state) => state.picture);
  const failed = useRun((state) => state.pictureError);
  const limits = useRun((state) => state.limits);
  const empty = useMemo(
    () => emptyPicture(result?.inputs ?? [], result?.found ?? [], limits),
    [result, limits],
  );
  const inputs = useRun(showsInputs);
  const shown = useMemo(() => {
    const all = picture ?? empty;
    return inputs ? all : { ...all, lanes: all.lanes.filter((lane) => !lane.input) };
  }, [picture, empty, inputs]);
  if (!result || !clock) return null;
  return (
    <section className="timeline" aria-label={t.timeline(t.found(result.total), "", "").split(",")[0]}>
      <Bar clock={clock} />
      {failed && !picture ? <p className="timeline-error">{failed}</p> : null}
      <Lanes clock={clock} picture={shown} />
    </section>
  );
}

function Bar({ clock }: { clock: Clock }) {
  const range = useRun((state) => state.range);
  const limits = useRun((state) => state.limits);
  const brush = useRun((state) => state.brush);
  const exact = useRun((state) => state.picture?.exact ?? true);
  const by = useRun((state) => state.by);
  const attributes = useRun((state) => state.attributes);
  const more = useRun((state) => state.picture?.more ?? 0);
  const inputs = useRun(showsInputs);
  const { text, rest, room } = useRoom();
  return (
    <div className="view-bar timeline-bar">
      <span className="dim mono timeline-day" ref={text} title={clock.span(range, limits)}>
        {clock.span(range, limits, room)}
      </span>
      {attributes.length ? (
        <select
          className="run-field timeline-by"
          aria-label={t.by}
          title={t.by}
          value={by}
          onChange={(event) => setBy(event.target.value)}
        >
          <option value="">{t.byType}</option>
          {attributes.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      ) : null}
      <label className="check dim">
        <input
          type="checkbox"
          checked={inputs}
          onChange={(event) => setRun({ inputs: event.target.checked })}
        />
        {t.inputs}
      </label>
      {more ? <span className="dim">{t.moreLanes(more)}</span> : null}
      <span className="spring" ref={rest} />
      {brush ? (
        <>
          <span className="dim">{t.selection(clock.roughly(length(brush)))}</span>
          <IconButton name={t.showSelection} onPress={showBrush}>
            <ZoomIn size={14} />
          </IconButton>
          <IconButton name={t.clearSelection} onPress={() => setRun({ brush: null })}>
            <X size={14} />
          </IconButton>
        </>
      ) : exact ? null : (
        <span className="dim">{t.counts}</span>
      )}
      <IconButton name={texts.whyNot.button} keys="W" onPress={openQuestion}>
        <CircleQuestionMark size={14} />
      </IconButton>
      <IconButton name={t.zoomOut} keys="-" onPress={() => setRange(zoomed(range, limits, 0.5))}>
        <Minus size={14} />
      </IconButton>
      <IconButton name={t.zoomIn} keys="+" onPress={() => setRange(zoomed(range, limits, 2))}>
        <Plus size={14} />
      </IconButton>
      <Button kind="quiet" onPress={showAll}>
        <Maximize size={14} aria-hidden />
        {t.fit}
      </Button>
    </div>
  );
}

/** How many characters there is room for: in a text that can shrink, and in the rest of its line. */
function useRoom() {
  const text = useRef<HTMLSpanElement>(null);
  const rest = useRef<HTMLSpanElement>(null);
  const [room, setRoom] = useState(Number.POSITIVE_INFINITY);
  useLayoutEffect(() => {
    const [one, other] = [text.current, rest.current];
    if (!one || !other) return;
    const measure = () => {
      const letter = one.scrollWidth / (one.textContent?.length || 1);
      if (letter > 0) setRoom(Math.floor((one.clientWidth + other.clientWidth) / letter));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(one);
    observer.observe(other);
    return () => observer.disconnect();
  }, []);
  return { text, rest, room };
}

interface Focus {
  lane: number;
  mark: Mark | null;
}

function Lanes({ clock, picture }: { clock: Clock; picture: Picture }) {
  const result = useRun((state) => state.result);
  const range = useRun((state) => state.range);
  const brush = useRun((state) => state.brush);
  const types = useRun((state) => state.types);
  const chosen = useRun((state) => state.chosen);
  const constituents = useRun((state) => state.constituents);
  const pointed = useRun((state) => state.pointed);
  const dark = useStudio((state) => state.dark);
  const forced = useForced();
  const order = useRunOrder();
  const shownRun = useRun((state) => state.shown);
  const by = useRun((state) => state.by);
  const inputs = useRun(showsInputs);

  const scroller = useRef<HTMLDivElement>(null);
  const stage = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const behaviour = useRef<ZoomBehavior<HTMLDivElement, unknown> | null>(null);
  const size = useSize(scroller);
  // in a narrow view names give way
  const labels = Math.min(
    useMemo(() => labelsWidth(picture), [picture]),
    Math.max(LABELS.least, size.width * 0.3),
  );
  const width = Math.max(0, Math.floor(size.width - labels));
  const height = size.height;
  const [scroll, setScroll] = useState(0);
  const [over, setOver] = useState<{ x: number; y: number; hit: Hit | null; lane: number } | null>(null);
  const [focus, setFocus] = useState<Focus | null>(null);
  const brushFrom = useRef<number | null>(null);
  const asked = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(asked.current), []);

  // a lane is as high as it ever was in this run: zooming moves no lane
  const deepest = useRef({ shown: "", depths: new Map<string, number>() });
  const places = useMemo(() => {
    const { shown } = getRun();
    if (deepest.current.shown !== shown) deepest.current = { shown: shown ?? "", depths: new Map() };
    const { depths } = deepest.current;
    const lanes = picture.lanes.map((lane) => {
      const id = `${lane.type}/${lane.name}`;
      const most = Math.max(lane.depths, depths.get(id) ?? 1);
      depths.set(id, most);
      return { input: lane.input, depths: most };
    });
    return strips(lanes, height);
  }, [picture, height]);
  const whole = places.reduce((sum, strip) => sum + strip.height, 0);
  const colours = useMemo(
    () => picture.lanes.map((lane) => (lane.input ? "" : typeColour(lane.type, order))) ?? [],
    [picture, order],
  );
  const seconds = useMemo(
    () => picture.lanes.map((lane) => !lane.input && isSecond(lane.type, order)),
    [picture, order],
  );
  const ticks = useMemo(() => (width ? clock.axis(range, width) : []), [clock, range, width]);
  const spots = useMemo(
    () =>
      picture
        ? spotsOf(picture, places, clock, range, width, {
            chosen,
            constituents,
            pointed,
            focus,
            over: over?.hit ?? null,
          })
        : [],
    [picture, places, clock, range, width, chosen, constituents, pointed, focus, over],
  );

  useEffect(() => setWidth(width), [width]);

  // other lanes: what was at a number of a lane is elsewhere, or not there
  useEffect(() => {
    void [shownRun, by, inputs];
    setFocus(null);
    setOver(null);
  }, [shownRun, by, inputs]);
  // another range: something else is under the pointer, which tells when it moves
  useEffect(() => {
    void [range, brush];
    setOver(null);
  }, [range, brush]);

  // the lane of what is chosen comes into view
  // biome-ignore lint/correctness/useExhaustiveDependencies: not again with every new picture
  useEffect(() => {
    const strip = chosen ? places[laneOf(picture, chosen)] : undefined;
    const box = scroller.current;
    if (!strip || !box) return;
    if (strip.top < box.scrollTop) box.scrollTo({ top: strip.top });
    else if (strip.top + strip.height > box.scrollTop + box.clientHeight)
      box.scrollTo({ top: strip.top + strip.height - box.clientHeight });
  }, [chosen]);

  // the canvas is redrawn once per frame, whatever has changed
  useEffect(() => {
    const element = canvas.current;
    if (!element || !width || !height) return;
    const frame = requestAnimationFrame(() => {
      const scale = devicePixelRatio || 1;
      if (element.width !== Math.round(width * scale) || element.height !== Math.round(height * scale)) {
        element.width = Math.round(width * scale);
        element.height = Math.round(height * scale);
      }
      const context = element.getContext("2d");
      if (!context) return;
      context.setTransform(scale, 0, 0, scale, 0, 0);
      const theme = themeFor(element, dark, forced);
      const dimmed = picture.lanes.map(
        (lane) => types.length > 0 && !lane.input && !types.includes(lane.type),
      );
      const own = colours.map((colour) => colour || theme.input);
      const strokes = own.map((colour) => (forced ? theme.ink : strokeColour(colour, dark)));
      draw(context, {
        width,
        height,
        scroll,
        range,
        picture,
        strips: places,
        colours: own,
        strokes,
        seconds,
        dimmed,
        ticks,
        spots,
        brush,
        theme,
      });
    });
    return () => cancelAnimationFrame(frame);
  }, [
    picture,
    width,
    height,
    scroll,
    range,
    places,
    colours,
    seconds,
    types,
    ticks,
    spots,
    brush,
    dark,
    forced,
  ]);

  // d3-zoom turns wheel, pinch and drag into a transform, and that is a range
  useEffect(() => {
    const element = stage.current;
    if (!element || !width) return;
    const made = d3zoom<HTMLDivElement, unknown>()
      .filter((event) => {
        if (event.type === "wheel") return event.ctrlKey || Math.abs(event.deltaY) >= Math.abs(event.deltaX);
        return !event.shiftKey && !event.ctrlKey && !event.button && event.type !== "dblclick";
      })
      .clickDistance(4)
      .on("zoom", (event: D3ZoomEvent<HTMLDivElement, unknown>) => {
        if (!event.sourceEvent) return;
        setRange(rangeOf(event.transform, getRun().limits, width));
      });
    behaviour.current = made;
    d3select(element).call(made).on("dblclick.zoom", null);
    const sideways = (event: WheelEvent) => {
      if (event.ctrlKey || Math.abs(event.deltaY) >= Math.abs(event.deltaX)) return;
      event.preventDefault();
      const { range, limits } = getRun();
      setRange(moved(range, limits, event.deltaX / width));
    };
    element.addEventListener("wheel", sideways, { passive: false });
    return () => {
      element.removeEventListener("wheel", sideways);
      d3select(element).on(".zoom", null);
    };
  }, [width]);

  // a range that was set otherwise is told to d3-zoom
  useEffect(() => {
    const element = stage.current;
    const made = behaviour.current;
    if (!element || !made || !width) return;
    const { limits } = getRun();
    made.scaleExtent([1, mostZoom(limits)]).extent([
      [0, 0],
      [width, 1],
    ]);
    made.translateExtent([
      [0, -Infinity],
      [width, Infinity],
    ]);
    const { k, x } = transformOf(range, limits, width);
    d3select(element).property("__zoom", zoomIdentity.translate(x, 0).scale(k));
  }, [range, width]);

  const at = (event: { clientX: number; clientY: number }) => {
    const box = stage.current?.getBoundingClientRect();
    return { x: event.clientX - (box?.left ?? 0), y: event.clientY - (box?.top ?? 0) };
  };
  const laneAt = (y: number) =>
    places.findIndex((strip) => y + scroll >= strip.top && y + scroll < strip.top + strip.height);

  const pointer = {
    onPointerDown(event: PointerEvent<HTMLDivElement>) {
      if (!event.shiftKey || event.button) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      brushFrom.current = offsetAt(range, width, at(event).x);
    },
    onPointerMove(event: PointerEvent<HTMLDivElement>) {
      const { x, y } = at(event);
      if (brushFrom.current !== null) {
        setOver(null);
        const to = offsetAt(range, width, Math.max(0, Math.min(width, x)));
        setRun({ brush: { from: Math.min(brushFrom.current, to), to: Math.max(brushFrom.current, to) } });
        return;
      }
      if (event.buttons) return setOver(null);
      setOver({ x, y, hit: hit(picture, places, range, width, x, y + scroll), lane: laneAt(y) });
    },
    onPointerUp() {
      const { brush, clock } = getRun();
      // a click with Shift is no selection
      if (
        brushFrom.current !== null &&
        brush &&
        clock &&
        pixel(range, width, brush.to) - pixel(range, width, brush.from) < 3
      )
        setRun({ brush: null });
      brushFrom.current = null;
    },
    onPointerLeave: () => setOver(null),
    onClick(event: React.MouseEvent) {
      if (event.shiftKey) return;
      const { x, y } = at(event);
      const found = hit(picture, places, range, width, x, y + scroll);
      if (found) {
        setFocus(found);
        act(found);
        return;
      }
      const { brush } = getRun();
      const time = offsetAt(range, width, x);
      const lane = laneAt(y);
      if (brush && !(time >= brush.from && time <= brush.to)) setRun({ brush: null });
      else if (event.detail < 2) askSoon(lane, brush ?? aroundOf(lane, time));
    },
    onDoubleClick(event: React.MouseEvent) {
      clearTimeout(asked.current);
      setRange(zoomed(range, getRun().limits, 4, at(event).x / width));
    },
  };

  /** The time around an empty place, up to the marks beside it; null: there is something. */
  const aroundOf = (lane: number, time: number): Range | null => {
    const drawn = picture.lanes[lane];
    return drawn ? around(drawn, picture.range, time, (NEAR * length(range)) / width) : null;
  };

  const askFor = (lane: number, when: Range | null) => {
    const drawn = picture.lanes[lane];
    if (drawn && !drawn.input && when) askWhyNot(drawn, when);
  };

  /** A second click zooms in place of asking. */
  const askSoon = (lane: number, when: Range | null) => {
    clearTimeout(asked.current);
    asked.current = setTimeout(() => askFor(lane, when), DOUBLE);
  };

  /** The keyboard's way to ask: for the lane that has the focus, in the selection, or in all that is in view. */
  const askByKey = () => {
    const lanes = picture.lanes;
    const lane = focus?.lane ?? lanes.findIndex((one) => !one.input);
    if (lanes[lane]?.input ?? true) return say(texts.whyNot.input);
    askFor(lane, brush ?? shownOf(range, getRun().limits));
  };

  const act = ({ lane, mark }: { lane: number; mark: Mark | null }) => {
    const drawn = picture.lanes[lane];
    if (!drawn || !mark) return;
    void chooseMark(drawn.type, mark);
  };

  const keys = (event: KeyboardEvent) => {
    const { limits } = getRun();
    const step = event.shiftKey ? 0.5 : 0.2;
    const lanes = picture.lanes ?? [];
    const done = () => {
      event.preventDefault();
      event.stopPropagation();
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") setRange(zoomed(range, limits, 2, focusShare()));
    else if (event.key === "-" || event.key === "_") setRange(zoomed(range, limits, 0.5, focusShare()));
    else if (event.key === "0") showAll();
    else if (event.key === "[" || event.key === "]") selectEnd(event.key === "]");
    else if (event.key === "w" || event.key === "W") askByKey();
    else if (event.key === "PageDown") setRange(moved(range, limits, step * 2));
    else if (event.key === "PageUp") setRange(moved(range, limits, -step * 2));
    else if (event.key === "Escape" && (brush || focus)) {
      setRun({ brush: null });
      setFocus(null);
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const direction = event.key === "ArrowRight" ? 1 : -1;
      const lane =
        focus?.lane ??
        Math.max(
          0,
          lanes.findIndex((one) => !one.input && one.count > 0),
        );
      const drawn = lanes[lane];
      if (!drawn || event.shiftKey || drawn.counts) setRange(moved(range, limits, direction * step));
      else move(lane, nextMark(drawn.marks, focus?.mark ?? null, direction, range));
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const lane = (focus?.lane ?? -1) + (event.key === "ArrowDown" ? 1 : -1);
      const drawn = lanes[Math.max(0, Math.min(lanes.length - 1, lane))];
      if (!drawn) return;
      const middle = focus?.mark?.start ?? (range.from + range.to) / 2;
      move(lanes.indexOf(drawn), nearest(drawn.marks, middle));
    } else if (event.key === "Home") setRange(moved(range, limits, -1e9));
    else if (event.key === "End") setRange(moved(range, limits, 1e9));
    else if (event.key === "Enter" || event.key === " ") {
      if (focus?.mark) act(focus);
      else setRange(zoomed(range, limits, 4));
    } else return;
    done();
  };

  /** The keyboard's way to select time: each key sets one end, at what has the focus or in the middle. */
  const selectEnd = (end: boolean) => {
    const at = range.from + focusShare() * length(range);
    const mark = focus?.mark;
    const to = mark && end && !mark.open ? Math.max(at, mark.end) : at;
    const old = getRun().brush ?? { from: range.from, to: range.to };
    const next = end ? { from: Math.min(old.from, to), to } : { from: at, to: Math.max(old.to, at) };
    setRun({ brush: next });
    const text = clock.text(clock.ticks(end ? to : at));
    say(end ? t.selectionTo(text) : t.selectionFrom(text));
  };

  const focusShare = () => {
    const mark = focus?.mark;
    return mark && mark.start >= range.from && mark.start <= range.to
      ? (mark.start - range.from) / length(range)
      : 0.5;
  };

  const move = (lane: number, mark: Mark | null) => {
    const drawn = picture.lanes[lane];
    const strip = places[lane];
    if (!drawn || !strip) return;
    if (strip.top < scroll || strip.top + strip.height > scroll + height)
      scroller.current?.scrollTo({ top: strip.top });
    if (!mark) {
      if (focus?.lane !== lane) {
        setFocus({ lane, mark: null });
        say(`${drawn.name}: ${t.found(drawn.count)}`);
      }
      return;
    }
    setFocus({ lane, mark });
    if (mark.start < range.from || mark.start > range.to) {
      const span = length(range);
      setRange({ from: mark.start - span / 2, to: mark.start + span / 2 });
    }
    say(`${drawn.name}, ${clock.text(clock.ticks(mark.start))}`);
  };

  const limits = getRun().limits;
  const count = picture.count ?? result?.total ?? 0;
  const shown = {
    from: clock.text(clock.ticks(Math.max(range.from, limits.from))),
    to: clock.text(clock.ticks(range.to)),
  };
  return (
    <>
      <div className="timeline-axis" aria-hidden="true">
        {ticks.map((tick) => {
          const at = pixel(range, width, tick.at);
          // a label stands at its time or not at all
          const fits = at + tick.label.length * DIGIT + 2 <= width;
          return (
            <span
              key={tick.at}
              className={tick.major ? "axis-label axis-major" : "axis-label"}
              style={{ left: labels + at }}
            >
              {fits ? tick.label : ""}
            </span>
          );
        })}
      </div>
      <div
        className="timeline-scroll"
        ref={scroller}
        onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
      >
        <div
          ref={stage}
          className="timeline-stage"
          data-testid="timeline"
          data-total={result?.total ?? 0}
          data-count={count}
          data-exact={picture.exact ?? true}
          data-from={clock.ticks(Math.floor(range.from))}
          data-to={clock.ticks(Math.ceil(range.to))}
          role="application"
          aria-label={t.timeline(t.found(count), shown.from, shown.to)}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes the focus
          tabIndex={0}
          style={{ left: labels, width, height }}
          onKeyDown={keys}
          {...pointer}
        >
          <canvas ref={canvas} style={{ width, height }} />
          {over ? <Tip over={over} picture={picture} clock={clock} range={range} width={width} /> : null}
        </div>
        <ul className="lanes" style={{ height: Math.max(whole, 1), width: labels }} aria-label={t.type}>
          {picture.lanes.map((lane, i) => (
            <li
              key={`${lane.type}/${lane.name}`}
              className={lane.input ? "lane lane-input" : "lane"}
              data-testid={`lane-${lane.name}`}
              data-count={lane.count}
              style={{ height: places[i]?.height }}
            >
              <button
                type="button"
                disabled={lane.input}
                aria-pressed={lane.input ? undefined : types.includes(lane.type)}
                title={lane.input ? lane.name : `${lane.name}\n${t.onlyType(lane.type)}`}
                onClick={() => toggleType(lane.type)}
              >
                <Swatch colour={colours[i] || INPUT} second={seconds[i] ?? false} />
                <span className="lane-name">
                  {lane.name}
                  {lane.name === lane.type ? null : <span className="dim"> {lane.type}</span>}
                </span>
                <span className="lane-count">{grouped(lane.count)}</span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}

function toggleType(type: string) {
  setRun(({ types }) => ({
    types: types.includes(type) ? types.filter((one) => one !== type) : [...types, type],
  }));
}

interface Marks {
  chosen: Marked | null;
  constituents: Marked[];
  pointed: Marked | null;
  focus: Focus | null;
  over: Hit | null;
}

/** The lane of a row: that of its type, or, where values have lanes of their own, the one that holds its mark. */
function laneOf({ lanes }: Picture, one: Marked): number {
  const named =
    one.lane === undefined ? -1 : lanes.findIndex((l) => l.type === one.type && l.name === one.lane);
  if (named >= 0) return named;
  const holds = lanes.findIndex(
    (lane) => lane.type === one.type && lane.marks.some((mark) => mark.row === one.row),
  );
  return holds >= 0 ? holds : lanes.findIndex((lane) => lane.type === one.type && lane.name === lane.type);
}

function spotsOf(
  picture: Picture,
  places: readonly Strip[],
  clock: Clock,
  range: Range,
  width: number,
  marks: Marks,
): Spot[] {
  const out: Spot[] = [];
  const strokes = picture.lanes.map((lane) => asStrokes(lane, range, width));
  const put = (one: Marked, kind: Spot["kind"]) => {
    const lane = laneOf(picture, one);
    if (lane < 0) return;
    const start = clock.offset(one.start);
    const end = one.end === null ? start : clock.offset(one.end);
    const drawn = picture.lanes[lane];
    const mark = drawn?.marks.find((other) => other.row === one.row);
    const strip = places[lane];
    const off = mark && strip && (mark.lasting || !strokes[lane]) ? offMiddle(mark, strip, drawn?.depths) : 0;
    out.push({ lane, start, end: mark?.open ? Infinity : end, off, bar: mark?.lasting ?? false, kind });
  };
  for (const one of marks.constituents) if (one.absent) put(one, "absent");
  for (const one of marks.constituents) if (!one.absent) put(one, one.failed ? "failed" : "constituent");
  if (marks.chosen) put(marks.chosen, "chosen");
  if (marks.pointed) put(marks.pointed, "pointed");
  const ring = ({ lane, mark }: { lane: number; mark: Mark }, kind: Spot["kind"]) => {
    const strip = places[lane];
    const { start, end, lasting } = mark;
    if (!strip) return;
    const off = strokes[lane] && !lasting ? 0 : offMiddle(mark, strip, picture.lanes[lane]?.depths);
    out.push({ lane, start, end: mark.open ? Infinity : lasting ? end : start, off, bar: lasting, kind });
  };
  const { focus, over } = marks;
  if (focus?.mark) ring({ lane: focus.lane, mark: focus.mark }, "focused");
  if (over) ring(over, "pointed");
  return out;
}

function Tip({
  over,
  picture,
  clock,
  range,
  width,
}: {
  over: { x: number; y: number; hit: Hit | null; lane: number };
  picture: Picture;
  clock: Clock;
  range: Range;
  width: number;
}) {
  const lane = picture.lanes[over.lane];
  if (!lane) return null;
  const lines: string[] = [];
  if (over.hit) {
    const { mark } = over.hit;
    lines.push(clock.text(clock.ticks(mark.start)));
    if (mark.lasting) lines.push(mark.open ? t.open : clock.duration(mark.end - mark.start));
  } else if (lane.counts) {
    const time = offsetAt(range, width, over.x);
    const each = length(picture.range) / lane.counts.length;
    const bin = Math.floor((time - picture.range.from) / each);
    const count = lane.counts[bin];
    if (!count) return null;
    lines.push(clock.text(clock.ticks(picture.range.from + bin * each)), t.bin(count));
  } else return null;
  const left = over.x > width - 200;
  return (
    <div
      className="timeline-tip"
      style={{
        top: Math.max(0, over.y - 8),
        ...(left ? { right: width - over.x + 14 } : { left: over.x + 14 }),
      }}
      aria-hidden="true"
    >
      <b>{lane.name}</b>
      {lines.map((text) => (
        <span key={text} className="mono">
          {text}
        </span>
      ))}
    </div>
  );
}

/** How the program runs: its definitions as a graph in levels, and as a table with keys, retention, state and hosts. */
import {
  ChevronDown,
  ChevronRight,
  Clock,
  Infinity as InfinityIcon,
  KeyRound,
  Maximize,
  Minus,
  Plus,
  TriangleAlert,
} from "lucide-react";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { ApiError, api, ConnectionLost } from "../api/client";
import type { Definition, PlanAnswer } from "../api/types";
import { Swatch } from "../frame/Outline";
import { Button, IconButton } from "../parts/Button";
import { INPUT, isSecond, typeColour, typeLook } from "../parts/colours";
import { Empty, ErrorBox, Skeleton } from "../parts/Empty";
import { useHeight } from "../parts/height";
import { Splitter } from "../parts/Splitter";
import { keepSizes, keptSizes } from "../parts/sizes";
import { goTo, unsavedTexts } from "../state/actions";
import { set, typeOrder, useStudio } from "../state/store";
import { texts } from "../texts";
import { curve, layout } from "./layout";
import {
  addresses,
  boxesOf,
  costsOf,
  isUnbounded,
  keyOf,
  keyText,
  type PlanBox,
  placesOf,
  related,
} from "./model";
import "./plan.css";

const t = texts.plan;
const SIZES = { width: 196, height: 46, across: 64, down: 14 };
const ROOM = 20;
const SIZES_KEPT = "occurs-plan-sizes";

export default function PlanView() {
  const fresh = useStudio((state) => state.plan);
  const check = useStudio((state) => state.check);
  const [kept, setKept] = useState<PlanAnswer | null>(fresh);
  const [failed, setFailed] = useState<{ text: string; hint: string | null } | null>(null);
  const [again, setAgain] = useState(0);
  const errors = check.problems.some((one) => one.severity === "error");

  useEffect(() => {
    if (fresh) {
      setKept(fresh);
      setFailed(null);
    }
  }, [fresh]);

  // the page's own plan is quiet about what is wrong with it; here it is said
  const missing = fresh === null && check.state === "done" && !errors && check.outline.length > 0;
  useEffect(() => {
    void again;
    if (!missing) return;
    const control = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const plan = await api.plan(unsavedTexts(), undefined, control.signal);
        if (!control.signal.aborted) set({ plan });
      } catch (error) {
        if (control.signal.aborted || error instanceof ConnectionLost) return;
        const text = error instanceof Error ? error.message : String(error);
        setFailed({ text, hint: error instanceof ApiError ? error.hint : null });
      }
    }, 600);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [missing, again]);

  const plan = fresh ?? kept;
  if (check.state === "done" && check.outline.length === 0 && !errors)
    return <Empty title={t.none} text={t.noneText} />;
  if (errors && !plan)
    return (
      <Empty title={t.failed} text={t.failedText}>
        <Button onPress={() => set((state) => ({ panels: { ...state.panels, bottomOpen: true } }))}>
          {t.problems}
        </Button>
      </Empty>
    );
  if (failed && !fresh)
    return (
      <ErrorBox title={t.failed} text={failed.text} hint={failed.hint} again={() => setAgain(again + 1)} />
    );
  if (!plan) return <Skeleton rows={6} />;
  return <Plan plan={plan} stale={fresh === null && errors} />;
}

function Plan({ plan, stale }: { plan: PlanAnswer; stale: boolean }) {
  const [box, room] = useHeight();
  const [wanted, setWanted] = useState(() => keptSizes(SIZES_KEPT, { graph: 0 }).graph);
  useEffect(() => keepSizes(SIZES_KEPT, { graph: wanted }), [wanted]);
  const [pointed, setPointed] = useState<string | null>(null);
  const boxes = useMemo(() => boxesOf(plan), [plan]);
  const drawn = useMemo(() => layout(boxes, SIZES), [boxes]);
  const most = Math.max(120, room - 120);
  const initial = Math.round(Math.min(drawn.height + 2 * ROOM, Math.max(160, room * 0.6)));
  const height = Math.min(wanted || initial, most);
  return (
    <div className={stale ? "plan is-stale" : "plan"} ref={box}>
      {stale ? (
        <p className="plan-stale">
          <TriangleAlert size={14} aria-hidden /> {t.stale}
        </p>
      ) : null}
      <div className="plan-graph" style={{ height }}>
        <Graph boxes={boxes} drawn={drawn} pointed={pointed} onPoint={setPointed} />
      </div>
      <Splitter
        name={t.definitions}
        direction="y"
        size={height}
        initial={initial}
        min={120}
        max={most}
        onSize={setWanted}
      />
      <Table plan={plan} boxes={boxes} pointed={pointed} onPoint={setPointed} />
    </div>
  );
}

interface Pointing {
  pointed: string | null;
  onPoint: (id: string | null) => void;
}

function useOrder(): string[] {
  const outline = useStudio((state) => state.check.outline);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the order follows the outline
  return useMemo(() => typeOrder(useStudio.getState()), [outline]);
}

function show(definition: Definition) {
  const { file, line, span } = definition;
  if (file) void goTo({ path: file, line: span?.line ?? line ?? 1, column: span?.column ?? 1 });
}

const ZOOM = { least: 0.3, most: 2, readable: 0.5, pleasant: 0.75 };

function clamped(zoom: number): number {
  return Math.min(ZOOM.most, Math.max(ZOOM.least, zoom));
}

/** All of a drawing in the room that there is: not larger than it is, and not so small that nobody can read it. */
function fitting(whole: { width: number; height: number }, room: { width: number; height: number }): number {
  if (!room.width || !room.height) return 1;
  // scrolling down is easier than reading small letters, scrolling sideways is not
  const high = Math.max(ZOOM.pleasant, room.height / whole.height);
  return Math.max(ZOOM.readable, Math.min(1, room.width / whole.width, high));
}

function Graph({
  boxes,
  drawn,
  pointed,
  onPoint,
}: Pointing & { boxes: PlanBox[]; drawn: ReturnType<typeof layout> }) {
  const order = useOrder();
  const near = useMemo(() => (pointed ? related(boxes, pointed) : null), [boxes, pointed]);
  const definitions = boxes.flatMap((box) => box.definition ?? []);
  const names = addresses(definitions);
  const places = placesOf(definitions);
  const scroller = useRef<HTMLElement>(null);
  const [room, setRoom] = useState({ width: 0, height: 0 });
  /** null: as much as fits, but readable */
  const [wanted, setWanted] = useState<number | null>(null);
  const whole = { width: drawn.width + 2 * ROOM, height: drawn.height + 2 * ROOM };
  const zoom = wanted ?? fitting(whole, room);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () => setRoom({ width: element.clientWidth, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      setWanted((before) => clamped((before ?? zoomNow.current) * 1.0015 ** -event.deltaY));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      observer.disconnect();
      element.removeEventListener("wheel", wheel);
    };
  }, []);
  const zoomNow = useRef(zoom);
  zoomNow.current = zoom;
  let at = 0;
  return (
    <>
      <div className="plan-zoom">
        <IconButton name={texts.run.zoomOut} onPress={() => setWanted(clamped(zoom / 1.25))}>
          <Minus size={14} />
        </IconButton>
        <IconButton name={texts.run.zoomIn} onPress={() => setWanted(clamped(zoom * 1.25))}>
          <Plus size={14} />
        </IconButton>
        <IconButton name={t.fit} pressed={wanted === null} onPress={() => setWanted(null)}>
          <Maximize size={14} />
        </IconButton>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section className="plan-scroll" tabIndex={0} aria-label={t.graph} ref={scroller}>
        <div className={near ? "plan-canvas is-pointed" : "plan-canvas"} style={{ ...whole, zoom }}>
          <svg width={drawn.width + 2 * ROOM} height={drawn.height + 2 * ROOM} aria-hidden="true">
            <g transform={`translate(${ROOM} ${ROOM})`}>
              {drawn.links.map((link) => (
                <path
                  key={`${link.from}>${link.to}`}
                  d={curve(link.points)}
                  className={near?.has(link.from) && near.has(link.to) ? "plan-link is-near" : "plan-link"}
                />
              ))}
            </g>
          </svg>
          {boxes.map((box) => {
            const place = drawn.places.get(box.id) ?? { x: 0, y: 0 };
            const style = {
              left: place.x + ROOM,
              top: place.y + ROOM,
              width: SIZES.width,
              height: SIZES.height,
            };
            const className = near?.has(box.id) ? "plan-box is-near" : "plan-box";
            if (!box.definition) return <Input key={box.id} box={box} className={className} style={style} />;
            const { definition } = box;
            const address = places[at];
            const name = names[at++] ?? box.name;
            const key = keyOf(definition);
            const unbounded = isUnbounded(definition);
            return (
              <button
                key={box.id}
                type="button"
                className={`${className} plan-definition`}
                style={style}
                data-testid={`plan-${name}`}
                data-key={key.join(",")}
                data-unbounded={unbounded}
                data-level={definition.level}
                title={[
                  t.go(definition.name),
                  ...costsOf(definition).map((cost) => cost.message),
                  ...hintsOf(definition),
                ].join("\n")}
                onClick={() => show(definition)}
                onMouseEnter={() => onPoint(box.id)}
                onMouseLeave={() => onPoint(null)}
                onFocus={() => onPoint(box.id)}
                onBlur={() => onPoint(null)}
              >
                <i
                  className={isSecond(definition.output, order) ? "plan-edge is-second" : "plan-edge"}
                  style={{ borderColor: typeColour(definition.output, order) }}
                />
                <span className="plan-name">
                  {definition.name}
                  <span className="dim">{address}</span>
                  {definition.name === definition.output ? null : (
                    <span className="dim"> → {definition.output}</span>
                  )}
                </span>
                <span className="plan-facts">
                  <span>{texts.languages[definition.language] ?? definition.language}</span>
                  {costsOf(definition).length ? (
                    <span className="is-warning plan-key">
                      <TriangleAlert size={11} aria-hidden />
                      {t.costs}
                    </span>
                  ) : null}
                  {key.length ? (
                    <span className="plan-key">
                      <KeyRound size={11} aria-hidden />
                      {key.join(", ")}
                    </span>
                  ) : null}
                  {unbounded ? (
                    <span className="is-warning plan-key">
                      <InfinityIcon size={12} aria-hidden />
                      {t.unbounded}
                    </span>
                  ) : (
                    <span className="plan-key">{kept(definition)}</span>
                  )}
                </span>
              </button>
            );
          })}
        </div>
      </section>
    </>
  );
}

function Input({ box, className, style }: { box: PlanBox; className: string; style: React.CSSProperties }) {
  return (
    <div className={`${className} plan-input`} style={style} title={box.name}>
      {box.kind === "timer" ? <Clock size={13} aria-hidden /> : <Swatch colour={INPUT} />}
      <span className="plan-name">{box.name}</span>
    </div>
  );
}

/** The longest time that is kept, in short. */
function kept({ retention }: Definition): string {
  let most: Definition["retention"][number] | null = null;
  for (const one of retention)
    if (one.ticks !== null && Number(one.ticks) > Number(most?.ticks ?? 0)) most = one;
  return most ? most.text.replace(/^.*?: /, "") : "";
}

/** What to do about state without bounds, each hint once. */
function hintsOf({ retention }: Definition): string[] {
  return [...new Set(retention.flatMap((one) => one.hint ?? []))];
}

/** An input or a timer: what comes from outside, on the level before all definitions. */
function InputRow({ box, plan, pointed, onPoint }: Pointing & { box: PlanBox; plan: PlanAnswer }) {
  const attributes = plan.inputs.find((one) => one.type === box.name)?.attributes;
  return (
    <tr
      className={pointed === box.id ? "is-near" : undefined}
      onMouseEnter={() => onPoint(box.id)}
      onMouseLeave={() => onPoint(null)}
    >
      <th scope="row">
        <span className="plan-go is-input">
          {box.kind === "timer" ? <Clock size={12} aria-hidden /> : <Swatch colour={INPUT} />}
          <span className="plan-go-name" title={box.name}>
            {box.name}
          </span>
        </span>
      </th>
      <td colSpan={COLUMNS.length - 2}>
        {attributes?.map(({ name, type }) => (
          <span key={name} className="plan-attribute">
            {name} <span className="dim">{type ?? ""}</span>
          </span>
        ))}
        {!attributes && box.kind === "input" ? <span className="dim">{t.unknown}</span> : null}
      </td>
      <td className="dim">{box.kind === "timer" ? t.timer : t.input}</td>
    </tr>
  );
}

/** What one opens the plan for; the rest is below a row that is opened. */
const COLUMNS = [t.definition, t.key, t.keeps, t.state, t.reads];

function Table({ plan, boxes, pointed, onPoint }: Pointing & { plan: PlanAnswer; boxes: PlanBox[] }) {
  const names = addresses(plan.definitions);
  const places = placesOf(plan.definitions);
  const mixed = new Set(plan.definitions.map((one) => one.language)).size > 1;
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (name: string) =>
    setOpen((before) => {
      const now = new Set(before);
      if (!now.delete(name)) now.add(name);
      return now;
    });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section className="plan-table" tabIndex={0} aria-label={t.definitions}>
      <table aria-label={t.definitions}>
        <thead>
          <tr>
            {COLUMNS.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {plan.definitions.map((definition, i) => {
            const name = names[i] ?? definition.name;
            return (
              <DefinitionRow
                key={name}
                id={`d:${name}`}
                definition={definition}
                place={places[i] ?? ""}
                badge={mixed}
                open={open.has(name)}
                onToggle={() => toggle(name)}
                pointed={pointed}
                onPoint={onPoint}
              />
            );
          })}
          {boxes
            .filter((box) => !box.definition)
            .map((box) => (
              <InputRow key={box.id} box={box} plan={plan} pointed={pointed} onPoint={onPoint} />
            ))}
        </tbody>
      </table>
    </section>
  );
}

interface DefinitionRowProps extends Pointing {
  id: string;
  definition: Definition;
  /** where it is, if another one has its name */
  place: string;
  /** several languages: each definition shows its own */
  badge: boolean;
  open: boolean;
  onToggle: () => void;
}

/** A definition in one line; opened, with all that is known of how it runs. */
function DefinitionRow(props: DefinitionRowProps) {
  const { id, definition, place, badge, open, onToggle, pointed, onPoint } = props;
  const order = useOrder();
  const key = keyText(definition);
  const costs = costsOf(definition);
  const hints = hintsOf(definition);
  const language = texts.languages[definition.language] ?? definition.language;
  const pointing = {
    className: pointed === id ? "is-near" : undefined,
    onMouseEnter: () => onPoint(id),
    onMouseLeave: () => onPoint(null),
  };
  return (
    <>
      <tr {...pointing}>
        <th scope="row">
          <span className="plan-first">
            <button
              type="button"
              className="button button-icon plan-open"
              aria-expanded={open}
              aria-label={t.more(definition.name + place)}
              title={t.more(definition.name + place)}
              onClick={onToggle}
            >
              {open ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
            </button>
            <button
              type="button"
              className="plan-go"
              title={t.go(definition.name)}
              onClick={() => show(definition)}
            >
              <Swatch {...typeLook(definition.output, order)} />
              <span className="plan-go-name">
                {definition.name}
                {place ? <span className="dim">{place}</span> : null}
              </span>
            </button>
            {badge ? <span className="plan-language dim">{language}</span> : null}
            {costs.length ? (
              <span className="is-warning plan-cost" title={costs.map((one) => one.message).join("\n")}>
                <TriangleAlert size={12} aria-label={t.costs} />
              </span>
            ) : null}
          </span>
        </th>
        <td className="plan-keys" title={key || (definition.why_no_key ?? undefined)}>
          {key ? <span className="mono">{key}</span> : <span className="dim">{t.noKey}</span>}
        </td>
        <td title={[...definition.retention.map((one) => one.text), ...hints].join("\n")}>
          <Kept definition={definition} />
        </td>
        <td>{t.states[String(definition.state)] ?? String(definition.state ?? "")}</td>
        <td title={definition.reads.join("\n")}>{definition.reads.join(", ")}</td>
      </tr>
      {open ? (
        <tr className="plan-more">
          <td colSpan={COLUMNS.length}>
            <dl>
              <Fact name={t.level}>{[String(definition.level)]}</Fact>
              <Fact name={t.language}>{[language]}</Fact>
              <Fact name={t.reads}>{[definition.reads.join(", ")]}</Fact>
              <Fact name={t.key}>{[key || [t.noKey, definition.why_no_key].filter(Boolean).join(": ")]}</Fact>
              <Fact name={t.keeps}>
                {[
                  ...(definition.retention.length
                    ? definition.retention.map((one) => one.text)
                    : [t.nothing]),
                  ...hints,
                ]}
              </Fact>
              <Fact name={t.costs}>
                {costs.length
                  ? [...new Set(costs.flatMap(({ message, hint }) => [message, hint ?? []].flat()))]
                  : [t.noCosts]}
              </Fact>
              <Fact name={t.spark}>{notesOf(definition, "Spark")}</Fact>
              <Fact name={t.stream}>{notesOf(definition, "stream")}</Fact>
            </dl>
          </td>
        </tr>
      ) : null}
    </>
  );
}

/** What a definition keeps, in one line. */
function Kept({ definition: { retention } }: { definition: Definition }) {
  if (retention.length === 0) return <span className="dim">{t.nothing}</span>;
  return retention.map((one, n) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: what is kept has no other name
    <span key={n} className={one.unbounded ? "plan-item is-warning" : "plan-item"}>
      {one.unbounded ? <InfinityIcon size={12} aria-hidden /> : null} {one.text}
    </span>
  ));
}

/** A fact of an open row: a line for each of its texts; nothing without one. */
function Fact({ name, children }: { name: string; children: readonly string[] }): ReactNode {
  if (children.length === 0) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {children.map((text) => (
          <p key={text}>{text}</p>
        ))}
      </dd>
    </>
  );
}

/** How a host runs a definition. */
function notesOf({ notes }: Definition, host: string): string[] {
  const own = notes.filter((note) => note.startsWith(`${host}: `));
  return own.map((note) => note.slice(host.length + 2));
}

/** How the program runs: its definitions as a graph in levels, and as a table with keys, retention, state and hosts. */
import {
  Clock,
  Infinity as InfinityIcon,
  KeyRound,
  Maximize,
  Minus,
  Plus,
  TriangleAlert,
} from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { ApiError, api, ConnectionLost } from "../api/client";
import type { Definition, PlanAnswer } from "../api/types";
import { Swatch } from "../frame/Outline";
import { Button, IconButton } from "../parts/Button";
import { INPUT, isSecond, typeColour, typeLook } from "../parts/colours";
import { Empty, ErrorBox, Skeleton } from "../parts/Empty";
import { Splitter } from "../parts/Splitter";
import { keepSizes, keptSizes } from "../parts/sizes";
import { goTo, unsavedTexts } from "../state/actions";
import { set, typeOrder, useStudio } from "../state/store";
import { texts } from "../texts";
import { curve, layout } from "./layout";
import { addresses, boxesOf, costsOf, isUnbounded, keyOf, keyText, type PlanBox, related } from "./model";
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
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(0);
  const [wanted, setWanted] = useState(() => keptSizes(SIZES_KEPT, { graph: 0 }).graph);
  useEffect(() => keepSizes(SIZES_KEPT, { graph: wanted }), [wanted]);
  const [pointed, setPointed] = useState<string | null>(null);
  const boxes = useMemo(() => boxesOf(plan), [plan]);
  const drawn = useMemo(() => layout(boxes, SIZES), [boxes]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setRoom(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
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

const ZOOM = { least: 0.3, most: 2, readable: 0.6, pleasant: 0.75 };

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
  const names = addresses(boxes.flatMap((box) => box.definition ?? []));
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
      <td colSpan={2}>
        {attributes?.map(({ name, type }) => (
          <span key={name} className="plan-attribute">
            {name} <span className="dim">{type ?? ""}</span>
          </span>
        ))}
        {!attributes && box.kind === "input" ? <span className="dim">{t.unknown}</span> : null}
      </td>
      <td className="is-number">{box.level}</td>
      <td className="dim" colSpan={COLUMNS.length - 4}>
        {box.kind === "timer" ? t.timer : t.input}
      </td>
    </tr>
  );
}

/** Keys and what is kept come first: they are what one opens the plan for, and the rest may need scrolling. */
const COLUMNS = [
  t.definition,
  t.key,
  t.keeps,
  t.level,
  t.language,
  t.reads,
  t.state,
  t.costs,
  t.spark,
  t.stream,
];

function Table({ plan, boxes, pointed, onPoint }: Pointing & { plan: PlanAnswer; boxes: PlanBox[] }) {
  const order = useOrder();
  const names = addresses(plan.definitions);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section className="plan-table" tabIndex={0} aria-label={t.definitions}>
      <table aria-label={t.definitions}>
        <thead>
          <tr>
            {COLUMNS.map((title) => (
              <th key={title} scope="col" className={title === t.level ? "is-number" : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {plan.definitions.map((definition, i) => {
            const id = `d:${names[i]}`;
            const key = keyText(definition);
            return (
              <tr
                key={id}
                className={pointed === id ? "is-near" : undefined}
                onMouseEnter={() => onPoint(id)}
                onMouseLeave={() => onPoint(null)}
              >
                <th scope="row">
                  <button
                    type="button"
                    className="plan-go"
                    title={t.go(definition.name)}
                    onClick={() => show(definition)}
                  >
                    <Swatch {...typeLook(definition.output, order)} />
                    <span className="plan-go-name">{definition.name}</span>
                  </button>
                </th>
                <td className="plan-keys">
                  {key ? (
                    <span className="mono">{key}</span>
                  ) : (
                    <span className="dim" title={definition.why_no_key ?? undefined}>
                      {t.noKey}
                    </span>
                  )}
                </td>
                <td
                  title={[...definition.retention.map((one) => one.text), ...hintsOf(definition)].join("\n")}
                >
                  <p>
                    {definition.retention.length === 0 ? <span className="dim">{t.nothing}</span> : null}
                    {definition.retention.map((one, n) => (
                      // biome-ignore lint/suspicious/noArrayIndexKey: what is kept has no other name
                      <span key={n} className={one.unbounded ? "plan-item is-warning" : "plan-item"}>
                        {one.unbounded ? <InfinityIcon size={12} aria-hidden /> : null} {one.text}
                      </span>
                    ))}
                    {hintsOf(definition).map((hint) => (
                      <span key={hint} className="plan-item dim">
                        {hint}
                      </span>
                    ))}
                  </p>
                </td>
                <td className="is-number">{definition.level}</td>
                <td>{texts.languages[definition.language] ?? definition.language}</td>
                <td title={definition.reads.join("\n")}>
                  <p>{definition.reads.join(", ")}</p>
                </td>
                <td>{t.states[String(definition.state)] ?? String(definition.state ?? "")}</td>
                <td
                  title={costsOf(definition)
                    .flatMap(({ message, hint }) => [message, hint ?? []].flat())
                    .join("\n")}
                >
                  <p>
                    {costsOf(definition).length === 0 ? <span className="dim">{t.noCosts}</span> : null}
                    {costsOf(definition).map(({ kind, message }) => (
                      <span key={kind + message} className="plan-item is-warning">
                        <TriangleAlert size={12} aria-hidden /> {message}
                      </span>
                    ))}
                    {[...new Set(costsOf(definition).map(({ hint }) => hint))].map((hint) =>
                      hint ? (
                        <span key={hint} className="plan-item dim">
                          {hint}
                        </span>
                      ) : null,
                    )}
                  </p>
                </td>
                <Notes host="Spark" notes={definition.notes} />
                <Notes host="stream" notes={definition.notes} />
              </tr>
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

/** How a host runs a definition; the names of those that run together are left to the tooltip. */
function Notes({ host, notes }: { host: string; notes: string[] }) {
  const own = notes.filter((note) => note.startsWith(`${host}: `));
  return (
    <td className="plan-notes" title={own.join("\n")}>
      <p>
        {own.map((note) => (
          <span key={note} className="plan-item">
            {note.replace(/^\w+: [^:]*: /, "")}
          </span>
        ))}
      </p>
    </td>
  );
}

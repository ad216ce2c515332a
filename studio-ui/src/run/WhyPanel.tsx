/** Why a detection was made: its constituents with their roles, each down to the rows of the input. */
import { ChevronDown, ChevronRight, Copy, FileText } from "lucide-react";
import { createContext, useContext, useEffect, useMemo, useState } from "react";
import { ApiError, api, ConnectionLost } from "../api/client";
import type { Constituent, Row, Source, WhyAnswer } from "../api/types";
import { Swatch } from "../frame/Outline";
import { Button, IconButton } from "../parts/Button";
import { typeColour } from "../parts/colours";
import { Empty, ErrorBox, Skeleton } from "../parts/Empty";
import { derives } from "../parts/order";
import { goTo, goToDefinition, say } from "../state/actions";
import { set, typeOrder, useStudio } from "../state/store";
import { grouped, texts } from "../texts";
import { showTime } from "./actions";
import { valueText } from "./rows";
import { getRun, type Marked, markedOf, setRun, useRun } from "./state";
import { Clock } from "./time";
import "./run.css";

const t = texts.why;
/** Constituents that are listed before one asks for more. */
const FIRST = 50;

interface Shared {
  clock: Clock;
  order: string[];
  definitions: Set<string>;
}

const Context = createContext<Shared | null>(null);

export default function WhyPanel() {
  const selection = useStudio((state) => state.selection);
  const outline = useStudio((state) => state.check.outline);
  const clock = useRun((state) => state.clock);
  const [got, setGot] = useState<{ label: string; answer: WhyAnswer } | null>(null);
  const [error, setError] = useState<{
    label: string;
    gone: boolean;
    text: string;
    hint: string | null;
  } | null>(null);
  const [again, setAgain] = useState(0);
  const shared = useMemo(
    () => ({
      clock: clock ?? new Clock({ timestamp: true, unit: "us" }, 0n),
      order: typeOrder(useStudio.getState()),
      definitions: new Set(outline.filter(derives).map((entry) => entry.output ?? "")),
    }),
    [clock, outline],
  );
  const job = selection?.job;
  const label = selection?.label;

  useEffect(() => {
    void again;
    if (!job || !label) return;
    const control = new AbortController();
    // someone who runs through the table with the arrow keys asks for the last one only
    const timer = setTimeout(async () => {
      try {
        const answer = await api.why(job, label, undefined, control.signal);
        setGot({ label, answer });
        setError(null);
        set({ why: answer });
        mark(label, answer);
      } catch (problem) {
        if (control.signal.aborted || problem instanceof ConnectionLost) return;
        const known = problem instanceof ApiError;
        const text = problem instanceof Error ? problem.message : String(problem);
        setError({ label, gone: known && problem.status === 404, text, hint: known ? problem.hint : null });
      }
    }, 60);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [job, label, again]);

  if (!selection) return <Empty title={t.none} text={t.noneText} />;
  if (error?.label === label && error)
    return error.gone ? (
      <Empty title={t.gone} text={t.goneText} />
    ) : (
      <ErrorBox text={error.text} hint={error.hint} again={() => setAgain(again + 1)} />
    );
  // the one before stays until the new one is there
  if (!got) return <Skeleton rows={6} />;
  const { detection, constituents, more } = got.answer;
  return (
    <Context.Provider value={shared}>
      <div className="why" aria-busy={got.label !== label}>
        <Top row={detection} />
        <h3 className="why-head">{t.constituents}</h3>
        {constituents.length ? (
          <List of={constituents} more={more} />
        ) : (
          <p className="dim why-none">{t.nothing}</p>
        )}
      </div>
    </Context.Provider>
  );
}

/** The constituents of the chosen detection are marked on the timeline. */
function mark(label: string, answer: WhyAnswer) {
  if (getRun().chosen === null) {
    const chosen = markedOf(answer.detection);
    if (chosen) setRun({ chosen });
  }
  if (getRun().chosen?.label !== label) return;
  const out: Marked[] = [];
  const walk = (some: readonly Constituent[]) => {
    for (const one of some) {
      const marked = markedOf(one);
      if (marked && out.length < 500) out.push(marked);
      walk(one.constituents);
    }
  };
  walk(answer.constituents);
  setRun({ constituents: out });
}

function useShared(): Shared {
  const shared = useContext(Context);
  if (!shared) throw new Error("outside of the panel");
  return shared;
}

function TypeSwatch({ type }: { type: string }) {
  const { order } = useShared();
  return <Swatch colour={typeColour(type, order)} />;
}

function Top({ row }: { row: Row & { source: Source | null } }) {
  const { clock, definitions } = useShared();
  const { label } = row;
  const end = row.end_ticks !== null && row.end_ticks !== row.ticks ? row.end_ticks : null;
  const copy = async () => {
    if (!label) return;
    await navigator.clipboard.writeText(label);
    say(t.copied);
  };
  return (
    <div className="why-top">
      <div className="why-type">
        <TypeSwatch type={row.type} />
        <b>{row.type}</b>
        <span className="spring" />
        {definitions.has(row.type) ? (
          <IconButton name={t.go(row.type)} onPress={() => void goToDefinition(definitionOf(row.type))}>
            <FileText size={14} />
          </IconButton>
        ) : null}
      </div>
      <dl className="why-values">
        <dt>{texts.run.time}</dt>
        <dd className="mono" title={clock.full(row.ticks)}>
          {clock.text(row.ticks)}
        </dd>
        {end !== null || row.open ? (
          <>
            <dt>{texts.run.end}</dt>
            <dd className="mono" title={end === null ? undefined : clock.full(end)}>
              {end === null ? texts.run.open : clock.text(end)}
            </dd>
          </>
        ) : null}
        {Object.entries(row.values).map(([name, value]) => (
          <Value key={name} name={name} value={value} />
        ))}
        {label ? (
          <>
            <dt>{t.label}</dt>
            <dd className="why-label">
              <code title={label}>{label}</code>
              <IconButton name={t.copy} onPress={() => void copy()}>
                <Copy size={13} />
              </IconButton>
            </dd>
          </>
        ) : null}
      </dl>
    </div>
  );
}

function Value({ name, value }: { name: string; value: unknown }) {
  return (
    <>
      <dt>{name}</dt>
      <dd className="mono">{valueText(value, name)}</dd>
    </>
  );
}

/** The name of the definition of a type: types and definitions may be called differently. */
function definitionOf(type: string): string {
  const { outline } = useStudio.getState().check;
  return outline.find((entry) => entry.output === type && derives(entry))?.name ?? type;
}

function List({ of, more }: { of: Constituent[]; more: number }) {
  const [all, setAll] = useState(false);
  const shown = all ? of : of.slice(0, FIRST);
  return (
    <ul className="constituents">
      {shown.map((one, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: one event may have several roles
        <Item key={i} one={one} />
      ))}
      {of.length > shown.length ? (
        <li>
          <Button kind="quiet" onPress={() => setAll(true)}>
            {t.more} ({grouped(of.length - shown.length)})
          </Button>
        </li>
      ) : null}
      {more > 0 ? <li className="dim why-none">{texts.problems.more(more)}</li> : null}
    </ul>
  );
}

function Item({ one }: { one: Constituent }) {
  const { clock, definitions } = useShared();
  const [open, setOpen] = useState(true);
  const inner = one.constituents.length > 0 || one.more > 0;
  const { source } = one;
  const place = source?.file ? source.file + (source.line === null ? "" : `:${source.line}`) : null;
  const point = (on: boolean) => setRun({ pointed: on ? markedOf(one) : null });
  const show = () => {
    const marked = markedOf(one);
    if (!marked) return;
    setRun({ pointed: marked });
    showTime(marked);
  };
  const goThere = () => {
    if (source?.file) void goTo({ path: source.file, line: source.line ?? 1, column: 1 });
    else void goToDefinition(definitionOf(one.type));
  };
  // an atom, which says once more what its type and values say
  const role = one.role?.startsWith(one.type) ? null : one.role;
  const name = place ? t.source(place) : t.go(one.type);
  return (
    <li
      className="constituent"
      data-testid="constituent"
      data-role={one.role ?? ""}
      data-type={one.type}
      data-ticks={one.ticks ?? ""}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: what is pointed at is ringed on the timeline */}
      <div className="constituent-line" onMouseEnter={() => point(true)} onMouseLeave={() => point(false)}>
        {inner ? (
          <button
            type="button"
            className="constituent-toggle"
            aria-expanded={open}
            aria-label={open ? t.less : t.more}
            onClick={() => setOpen(!open)}
          >
            {open ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
          </button>
        ) : (
          <span className="constituent-toggle" />
        )}
        <button
          type="button"
          className="constituent-main"
          title={one.role ?? undefined}
          onClick={show}
          disabled={one.ticks === null}
        >
          <span className="constituent-title">
            <TypeSwatch type={one.type} />
            <b>{one.type}</b>
            {role ? <span className="dim">{role}</span> : null}
          </span>
          <span
            className="constituent-time mono"
            title={one.ticks === null ? undefined : clock.full(one.ticks)}
          >
            {one.ticks === null ? "" : clock.text(one.ticks)}
            {one.open
              ? ` – ${texts.run.open}`
              : one.end_ticks !== null
                ? ` – ${clock.text(one.end_ticks)}`
                : ""}
          </span>
          <span className="constituent-values">
            {Object.entries(one.values).map(([key, value]) => (
              <span key={key} className="pair">
                <span className="dim">{key}</span> <span className="mono">{valueText(value, key)}</span>
              </span>
            ))}
          </span>
        </button>
        {place || definitions.has(one.type) ? (
          <button type="button" className="constituent-go" title={name} aria-label={name} onClick={goThere}>
            {place ? <span className="mono">{place}</span> : <FileText size={14} aria-hidden />}
          </button>
        ) : null}
      </div>
      {inner && open ? <List of={one.constituents} more={one.more} /> : null}
    </li>
  );
}

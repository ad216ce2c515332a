/** Why a detection was made, or why there is none: its constituents with their roles, each down to the rows of the input. */
import { ChevronDown, ChevronRight, Copy, FileText } from "lucide-react";
import { createContext, useContext, useEffect, useMemo, useState } from "react";
import { ApiError, api, ConnectionLost } from "../api/client";
import type { Constituent, Row, Source, Ticks, WhyAnswer } from "../api/types";
import { Swatch } from "../frame/Outline";
import { Button, IconButton } from "../parts/Button";
import { typeLook } from "../parts/colours";
import { Empty, ErrorBox, Skeleton } from "../parts/Empty";
import { derives } from "../parts/order";
import { goTo, goToDefinition, say, tell } from "../state/actions";
import { set, useStudio } from "../state/store";
import { grouped, texts } from "../texts";
import { showTime } from "./actions";
import { ChecksBar, ChecksContext, ChecksOf, useChecks } from "./Checks";
import { FullValue, isLong } from "./FullValue";
import { useRunOrder } from "./order";
import { valueText } from "./rows";
import { getRun, type Marked, markedOf, setRun, useRun } from "./state";
import { Clock, exact } from "./time";
import { WhyNotPanel } from "./WhyNot";
import "./run.css";

const t = texts.why;
/** Constituents that are listed before one asks for more. */
const FIRST = 50;

interface Shared {
  clock: Clock;
  order: string[];
  definitions: Set<string>;
  /** the time of the detection: times of its day have no date */
  at: Ticks;
}

const Context = createContext<Shared | null>(null);

export default function WhyPanel() {
  const question = useStudio((state) => state.question);
  const clock = useRun((state) => state.clock);
  return question && clock ? <WhyNotPanel question={question} clock={clock} /> : <WhySelected />;
}

function WhySelected() {
  const selection = useStudio((state) => state.selection);
  const outline = useStudio((state) => state.check.outline);
  const clock = useRun((state) => state.clock);
  const order = useRunOrder();
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
      order,
      definitions: new Set(outline.filter(derives).map((entry) => entry.output ?? "")),
    }),
    [clock, order, outline],
  );
  const job = selection?.job;
  const label = selection?.label;
  const checks = useChecks(label);

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
    <Context.Provider value={{ ...shared, at: detection.ticks }}>
      <ChecksContext value={got.label === label ? checks : null}>
        <div className="why" aria-busy={got.label !== label}>
          <Top row={detection} />
          {/* a row of the input has no causes */}
          {detection.source && !constituents.length ? null : (
            <h3 className="why-head">{t.constituents(byRow(constituents).length + more)}</h3>
          )}
          {constituents.length ? (
            <List of={constituents} more={more} label={detection.label} />
          ) : detection.source ? null : (
            <p className="dim why-none">{t.nothing}</p>
          )}
          <ChecksOf label={detection.label} clock={shared.clock} />
          {job && label && !detection.source ? <ChecksBar job={job} label={label} /> : null}
        </div>
      </ChecksContext>
    </Context.Provider>
  );
}

/** Is it a time in which an event was looked for, and not an event? */
function isAbsent({ role, row }: Constituent): boolean {
  return row === null && (role?.startsWith("not ") ?? false);
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
      if (marked && out.length < 500) out.push({ ...marked, absent: isAbsent(one) });
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
  return <Swatch {...typeLook(type, order)} />;
}

function Top({ row }: { row: Row & { source: Source | null } }) {
  const { clock, definitions } = useShared();
  const { label } = row;
  const end = row.end_ticks !== null && row.end_ticks !== row.ticks ? row.end_ticks : null;
  const copy = async () => {
    if (!label) return;
    try {
      await navigator.clipboard.writeText(label);
      say(t.copied);
    } catch (error) {
      tell(error);
    }
  };
  return (
    <div className="why-top">
      <div className="why-type">
        <TypeSwatch type={row.type} />
        <b>{row.type}</b>
        <span className="spring" />
        {row.source?.file ? <SourceLink source={row.source} /> : null}
        {definitions.has(row.type) && !row.source ? (
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
              <code title={label}>{label.slice(0, 12)}…</code>
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
      <dd className="mono">
        <FullValue name={name} value={value} />
      </dd>
    </>
  );
}

/** The name of the definition of a type: types and definitions may be called differently. */
function definitionOf(type: string): string {
  const { outline } = useStudio.getState().check;
  return outline.find((entry) => entry.output === type && derives(entry))?.name ?? type;
}

/** So many constituents show their values from the beginning. */
const OPEN = 3;

/** Rows with the roles that each has: one row in several roles is listed once. */
function byRow(of: readonly Constituent[]): { one: Constituent; roles: (string | null)[] }[] {
  const out: { one: Constituent; roles: (string | null)[] }[] = [];
  const known = new Map<string, (string | null)[]>();
  for (const one of of) {
    const roles = one.label === null ? undefined : known.get(one.label);
    if (roles) {
      if (!roles.includes(one.role)) roles.push(one.role);
      continue;
    }
    const own = [one.role];
    if (one.label !== null) known.set(one.label, own);
    out.push({ one, roles: own });
  }
  return out;
}

function List({ of, more, label }: { of: Constituent[]; more: number; label: string | null }) {
  const [all, setAll] = useState(false);
  // checks say more of times in which nothing was found
  const checks = useContext(ChecksContext)?.get(label ?? "");
  const checked = checks?.some(({ node }) => node.kind === "absence") ?? false;
  const rows = useMemo(() => byRow(checked ? of.filter((one) => !isAbsent(one)) : of), [of, checked]);
  const shown = all ? rows : rows.slice(0, FIRST);
  return (
    <ul className="constituents">
      {shown.map(({ one, roles }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a time in which nothing was found has no other name
        <Item key={i} one={one} roles={roles} unfolded={rows.length <= OPEN} />
      ))}
      {rows.length > shown.length ? (
        <li>
          <Button kind="quiet" onPress={() => setAll(true)}>
            {t.more} ({grouped(rows.length - shown.length)})
          </Button>
        </li>
      ) : null}
      {more > 0 ? <li className="dim why-none">{texts.problems.more(more)}</li> : null}
    </ul>
  );
}

/** Where a row of the input stands. */
function SourceLink({ source }: { source: Source }) {
  const { file, line, row } = source;
  if (!file) return null;
  const place = line !== null ? `${file}:${line}` : file;
  const name = t.source(place);
  // only text has lines to show
  if (line === null)
    return (
      <span className="constituent-place mono dim" title={place}>
        {place}
        {row === null ? "" : `, ${texts.run.row(row)}`}
      </span>
    );
  return (
    <button
      type="button"
      className="constituent-go"
      title={name}
      aria-label={name}
      onClick={() => void goTo({ path: file, line, column: 1 })}
    >
      <span className="mono">
        <span className="place-file">{file}</span>:{line}
      </span>
    </button>
  );
}

/** A time in which something was looked for: both ends belong to it, so an open one is a tick beside what was meant. */
function absentText(clock: Clock, one: Constituent): string {
  if (one.ticks === null) return "";
  const from =
    clock.kind.timestamp && exact(one.ticks) % 1_000_000n === 1n ? String(exact(one.ticks) - 1n) : one.ticks;
  if (one.end_ticks === null) return clock.text(from);
  const end = exact(one.end_ticks);
  const to = clock.kind.timestamp && end % 1_000_000n === 999_999n ? String(end + 1n) : one.end_ticks;
  return t.absentFrom(...clock.between(from, to));
}

/** A time with more characters than a day and a time of day has a line of its own. */
const LONG = 19;

interface ItemProps {
  one: Constituent;
  roles: readonly (string | null)[];
  unfolded: boolean;
}

function Item({ one, roles, unfolded }: ItemProps) {
  const { clock, definitions, at } = useShared();
  const [open, setOpen] = useState(true);
  const [wide, setWide] = useState(unfolded);
  const inner = one.constituents.length > 0 || one.more > 0;
  const absent = isAbsent(one);
  const values = absent ? [] : Object.entries(one.values);
  const point = (on: boolean) => setRun({ pointed: on ? markedOf(one) : null });
  const show = () => {
    setWide(!wide);
    const marked = markedOf(one);
    if (!marked || wide) return;
    setRun({ pointed: marked });
    showTime(marked);
  };
  // an atom says once more what its type and values say
  const role = absent ? "" : roles.filter((each) => each && !each.startsWith(one.type)).join(", ");
  const time =
    one.ticks === null
      ? ""
      : absent
        ? absentText(clock, one)
        : one.open
          ? `${clock.between(at, one.ticks)[1]} – ${texts.run.open}`
          : one.end_ticks === null
            ? clock.between(at, one.ticks)[1]
            : [clock.between(at, one.ticks)[1], clock.between(one.ticks, one.end_ticks)[1]].join(" – ");
  return (
    <li
      className={absent ? "constituent is-absent" : "constituent"}
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
          title={roles.filter(Boolean).join("\n") || undefined}
          aria-expanded={values.length ? wide : undefined}
          onClick={show}
        >
          <span className="constituent-title">
            <TypeSwatch type={one.type} />
            <b>{absent ? t.absent(one.type) : one.type}</b>
            {role ? <span className="dim constituent-role">{role}</span> : null}
          </span>
          <span
            className={`constituent-time ${absent ? "" : "mono"} ${time.length > LONG ? "is-long" : ""}`}
            title={one.ticks === null ? undefined : clock.full(one.ticks)}
          >
            {time}
          </span>
        </button>
        {one.source?.file ? (
          <SourceLink source={one.source} />
        ) : definitions.has(one.type) ? (
          <button
            type="button"
            className="constituent-go"
            title={t.go(one.type)}
            aria-label={t.go(one.type)}
            onClick={() => void goToDefinition(definitionOf(one.type))}
          >
            <FileText size={14} aria-hidden />
          </button>
        ) : null}
      </div>
      {wide && values.length ? (
        <div className="constituent-values">
          {values.map(([key, value]) =>
            isLong(value) ? null : (
              <span key={key} className="pair">
                <span className="dim">{key}</span> <span className="mono">{valueText(value, key)}</span>
              </span>
            ),
          )}
          {values.map(([key, value]) =>
            isLong(value) ? <FullValue key={key} name={key} value={value} label /> : null,
          )}
        </div>
      ) : null}
      {inner && open ? <List of={one.constituents} more={one.more} label={one.label} /> : null}
      {open ? <ChecksOf label={one.label} clock={clock} /> : null}
    </li>
  );
}

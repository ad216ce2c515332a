/** Why there is no detection: the question, and the nearest reasons with what they met, needed, and their repairs. */
import { ChevronDown, ChevronRight, CircleSlash, Play, TriangleAlert, Wrench, X } from "lucide-react";
import { createContext, useContext, useEffect, useId, useState } from "react";
import type { FailedClause, Reason, WhyNot, WitnessRow } from "../api/schema";
import type { Ticks } from "../api/types";
import { Swatch } from "../frame/Outline";
import { Button, IconButton } from "../parts/Button";
import { typeLook } from "../parts/colours";
import { Empty, ErrorBox, NoticeBox } from "../parts/Empty";
import { Linked } from "../parts/Linked";
import { goTo, runNow, say, tell } from "../state/actions";
import type { Question } from "../state/store";
import { grouped, sentences, texts } from "../texts";
import { showTime } from "./actions";
import {
  applyRepair,
  askNow,
  cancelQuestion,
  changeQuestion,
  closeQuestion,
  MOST,
  showReason,
  useAsking,
} from "./asking";
import { useRunOrder } from "./order";
import { byField, timesIn } from "./question";
import { valueText } from "./rows";
import { type Marked, setRun, useRun } from "./state";
import { type Clock, elapsedText } from "./time";

const t = texts.whyNot;
/** So many attributes are shown from the beginning. */
const FEW = 3;
/** Times of the day of the question have no date. */
const Near = createContext<{ clock: Clock; near: Ticks } | null>(null);

/** A sentence of the server with times as the page shows them. */
function useTimes(): (text: string) => string {
  const shared = useContext(Near);
  return (text) => (shared ? timesIn(text, shared.clock, shared.near) : text);
}

export function WhyNotPanel({ question, clock }: { question: Question; clock: Clock }) {
  const asking = useAsking((state) => state.whyNot);
  const { fields, rest } = byField(asking?.state === "failed" ? asking.problems : []);
  const shown = useRun((state) => state.shown);
  const other = !asking?.answer
    ? null
    : question.job !== shown
      ? t.newer
      : asking.of !== JSON.stringify(question)
        ? t.changed
        : null;
  return (
    <div className="why" data-testid="why-not" data-state={asking?.state ?? "none"}>
      <div className="why-asked">
        <h3>{t.title(question.type)}</h3>
        <IconButton name={t.close} onPress={closeQuestion}>
          <X size={14} />
        </IconButton>
      </div>
      <Form question={question} clock={clock} wrong={fields} busy={asking?.state === "asking"} />
      {asking === null ? <p className="dim why-none">{t.notAsked}</p> : null}
      {asking?.state === "asking" ? (
        <Waiting text={t.asking} began={asking.began} onCancel={cancelQuestion} />
      ) : null}
      {asking?.state === "cancelled" ? (
        <p className="dim why-none" role="status">
          <CircleSlash size={13} aria-hidden /> {t.cancelled}
        </p>
      ) : null}
      {asking?.state === "gone" ? <Empty title={texts.why.gone} text={texts.why.goneText} /> : null}
      {rest.map(({ message, hint }) => (
        <ErrorBox key={message} title={t.failed} text={message} hint={hint} again={() => void askNow()} />
      ))}
      {other ? (
        <p className="dim why-none" role="note">
          {other}
        </p>
      ) : null}
      {asking?.answer ? (
        <Near value={{ clock, near: asking.answer.from }}>
          <Answer answer={asking.answer} clock={clock} />
        </Near>
      ) : null}
    </div>
  );
}

/** A job that takes a while, and can be cancelled. */
export function Waiting({ text, began, onCancel }: { text: string; began: number; onCancel: () => void }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, []);
  return (
    <div className="why-waiting">
      <span role="status">{text}</span>
      <span className="dim">{elapsedText(Math.max(0, now - began))}</span>
      <span className="spring" />
      <Button onPress={onCancel}>{t.cancel}</Button>
    </div>
  );
}

interface FormProps {
  question: Question;
  clock: Clock;
  wrong: Record<string, string>;
  busy: boolean;
}

function Form({ question, clock, wrong, busy }: FormProps) {
  const result = useRun((state) => state.result);
  const types = result?.found ?? [];
  const attributes = types.find((one) => one.type === question.type)?.attributes ?? [];
  const hint = clock.kind.timestamp ? t.utc : t.whole;
  // many attributes leave the reasons their room, unless there is something to see
  const unfolded = attributes.length <= FEW || Object.keys({ ...question.where, ...wrong }).length > 0;
  return (
    <form
      className="why-form"
      aria-label={t.form}
      onSubmit={(event) => {
        event.preventDefault();
        void askNow();
      }}
    >
      <label>
        <span>{t.type}</span>
        <select
          className="run-field"
          value={question.type}
          onChange={(event) => {
            const { lane: _, ...others } = question;
            changeQuestion({ ...others, type: event.target.value, where: {} });
          }}
        >
          {types.map(({ type }) => (
            <option key={type}>{type}</option>
          ))}
        </select>
      </label>
      {(["from", "to"] as const).map((name) => (
        <Field
          key={name}
          name={t[name]}
          value={question[name]}
          hint={hint}
          placeholder={name === "from" ? t.first : t.last}
          wrong={wrong[name]}
          onChange={(value) => changeQuestion({ [name]: value })}
        />
      ))}
      {attributes.length ? (
        <details className="why-values-fold" key={question.type} open={unfolded || undefined}>
          <summary>{t.values}</summary>
          {attributes.map((name) => (
            <Field
              key={name}
              name={name}
              value={question.where[name] ?? ""}
              placeholder={question.where[name] === null ? t.isNull : t.any}
              wrong={wrong[`where.${name}`]}
              onChange={(value) => changeQuestion({ where: { ...question.where, [name]: value } })}
            />
          ))}
        </details>
      ) : null}
      {wrong.type ? <p className="option-wrong">{wrong.type}</p> : null}
      <div className="why-actions">
        <Button kind="main" type="submit" isDisabled={busy}>
          {t.ask}
        </Button>
      </div>
    </form>
  );
}

interface FieldProps {
  name: string;
  value: string;
  placeholder: string;
  hint?: string;
  wrong: string | undefined;
  onChange: (value: string) => void;
}

function Field({ name, value, placeholder, hint, wrong, onChange }: FieldProps) {
  const id = useId();
  return (
    <>
      <label title={hint}>
        <span>{name}</span>
        <input
          className="run-field"
          value={value}
          placeholder={placeholder}
          spellCheck="false"
          autoComplete="off"
          aria-invalid={wrong ? true : undefined}
          aria-describedby={wrong ? id : undefined}
          onChange={(event) => onChange(event.target.value)}
        />
      </label>
      {wrong ? (
        <p id={id} className="option-wrong">
          {wrong}
        </p>
      ) : null}
    </>
  );
}

// -- the answer ------------------------------------------------------------------------------------------

function Answer({ answer, clock }: { answer: WhyNot; clock: Clock }) {
  const { edits, limit, variants } = useAsking((state) => state.most);
  const { reasons, complete, notes, found } = answer;
  const times = useTimes();
  if (found) return <Found answer={answer} clock={clock} />;
  const more = reasons.length >= limit && limit < MOST.limit;
  return (
    <>
      <h4 className="why-head">{t.reasons(reasons.length)}</h4>
      {reasons.length ? (
        <ol className="reasons">
          {reasons.map((reason) => (
            <ReasonItem key={reason.number} reason={reason} clock={clock} />
          ))}
        </ol>
      ) : complete ? (
        <p className="why-none">{t.none(edits)}</p>
      ) : null}
      {complete ? null : (
        <div className="why-partly" role="note">
          <TriangleAlert size={14} aria-hidden />
          <div>
            <b>{t.partly}</b>
            <p>{t.partlyText}</p>
          </div>
        </div>
      )}
      {notes.length ? (
        <ul className="why-notes dim">
          {notes.map((note) => (
            <li key={note}>{times(note)}</li>
          ))}
        </ul>
      ) : null}
      <div className="why-actions">
        {more ? <Button onPress={() => void askNow({ limit: MOST.limit })}>{t.moreReasons}</Button> : null}
        {!complete && variants < MOST.variants ? (
          <Button onPress={() => void askNow({ variants: MOST.variants })}>{t.further}</Button>
        ) : null}
        {!reasons.length && complete && edits < MOST.edits ? (
          <Button onPress={() => void askNow({ edits: edits + 1 })}>{t.tryMore(edits + 1)}</Button>
        ) : null}
      </div>
    </>
  );
}

/** It is there after all: where. */
function Found({ answer, clock }: { answer: WhyNot; clock: Clock }) {
  const { type, rows } = answer;
  return (
    <NoticeBox title={t.found(answer.found)}>
      <ul className="why-found">
        {rows.map(({ ticks, end_ticks: end, values }, i) =>
          ticks === null ? null : (
            // biome-ignore lint/suspicious/noArrayIndexKey: equal detections have no other name
            <li key={i}>
              <button
                type="button"
                className="constituent-go"
                aria-label={t.foundShow(clock.text(ticks))}
                onClick={() => point({ type, start: ticks, end, label: null, row: null })}
              >
                <span className="mono">{clock.text(ticks)}</span>
              </button>
              <Values values={values} />
            </li>
          ),
        )}
      </ul>
    </NoticeBox>
  );
}

/** Rings a row on the timeline, and brings it into view. */
function point(marked: Marked) {
  setRun({ pointed: marked });
  showTime(marked);
}

function Values({ values }: { values: Record<string, unknown> }) {
  return (
    <span className="row-values">
      {Object.entries(values)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <span key={name} className="pair">
            <span className="dim">{name}</span> <span className="mono">{valueText(value, name, 80)}</span>
          </span>
        ))}
    </span>
  );
}

function ReasonItem({ reason, clock }: { reason: Reason; clock: Clock }) {
  const open = useAsking((state) => state.reason === reason.number);
  const times = useTimes();
  const [first] = reason.clauses;
  const cost = t.cost(reason.cost);
  return (
    <li className="reason" data-testid="reason" data-number={reason.number} data-kind={first?.kind}>
      <button
        type="button"
        className="reason-head"
        aria-expanded={open}
        onClick={() => showReason(open ? null : reason)}
      >
        {open ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
        <span className="reason-number">{grouped(reason.number)}</span>
        <span className="reason-text">
          {reason.clauses.map(({ kind }) => t.kinds[kind] ?? kind).join(", ")}
          {cost ? <span className="dim"> · {cost}</span> : null}
          {open ? null : <span className="dim reason-short">{times(first?.message ?? "")}</span>}
        </span>
      </button>
      {open ? <ReasonBody reason={reason} clock={clock} /> : null}
    </li>
  );
}

function ReasonBody({ reason, clock }: { reason: Reason; clock: Clock }) {
  return (
    <div className="reason-body">
      {reason.clauses.map((clause, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: clauses of one reason have no other name
        <ClauseItem key={i} clause={clause} />
      ))}
      <ul className="witness" aria-label={t.rows}>
        {reason.witness.map((row, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row may be there in several roles
          <WitnessItem key={i} row={row} depth={depthOf(reason.witness, i)} clock={clock} />
        ))}
        {reason.more ? <li className="dim">{t.moreRows(reason.more)}</li> : null}
      </ul>
      <RepairPart reason={reason} />
    </div>
  );
}

function depthOf(rows: readonly WitnessRow[], at: number): number {
  let depth = 0;
  for (let one = rows[at]; one && one.parent !== null && depth < 8; one = rows[one.parent]) depth++;
  return depth;
}

/** The place of a clause as a button that shows it in the text. */
export function ClausePlace({ clause }: { clause: Pick<FailedClause, "file" | "span"> }) {
  const { file, span } = clause;
  if (file === null || !span) return null;
  const place = `${file}:${span.line}`;
  return (
    <button
      type="button"
      className="constituent-go"
      title={t.place(place)}
      aria-label={t.place(place)}
      onClick={() => void goTo({ path: file, ...span, select: true })}
    >
      <span className="mono">
        <span className="place-file">{file}</span>:{span.line}
      </span>
    </button>
  );
}

function ClauseItem({ clause }: { clause: FailedClause }) {
  const { message, found, needed, repair, kind } = clause;
  const times = useTimes();
  return (
    <div className="failed-clause" data-testid="failed-clause" data-kind={kind}>
      <div className="clause-line">
        {clause.clause ? <code>{clause.clause}</code> : <span className="dim">{t.fromInput}</span>}
        <ClausePlace clause={clause} />
      </div>
      <p>{times(message ?? "")}</p>
      <dl className="why-values">
        {found ? (
          <>
            <dt>{t.foundValue}</dt>
            <dd className="mono">{times(found)}</dd>
          </>
        ) : null}
        {needed ? (
          <>
            <dt>{t.needed}</dt>
            <dd className="mono">{times(needed)}</dd>
          </>
        ) : null}
        {clause.span && kind !== "missing" ? (
          <>
            <dt>{t.repair}</dt>
            <dd>{repair ? <code>{repair}</code> : <span className="dim">{t.removed}</span>}</dd>
          </>
        ) : null}
      </dl>
    </div>
  );
}

/** Whether a row fits, fails a clause, or is added: a sign beside a colour, and a word for those who see neither. */
function signOf({ ok, added }: WitnessRow): [string, string, string] {
  if (added) return ["+", t.addedRow, "is-added"];
  return ok ? ["✓", t.ok, "is-ok"] : ["✗", t.failedRow, "is-failed"];
}

function timeOf(clock: Clock, near: Ticks, ticks: Ticks, end: Ticks | null): string {
  const start = clock.between(near, ticks)[1];
  return end === null ? start : `${start} – ${clock.between(ticks, end)[1]}`;
}

function WitnessItem({ row, depth, clock }: { row: WitnessRow; depth: number; clock: Clock }) {
  const order = useRunOrder();
  const near = useContext(Near)?.near;
  const { type, role, ticks, end_ticks: end, label } = row;
  const [sign, word, className] = signOf(row);
  const marked = (): Marked | null =>
    ticks === null || type === null
      ? null
      : { type, start: ticks, end, label, row: null, failed: !row.ok, absent: row.added };
  const ring = (on: boolean) => setRun({ pointed: on ? marked() : null });
  return (
    <li
      className={`witness-row ${className}`}
      style={{ paddingLeft: 4 + 14 * depth }}
      data-testid="witness"
      data-type={type}
      data-ticks={ticks ?? ""}
      data-ok={row.ok}
      data-added={row.added}
    >
      <button
        type="button"
        className="constituent-main"
        onMouseEnter={() => ring(true)}
        onMouseLeave={() => ring(false)}
        onClick={() => {
          const one = marked();
          if (one) point(one);
        }}
      >
        <span className="witness-sign" aria-hidden>
          {sign}
        </span>
        <span className="hidden">{word}</span>
        <span className="constituent-title">
          <Swatch {...typeLook(type ?? "", order)} />
          <b>{type}</b>
          {role && role !== type ? <span className="dim constituent-role">{role}</span> : null}
        </span>
        <span className="constituent-time mono">
          {ticks === null ? "" : timeOf(clock, near ?? ticks, ticks, end)}
        </span>
      </button>
      <Values values={row.values} />
    </li>
  );
}

function RepairPart({ reason }: { reason: Reason }) {
  const applied = useAsking((state) => state.applied === reason.number);
  const { added, files, repair, number, verified } = reason;
  const times = useTimes();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(JSON.stringify(added));
      say(t.rowCopied);
    } catch (error) {
      tell(error);
    }
  };
  return (
    <div className="repair">
      <p>
        <Linked text={applied ? t.appliedShort : sentences(times(repair))} />
      </p>
      {verified ? null : <p className="is-warning">{t.unverified}</p>}
      {added ? (
        <>
          <pre className="full-text">{JSON.stringify(added, null, 1)}</pre>
          <p className="dim">{t.addRow}</p>
        </>
      ) : null}
      <div className="why-actions">
        {applied ? (
          <Button kind="main" onPress={() => void runNow()}>
            <Play size={13} aria-hidden />
            {t.run}
          </Button>
        ) : files.length ? (
          <Button kind="main" aria-label={t.applyNumber(number)} onPress={() => void applyRepair(reason)}>
            <Wrench size={13} aria-hidden />
            {t.apply}
          </Button>
        ) : null}
        {added ? <Button onPress={() => void copy()}>{t.copyRow}</Button> : null}
      </div>
    </div>
  );
}

/** What was checked for a detection: each clause with the value that it met, times without an event, aggregates. */
import { Check, ListChecks } from "lucide-react";
import { createContext, useContext, useEffect, useMemo } from "react";
import type { WhyNode } from "../api/schema";
import { Button } from "../parts/Button";
import { ErrorBox } from "../parts/Empty";
import { texts } from "../texts";
import { showTime } from "./actions";
import { askChecks, cancelChecks, dropChecks, useAsking } from "./asking";
import { type CheckOf, checksByLabel, timesIn } from "./question";
import { type Marked, setRun, useRun } from "./state";
import type { Clock } from "./time";
import { ClausePlace, Waiting } from "./WhyNot";

const t = texts.why;
/** Rows of an aggregate that are listed. */
const ROWS = 10;

export const ChecksContext = createContext<Map<string, CheckOf[]> | null>(null);

/** The checks of all rows of a detection; null: they are not asked for, or not there yet. */
export function useChecks(label: string | undefined): Map<string, CheckOf[]> | null {
  const answer = useAsking(({ why }) => (why?.of === label ? why?.answer : null));
  return useMemo(() => (answer ? checksByLabel(answer.nodes) : null), [answer]);
}

/** Asks for the checks of what is chosen, if they are wanted. */
export function ChecksBar({ job, label }: { job: string; label: string }) {
  const wanted = useRun((state) => state.checks);
  const asking = useAsking((state) => (state.why?.of === label ? state.why : null));
  useEffect(() => {
    if (!wanted) return;
    // someone who runs through the table asks for the last one only
    const timer = setTimeout(() => askChecks(job, label), 250);
    return () => {
      clearTimeout(timer);
      dropChecks();
    };
  }, [wanted, job, label]);
  const { state, began, problems, answer } = asking ?? {};
  return (
    <div className="checks-bar" data-testid="checks" data-state={wanted ? (state ?? "asking") : "none"}>
      <div className="why-actions">
        <Button kind="quiet" aria-pressed={wanted} onPress={() => setRun({ checks: !wanted })}>
          <ListChecks size={14} aria-hidden />
          <span title={t.checksHint}>{t.checks}</span>
        </Button>
        {wanted && state === "cancelled" ? (
          <Button onPress={() => askChecks(job, label)}>{t.again}</Button>
        ) : null}
      </div>
      {wanted && state === "asking" && began !== undefined ? (
        <Waiting text={t.checking} began={began} onCancel={cancelChecks} />
      ) : null}
      {wanted && (state === "failed" || state === "gone") && problems?.[0] ? (
        <ErrorBox
          title={t.checksFailed}
          text={problems[0].message}
          hint={problems[0].hint}
          again={() => askChecks(job, label)}
        />
      ) : null}
      {wanted && answer ? (
        <>
          {answer.more ? <p className="dim why-none">{t.checksMore(answer.more)}</p> : null}
          {answer.notes.map((note) => (
            <p key={note} className="dim why-none">
              {note}
            </p>
          ))}
        </>
      ) : null}
    </div>
  );
}

/** The checks of one row. */
export function ChecksOf({ label, clock }: { label: string | null; clock: Clock }) {
  const checks = useContext(ChecksContext)?.get(label ?? "");
  if (!checks?.length) return null;
  return (
    <ul className="checks" aria-label={t.checks}>
      {checks.map(({ node, parts }) => (
        <CheckItem key={node.node} node={node} parts={parts} clock={clock} />
      ))}
    </ul>
  );
}

function markedOf({ kind, type, ticks, end_ticks: end, label }: WhyNode): Marked | null {
  if (ticks === null || type === null) return null;
  return { type, start: ticks, end, label, row: null, absent: kind === "absence" };
}

function CheckItem({ node, parts, clock }: CheckOf & { clock: Clock }) {
  const { kind, message, clause } = node;
  const marked = markedOf(node);
  const word = t.check[kind as keyof typeof t.check] ?? kind;
  return (
    <li
      className="check-item"
      data-testid="check"
      data-kind={kind}
      data-ticks={node.ticks ?? ""}
      data-end={node.end_ticks ?? ""}
    >
      <div className="clause-line">
        <button
          type="button"
          className="check-text"
          title={clause ?? undefined}
          disabled={marked === null}
          onMouseEnter={() => setRun({ pointed: marked })}
          onMouseLeave={() => setRun({ pointed: null })}
          onClick={() => {
            if (!marked) return;
            setRun({ pointed: marked });
            showTime(marked);
          }}
        >
          <Check size={12} className="is-good" aria-hidden />
          <span className="hidden">{word}</span>
          <span>{timesIn(message ?? "", clock, node.ticks ?? 0)}</span>
        </button>
        <ClausePlace clause={node} />
      </div>
      {parts.length ? (
        <ul className="check-parts">
          {parts.slice(0, ROWS).map((part) => (
            <li key={part.node}>
              {part.type}{" "}
              <span className="mono dim">{part.ticks === null ? "" : clock.text(part.ticks)}</span>
            </li>
          ))}
          {parts.length > ROWS ? <li className="dim">{texts.whyNot.moreRows(parts.length - ROWS)}</li> : null}
        </ul>
      ) : null}
    </li>
  );
}

/** The log of firings: bindings, the row that was taken, what was derived of which rows; beside it the text it came from. */
import { useEffect, useMemo, useRef, useState } from "react";
import type { NetDerived, NetFiring, NetRow } from "../api/schema";
import { Swatch } from "../frame/Outline";
import { typeLook } from "../parts/colours";
import { Empty } from "../parts/Empty";
import { goTo } from "../state/actions";
import { typeOrder, useStudio } from "../state/store";
import { grouped, texts } from "../texts";
import { goToOrigin, goToStep, loadText, showElement } from "./actions";
import { excerpt } from "./excerpt";
import { bindingText, gapBefore, valuesText } from "./log";
import { useNet } from "./state";

const t = texts.net;
/** Entries that are listed: those before them are counted. */
const LISTED = 500;

export function Firings() {
  const log = useNet((state) => state.log);
  const end = useRef<HTMLUListElement>(null);
  const first = Math.max(0, log.length - LISTED);
  const shown = log.slice(first);
  const last = log.at(-1)?.step;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the newest entry comes into view
  useEffect(() => {
    const list = end.current;
    if (list) list.scrollTop = list.scrollHeight;
  }, [last, log.length]);
  return (
    <div className="net-log">
      <section className="net-firings">
        {shown.length ? null : <Empty title={t.logNone} text={t.logNoneText} />}
        <ul aria-label={t.log} ref={end} tabIndex={shown.length ? 0 : -1}>
          {shown.map((firing, i) => (
            <Entry
              key={firing.step}
              firing={firing}
              earlier={i ? gapBefore(log, first + i) : firing.step - 1}
            />
          ))}
        </ul>
      </section>
      <Excerpts />
    </div>
  );
}

function Entry({ firing, earlier }: { firing: NetFiring; earlier: number }) {
  const { step, transition, binding, row, derived } = firing;
  return (
    <li
      className={derived ? "net-firing is-derived" : "net-firing"}
      data-derived={derived?.type}
      data-step={step}
    >
      {earlier ? <p className="dim net-gap">{t.earlier(earlier)}</p> : null}
      <button
        type="button"
        className="net-number-link number"
        title={t.goToFiring(step)}
        aria-label={t.goToFiring(step)}
        onClick={() => void goToStep(step)}
      >
        {grouped(step)}
      </button>
      <button type="button" className="net-name-link" onClick={() => showElement(transition)}>
        {transition}
      </button>
      {row ? <RowLink row={row} /> : null}
      <span className="mono dim net-binding" title={bindingText(binding)}>
        {bindingText(binding)}
      </span>
      {derived ? <Derived derived={derived} /> : null}
    </li>
  );
}

function Derived({ derived: { type, time, values, taken } }: { derived: NetDerived }) {
  const outline = useStudio((state) => state.check.outline);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the order follows the outline
  const order = useMemo(() => typeOrder(useStudio.getState()), [outline]);
  return (
    <p className="net-derived">
      <Swatch {...typeLook(type, order)} /> <b>{t.derivedAt(type, String(time))}</b>{" "}
      <span className="mono">{valuesText(values)}</span>{" "}
      <span className="dim">{taken.length ? t.madeOf : ""}</span>
      {taken.map(({ tag, row }) => (
        <span key={tag} className="net-taken">
          <span className="mono dim">{tag}</span> {row ? <RowLink row={row} /> : <span>{t.anEvent}</span>}
        </span>
      ))}
    </p>
  );
}

function RowLink({ row }: { row: NetRow }) {
  const { file, line, number, type, time } = row;
  const place = file && line ? `${file}:${line}` : (file ?? "");
  const title = [type, String(time), place].filter(Boolean).join("  ");
  if (!file) return <span title={title}>{t.row(number)}</span>;
  return (
    <button
      type="button"
      className="link"
      title={title}
      onClick={() => void goTo({ path: file, line: line ?? 1, column: 1 })}
    >
      {t.row(number)}
    </button>
  );
}

/** The statement and the row of the last firing, as they are written. */
function Excerpts() {
  const firing = useNet((state) => state.log.at(-1));
  const origin = useNet((state) =>
    firing ? (state.elements.transitions.get(firing.transition)?.origin ?? null) : null,
  );
  const row = firing?.row ?? null;
  const any = (origin?.file && origin.span) || row;
  return (
    <div className="net-excerpts">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section className="net-excerpts-body" tabIndex={0} aria-label={t.text}>
        {any ? null : <Empty title={t.textNone} />}
        {origin?.file && origin.span ? (
          <Excerpt
            title={origin.definition}
            path={origin.file}
            span={origin.span}
            onGo={() => goToOrigin(origin)}
          />
        ) : null}
        {row?.file && row.line ? (
          <Excerpt
            title={`${t.row(row.number)}, ${row.type}`}
            path={row.file}
            span={{ line: row.line, column: 1, end_line: row.line, end_column: 1_000_000 }}
            onGo={() => void goTo({ path: row.file ?? "", line: row.line ?? 1, column: 1 })}
          />
        ) : null}
      </section>
    </div>
  );
}

interface Marked {
  title: string;
  path: string;
  span: { line: number; column: number; end_line: number; end_column: number };
  onGo: () => void;
}

function Excerpt({ title, path, span, onGo }: Marked) {
  const [text, setText] = useState<{ path: string; text: string | null } | null>(null);
  useEffect(() => {
    let gone = false;
    void loadText(path).then((text) => {
      if (!gone) setText({ path, text });
    });
    return () => {
      gone = true;
    };
  }, [path]);
  const parts = useMemo(
    () => (text?.path === path && text.text !== null ? excerpt(text.text, span) : null),
    [text, path, span],
  );
  const mark = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: with every new place
  useEffect(() => {
    mark.current?.scrollIntoView({ block: "nearest" });
  }, [parts]);
  return (
    <div className="net-excerpt">
      <p className="net-excerpt-head">
        <b>{title}</b>{" "}
        <button type="button" className="link mono" onClick={onGo}>
          {path}:{span.line}
        </button>
      </p>
      {parts ? (
        <pre className="mono">
          {parts.before}
          <mark ref={mark}>{parts.marked}</mark>
          {parts.after}
        </pre>
      ) : text?.path === path ? (
        <p className="dim">{t.textGone}</p>
      ) : null}
    </div>
  );
}

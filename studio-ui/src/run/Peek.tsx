/** What is in a file of events: its types with their attributes, its first rows, its bad ones. */
import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { ApiError, api } from "../api/client";
import type { PeekAnswer, PeekedRow, Problem } from "../api/types";
import { IconButton } from "../parts/Button";
import { Empty, ErrorBox, Skeleton } from "../parts/Empty";
import { Linked } from "../parts/Linked";
import { goTo } from "../state/actions";
import { useStudio } from "../state/store";
import { grouped, texts } from "../texts";
import { chooseEvents, tellOptions } from "./actions";
import { entriesOf, entryFor, formatEntry } from "./events";
import { lineOf, plainHint, plainMessage } from "./messages";
import { valueText } from "./rows";
import { setRun } from "./state";
import { zoned, zoneOf } from "./time";

const t = texts.run;
const ROWS = 100;

type Answer = { path: string; answer: PeekAnswer } | { path: string; error: ApiError | Error };

/** `told`: what is wrong with the file is said elsewhere. */
export function Peek({ path, closable, told = false }: { path: string; closable: boolean; told?: boolean }) {
  const project = useStudio((state) => state.project);
  const files = useStudio((state) => state.files);
  const check = useStudio((state) => state.check);
  const etag = useStudio((state) => state.files.find((file) => file.path === path)?.etag);
  const [got, setGot] = useState<Answer | null>(null);
  const offered = useStudio((state) => state.events);
  const given = { project, files, events: offered, check };
  const chosen = entriesOf(given).find((one) => one.path === path);
  const entry = chosen ?? entryFor(path, given);
  const asked = formatEntry(entry);
  const options = JSON.stringify(project.program?.options ?? {});
  useEffect(() => {
    void etag;
    const control = new AbortController();
    api
      .peek([asked], JSON.parse(options), ROWS, control.signal)
      .then((answer) => {
        setGot({ path: asked, answer });
        tellOptions(answer.problems);
      })
      .catch((error: Error) => {
        if (!control.signal.aborted) setGot({ path: asked, error });
      });
    return () => control.abort();
  }, [asked, options, etag]);
  return (
    <section className="peek" aria-label={t.peek}>
      <div className="view-bar">
        <h2 className="view-title">{t.peek}</h2>
        <span className="dim mono">{path}</span>
        {chosen ? (
          <TypeField
            key={chosen.type}
            path={path}
            type={chosen.type}
            onType={(type) => void chooseEvents({ type, path }, true)}
          />
        ) : null}
        <span className="spring" />
        {closable ? (
          <IconButton name={t.peekClose} onPress={() => setRun({ peek: null })}>
            <X size={14} />
          </IconButton>
        ) : null}
      </div>
      {got === null || got.path !== asked ? (
        <Skeleton rows={8} />
      ) : "error" in got ? (
        <ErrorBox text={got.error.message} hint={got.error instanceof ApiError ? got.error.hint : null} />
      ) : (
        <Content answer={got.answer} zone={zoneOf(project)} told={told} />
      )}
    </section>
  );
}

function TypeField({ path, type, onType }: { path: string; type: string; onType: (type: string) => void }) {
  const [text, setText] = useState(type);
  const done = () => {
    const now = text.trim();
    if (now !== type && !now.includes("=")) onType(now);
    else setText(type);
  };
  return (
    <label className="event-type-field dim" title={t.typeHint}>
      {t.typeOfAll}
      <input
        className="run-field event-type"
        aria-label={t.typeOf(path)}
        placeholder={t.typeColumn}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={done}
        onKeyDown={(event) => {
          if (event.key === "Enter") done();
        }}
      />
    </label>
  );
}

function Content({ answer, zone, told }: { answer: PeekAnswer; zone: string; told: boolean }) {
  const { rows } = answer;
  const columns = new Set<string>();
  for (const row of rows)
    for (const [name, value] of Object.entries(flat(row))) if (value !== null) columns.add(name);
  // a type that all rows have is said above
  const one = new Set(rows.map((row) => row.type)).size < 2;
  const names = [...columns].filter((name) => !HIDDEN.has(name) && !(one && name === "type"));
  const numeric = new Set(names.filter((name) => rows.every((row) => isNumeric(flat(row)[name]))));
  return (
    <div className="peek-body">
      {answer.problems.length && !told ? <Bad problems={answer.problems} /> : null}
      {answer.types.length ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        <section className="peek-types" tabIndex={0} aria-label={t.peekTypes}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t.type}</th>
                <th scope="col" className="is-number">
                  {t.peekRows}
                </th>
                <th scope="col">{t.peekFirst}</th>
                <th scope="col">{t.peekLast}</th>
                <th scope="col">{t.peekAttributes}</th>
              </tr>
            </thead>
            <tbody>
              {answer.types.map((type) => (
                <tr key={type.name}>
                  <th scope="row">{type.name}</th>
                  <td className="is-number">{type.rows === null ? t.noValue : grouped(type.rows)}</td>
                  {[type.first, type.last].map((at, i) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the first and the last
                    <td key={i} className="mono" title={at === null ? undefined : String(at)}>
                      {at === null ? t.noValue : zoned(at, zone)}
                    </td>
                  ))}
                  <td
                    title={Object.entries(type.schema)
                      .map(([name, kind]) => `${name} ${kind}`)
                      .join("\n")}
                  >
                    {Object.entries(type.schema).map(([name, kind]) => (
                      <span key={name} className="pair">
                        {name} <span className="dim">{kind}</span>
                      </span>
                    ))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ) : null}
      {rows.length === 0 ? (
        // with an error nobody knows whether there are rows
        answer.problems.some((one) => one.severity === "error") ? null : (
          <Empty title={t.peekNone} />
        )
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        <section className="peek-rows" tabIndex={0} aria-label={t.peek}>
          <table>
            <thead>
              <tr>
                {names.map((name) => (
                  <th key={name} scope="col" className={numeric.has(name) ? "is-number" : undefined}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
                <tr key={i}>
                  {names.map((name) => (
                    <td
                      key={name}
                      className={numeric.has(name) ? "is-number mono" : "mono"}
                      title={cellTitle(flat(row)[name])}
                    >
                      {TIMES.has(name)
                        ? timeText(row[name as "time"], zone)
                        : valueText(flat(row)[name], "id")}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </div>
  );
}

/** The value as it is in the file, if it is a text. */
function cellTitle(value: unknown): string | undefined {
  return typeof value === "string" ? valueText(value) : undefined;
}

const TIMES = new Set(["time", "end"]);

function timeText(value: string | number | null, zone: string): string {
  return typeof value === "string" ? zoned(value, zone) : valueText(value, "id");
}

/** Where a row is from is said by its line. */
const HIDDEN = new Set(["file", "row"]);

/** A row with its attributes beside its time, its line first. */
function flat({ values, line, ...rest }: PeekedRow): Record<string, unknown> {
  return { line, ...rest, ...values };
}

function isNumeric(value: unknown): boolean {
  return value === null || value === undefined || typeof value === "number";
}

/** Problems of events: each leads to its row, if the file is text. */
export function Bad({ problems }: { problems: readonly Problem[] }) {
  return (
    <ul className="bad-rows">
      {problems.slice(0, 20).map((one, i) => {
        const line = one.file && one.row !== null ? lineOf(one.file, one.row) : null;
        const place = line === null ? one.file : `${one.file}:${line}`;
        const { file, row } = one;
        const hint = plainHint(one.hint);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: problems have no other name
          <li key={i} className={`is-${one.severity}`}>
            {file && line !== null ? (
              <button
                type="button"
                className="bad-place mono"
                title={t.goTo(place ?? file)}
                onClick={() => void goTo({ path: file, line, column: 1 })}
              >
                {place}
              </button>
            ) : place ? (
              <span className="mono">
                {place}
                {row === null ? "" : `, ${t.row(row)}`}
              </span>
            ) : null}
            <span>
              <Linked text={plainMessage(one.message)} />
              {hint ? (
                <span className="bad-hint dim">
                  <Linked text={hint} />
                </span>
              ) : null}
            </span>
          </li>
        );
      })}
      {problems.length > 20 ? <li className="dim">{texts.problems.more(problems.length - 20)}</li> : null}
    </ul>
  );
}

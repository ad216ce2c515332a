/** What is in a file of events: its types with their attributes, its first rows, its bad ones. */
import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { ApiError, api } from "../api/client";
import type { PeekAnswer, PeekedRow, Problem } from "../api/types";
import { IconButton } from "../parts/Button";
import { Empty, ErrorBox, Skeleton } from "../parts/Empty";
import { useStudio } from "../state/store";
import { texts } from "../texts";
import { chooseEvents } from "./actions";
import { entriesOf, formatEntry, typeByName } from "./events";
import { valueText } from "./rows";
import { setRun } from "./state";
import { zoned, zoneOf } from "./time";

const t = texts.run;
const ROWS = 100;

type Answer = { path: string; answer: PeekAnswer } | { path: string; error: ApiError | Error };

export function Peek({ path, closable }: { path: string; closable: boolean }) {
  const project = useStudio((state) => state.project);
  const files = useStudio((state) => state.files);
  const check = useStudio((state) => state.check);
  const etag = useStudio((state) => state.files.find((file) => file.path === path)?.etag);
  const [got, setGot] = useState<Answer | null>(null);
  const chosen = entriesOf({ project, files, check }).find((one) => one.path === path);
  const entry = chosen ?? {
    path,
    type: typeByName(path, check.outline),
  };
  const asked = formatEntry(entry);
  const options = JSON.stringify(project.program?.options ?? {});
  useEffect(() => {
    void etag;
    const control = new AbortController();
    api
      .peek([asked], JSON.parse(options), ROWS, control.signal)
      .then((answer) => setGot({ path: asked, answer }))
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
        <Content answer={got.answer} zone={zoneOf(project)} />
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
    <input
      className="run-field event-type"
      aria-label={t.typeOf(path)}
      title={t.typeHint}
      placeholder={t.typeColumn}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={done}
      onKeyDown={(event) => {
        if (event.key === "Enter") done();
      }}
    />
  );
}

function Content({ answer, zone }: { answer: PeekAnswer; zone: string }) {
  const { rows } = answer;
  const columns = new Set<string>();
  for (const row of rows)
    for (const [name, value] of Object.entries(flat(row))) if (value !== null) columns.add(name);
  const names = [...columns].filter((name) => !HIDDEN.has(name));
  const numeric = new Set(names.filter((name) => rows.every((row) => isNumeric(flat(row)[name]))));
  return (
    <div className="peek-body">
      {answer.problems.length ? <Bad problems={answer.problems} /> : null}
      <dl className="peek-types">
        {answer.types.map((type) => (
          <div key={type.name}>
            <dt>{type.name}</dt>
            <dd>
              {type.rows !== null ? <span>{texts.why.count(type.rows)}</span> : null}
              {type.first !== null && type.last !== null ? (
                <span className="mono">{t.range(zoned(type.first, zone), zoned(type.last, zone))}</span>
              ) : null}
              {Object.entries(type.schema).map(([name, kind]) => (
                <span key={name}>
                  {name} <span className="dim">{kind}</span>
                </span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      {rows.length === 0 ? (
        <Empty title={t.peekNone} />
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
                    <td key={name} className={numeric.has(name) ? "is-number mono" : "mono"}>
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

export function Bad({ problems }: { problems: readonly Problem[] }) {
  return (
    <ul className="bad-rows">
      {problems.slice(0, 20).map((one, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: problems have no other name
        <li key={i} className={`is-${one.severity}`}>
          {[one.file, one.row === null ? null : t.row(one.row)].filter(Boolean).join(", ")}
          {one.file ? ": " : ""}
          {one.message}
          {one.hint ? <span className="dim"> {one.hint}</span> : null}
        </li>
      ))}
      {problems.length > 20 ? <li className="dim">{texts.problems.more(problems.length - 20)}</li> : null}
    </ul>
  );
}

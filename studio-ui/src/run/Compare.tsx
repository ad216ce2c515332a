/** What the present run found beside the one before: counts by type, and what is new or gone. */
import { ChevronRight, X } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { ApiError, api, ConnectionLost } from "../api/client";
import type { ChangesAnswer, Row, Ticks } from "../api/types";
import { Swatch } from "../frame/Outline";
import { IconButton } from "../parts/Button";
import { typeLook } from "../parts/colours";
import { ErrorBox, Skeleton } from "../parts/Empty";
import { select } from "../state/actions";
import { useStudio } from "../state/store";
import { grouped, texts } from "../texts";
import { choose } from "./actions";
import { useRunOrder } from "./order";
import { valueText } from "./rows";
import { markedOf, setRun, useRun } from "./state";
import { exact } from "./time";

const t = texts.run.compare;
export function Compare({ before }: { before: string }) {
  const job = useRun((state) => state.shown);
  const [found, setFound] = useState<ChangesAnswer | null>(null);
  const [error, setError] = useState<{ text: string; hint: string | null } | null>(null);
  const connected = useStudio((state) => state.connection === "connected");
  useEffect(() => {
    // asked again when the server is back
    if (!job || !connected) return;
    const control = new AbortController();
    setFound(null);
    setError(null);
    api
      .changes(job, before, control.signal)
      .then(setFound)
      .catch((problem: unknown) => {
        if (control.signal.aborted || problem instanceof ConnectionLost) return;
        const gone = problem instanceof ApiError && problem.status === 404;
        const text = problem instanceof Error ? problem.message : String(problem);
        setError({ text: gone ? t.gone : text, hint: null });
      });
    return () => control.abort();
  }, [before, job, connected]);
  return (
    <section className="compare-runs" aria-label={t.title}>
      <div className="view-bar">
        <h2 className="view-title">{t.title}</h2>
        <span className="spring" />
        <IconButton name={t.close} onPress={() => setRun({ comparing: false })}>
          <X size={14} />
        </IconButton>
      </div>
      {error ? (
        <ErrorBox text={error.text} hint={error.hint} />
      ) : found && job ? (
        <Found found={found} before={before} />
      ) : (
        <Skeleton rows={6} />
      )}
    </section>
  );
}

/** A detection that only one of the runs has. */
interface Change {
  row: Row;
  gained: boolean;
}

/** What is new and what is gone, in the order of time. */
function changesOf({ gained, lost }: ChangesAnswer): Change[] {
  const all = [
    ...gained.map((row) => ({ row, gained: true })),
    ...lost.map((row) => ({ row, gained: false })),
  ];
  return all.sort((a, b) => earlier(a.row.ticks, b.row.ticks));
}

function earlier(a: Ticks, b: Ticks): number {
  const [x, y] = [exact(a), exact(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

type Which = "gained" | "lost";

function Found({ found, before }: { found: ChangesAnswer; before: string }) {
  const order = useRunOrder();
  /** only the changes of a type, of one kind */
  const [only, setOnly] = useState<{ type: string; which: Which } | null>(null);
  const { types } = found;
  const changes = useMemo(() => changesOf(found), [found]);
  const shown = only
    ? changes.filter(({ row, gained }) => row.type === only.type && gained === (only.which === "gained"))
    : changes;
  const all = types.reduce((sum, { gained, lost }) => sum + gained + lost, 0);
  const [open, setOpen] = useState(false);
  const changed = types.filter(({ gained, lost }) => gained + lost > 0);
  const others = types.filter(({ gained, lost }) => gained + lost === 0);
  // those without a change are a line, if there are others
  const folded = changed.length > 0 && others.length > 1 && !open;
  const rows = folded ? changed : [...changed, ...others];
  const widest = Math.max(0, ...changes.map(({ row }) => row.type.length));
  const clock = useRun((state) => state.clock);
  const time = Math.max(0, ...changes.map(({ row }) => clock?.text(row.ticks).length ?? 0));
  const pick = (type: string, which: Which) =>
    setOnly(only?.type === type && only.which === which ? null : { type, which });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section className="peek-rows" tabIndex={0} aria-label={t.title}>
      <table className="compare-types">
        <thead>
          <tr>
            <th scope="col">{texts.run.type}</th>
            {[t.gained, t.lost, t.same].map((name) => (
              <th key={name} scope="col" className="is-number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ type, gained, lost, same }) => (
            <tr key={type}>
              <th scope="row">
                <Swatch {...typeLook(type, order)} /> {type}
              </th>
              {(
                [
                  ["gained", gained],
                  ["lost", lost],
                ] as const
              ).map(([which, n]) => (
                <td key={which} className="is-number">
                  {n ? (
                    <button
                      type="button"
                      className={which === "gained" ? "is-good" : "is-error"}
                      aria-pressed={only?.type === type && only.which === which}
                      title={t.only(`${grouped(n)} ${type}`, t[which].toLowerCase())}
                      onClick={() => pick(type, which)}
                    >
                      {grouped(n)}
                    </button>
                  ) : (
                    <span className="dim">0</span>
                  )}
                </td>
              ))}
              <td className="is-number">{grouped(same)}</td>
            </tr>
          ))}
          {folded ? (
            <tr>
              <th scope="row" colSpan={3}>
                <button type="button" className="compare-others" onClick={() => setOpen(true)}>
                  <ChevronRight size={14} aria-hidden /> {t.unchanged(others.length)}
                </button>
              </th>
              <td className="is-number">{grouped(others.reduce((sum, one) => sum + one.same, 0))}</td>
            </tr>
          ) : null}
        </tbody>
      </table>
      {changes.length === 0 ? (
        <p className="dim why-none">{t.equal}</p>
      ) : (
        <ul
          className="changes"
          ref={(element) => {
            element?.style.setProperty("--type", `${Math.min(28, widest) * 7.4 + 20}px`);
            element?.style.setProperty("--time", `${time}ch`);
          }}
        >
          {shown.map((change) => (
            <Line
              key={`${change.gained}${change.row.type}${change.row.row}`}
              change={change}
              before={before}
              order={order}
            />
          ))}
        </ul>
      )}
      {all > changes.length ? <p className="dim why-none">{t.more(all - changes.length)}</p> : null}
    </section>
  );
}

function Line({ change, before, order }: { change: Change; before: string; order: readonly string[] }) {
  const clock = useRun((state) => state.clock);
  const chosen = useStudio((state) => state.selection?.label === change.row.label);
  const { row, gained } = change;
  const show = () => {
    if (gained) choose(markedOf(row));
    else if (row.label) select({ job: before, label: row.label, type: row.type });
  };
  const values = Object.entries(row.values);
  return (
    <li>
      <button
        type="button"
        onClick={show}
        aria-current={chosen || undefined}
        title={gained ? t.gained : t.lost}
      >
        <b className={gained ? "is-good" : "is-error"}>{gained ? "+" : "\u2212"}</b>
        <span className="change-type">
          <Swatch {...typeLook(row.type, order)} />
          {row.type}
          <span className="hidden">{gained ? t.gained : t.lost}</span>
        </span>
        <span className="mono dim">{clock?.text(row.ticks)}</span>
        <span
          className="change-values"
          title={values.map(([name, value]) => `${name} ${valueText(value, name, 200)}`).join("\n")}
        >
          {values.map(([name, value]) => (
            <span key={name} className="pair">
              <span className="dim">{name}</span> <span className="mono">{valueText(value, name, 200)}</span>
            </span>
          ))}
        </span>
      </button>
    </li>
  );
}

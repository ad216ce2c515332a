/** What the present run found beside the one before: counts by type, and what is new or gone. */
import { X } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { ApiError, api, ConnectionLost } from "../api/client";
import { Swatch } from "../frame/Outline";
import { IconButton } from "../parts/Button";
import { typeColour } from "../parts/colours";
import { Empty, ErrorBox, Skeleton } from "../parts/Empty";
import { select } from "../state/actions";
import { typeOrder, useStudio } from "../state/store";
import { grouped, texts } from "../texts";
import { choose } from "./actions";
import { allRows, type Change, type Compared, compared, MOST } from "./compare";
import { valueText } from "./rows";
import { markedOf, setRun, useRun } from "./state";

const t = texts.run.compare;
/** Changes that are listed. */
const SHOWN = 1000;

export function Compare({ before }: { before: string }) {
  const job = useRun((state) => state.shown);
  const total = useRun((state) => state.result?.total ?? 0);
  const [found, setFound] = useState<Compared | null>(null);
  const [error, setError] = useState<{ text: string; hint: string | null } | null>(null);
  const many = total > MOST;
  useEffect(() => {
    if (!job || many) return;
    const control = new AbortController();
    const rows = (id: string) => allRows((offset, limit) => api.rows(id, { offset, limit }, control.signal));
    Promise.all([rows(before), rows(job)])
      .then(([old, now]) => setFound(compared(old, now)))
      .catch((problem: unknown) => {
        if (control.signal.aborted || problem instanceof ConnectionLost) return;
        const gone = problem instanceof ApiError && problem.status === 404;
        const text = problem instanceof Error ? problem.message : String(problem);
        setError(gone ? { text: t.gone, hint: null } : { text, hint: null });
      });
    return () => control.abort();
  }, [before, job, many]);
  return (
    <section className="compare-runs" aria-label={t.title}>
      <div className="view-bar">
        <h2 className="view-title">{t.title}</h2>
        <span className="spring" />
        <IconButton name={t.close} onPress={() => setRun({ comparing: false })}>
          <X size={14} />
        </IconButton>
      </div>
      {many ? (
        <Empty title={t.many} text={t.manyText(MOST)} />
      ) : error ? (
        <ErrorBox text={error.text} hint={error.hint} />
      ) : found && job ? (
        <Found found={found} before={before} />
      ) : (
        <Skeleton rows={6} />
      )}
    </section>
  );
}

function Found({ found, before }: { found: Compared; before: string }) {
  const outline = useStudio((state) => state.check.outline);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the order follows the outline
  const order = useMemo(() => typeOrder(useStudio.getState()), [outline]);
  const { types, changes } = found;
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
          {types.map(({ type, gained, lost, same }) => (
            <tr key={type}>
              <th scope="row">
                <Swatch colour={typeColour(type, order)} /> {type}
              </th>
              <td className={gained ? "is-number is-good" : "is-number dim"}>{grouped(gained)}</td>
              <td className={lost ? "is-number is-error" : "is-number dim"}>{grouped(lost)}</td>
              <td className="is-number">{grouped(same)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {changes.length === 0 ? (
        <p className="dim why-none">{t.equal}</p>
      ) : (
        <ul className="changes">
          {changes.slice(0, SHOWN).map((change) => (
            <Line key={`${change.gained}${change.row.label}`} change={change} before={before} order={order} />
          ))}
        </ul>
      )}
      {changes.length > SHOWN ? (
        <p className="dim why-none">{texts.problems.more(changes.length - SHOWN)}</p>
      ) : null}
    </section>
  );
}

function Line({ change, before, order }: { change: Change; before: string; order: readonly string[] }) {
  const clock = useRun((state) => state.clock);
  const { row, gained } = change;
  const show = () => {
    if (gained) choose(markedOf(row));
    else if (row.label) select({ job: before, label: row.label, type: row.type });
  };
  return (
    <li>
      <button type="button" onClick={show} title={gained ? t.gained : t.lost}>
        <b className={gained ? "is-good" : "is-error"}>{gained ? "+" : "\u2212"}</b>
        <span className="hidden">{gained ? t.gained : t.lost}</span>
        <Swatch colour={typeColour(row.type, order)} />
        <span>{row.type}</span>
        <span className="mono dim">{clock?.text(row.ticks)}</span>
        {Object.entries(row.values).map(([name, value]) => (
          <span key={name}>
            <span className="dim">{name}</span> <span className="mono">{valueText(value, name)}</span>
          </span>
        ))}
      </button>
    </li>
  );
}

/** What jobs found of the net: the table of a verification, the report of a state space, the counts of random streams. */
import { CircleCheck, CircleX } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { NetCounted, Result } from "../api/schema";
import type { Job, NetJob } from "../api/types";
import { Button } from "../parts/Button";
import { Linked } from "../parts/Linked";
import { useStudio } from "../state/store";
import { grouped, sentences, texts } from "../texts";
import { useNet } from "./state";
import { cancel, isEnded, type Study, start } from "./studies";

const t = texts.net;

export function VerifyStudy() {
  const source = useNet((state) => state.source);
  return (
    <Panel
      kind="verify"
      text={t.verifyText}
      act={t.verifyDo}
      why={source ? t.noEplText : undefined}
      more={{}}
    >
      {(result) => <Verified result={result} />}
    </Panel>
  );
}

export function SpaceStudy() {
  const [most, setMost] = useState("10000");
  const number = Number(most);
  const right = Number.isInteger(number) && number >= 1 && number <= 1_000_000;
  const id = useNet((state) => state.id);
  return (
    <Panel
      kind="space"
      text={t.spaceText}
      act={t.spaceDo}
      why={id ? (right ? undefined : t.mostStates) : t.noNet}
      more={{ max_states: number }}
      fields={
        <label className="net-option">
          {t.mostStates}
          <input
            className="net-field net-number"
            inputMode="numeric"
            aria-invalid={!right || undefined}
            value={most}
            onChange={(event) => setMost(event.target.value)}
          />
        </label>
      }
    >
      {({ report }) => <pre className="mono net-report">{report}</pre>}
    </Panel>
  );
}

export function RandomStudy() {
  const files = useStudio((state) => state.files);
  const streams = files
    .map((file) => file.path)
    .filter((path) => /\.(toml|json)$/.test(path) && !/(\.net|\.pattern|(^|\/)studio)\.json$/.test(path));
  const [chosen, setChosen] = useState("");
  const [runs, setRuns] = useState("100");
  const [seed, setSeed] = useState("0");
  const stream = streams.includes(chosen) ? chosen : (streams[0] ?? "");
  const whole = (text: string, least: number, most: number) =>
    text.trim() !== "" && Number.isInteger(Number(text)) && Number(text) >= least && Number(text) <= most;
  const right = whole(runs, 1, 100_000) && whole(seed, 0, Number.MAX_SAFE_INTEGER);
  return (
    <Panel
      kind="random"
      text={streams.length ? t.randomText2 : t.noStreams}
      act={t.randomDo}
      why={streams.length ? (right ? undefined : t.runs) : t.noStreams}
      more={{ stream, runs: Number(runs), seed: Number(seed) }}
      fields={
        <>
          <label className="net-option">
            {t.stream}
            <select
              className="net-field"
              value={stream}
              disabled={!streams.length}
              onChange={(event) => setChosen(event.target.value)}
            >
              {streams.map((path) => (
                <option key={path}>{path}</option>
              ))}
            </select>
          </label>
          <label className="net-option">
            {t.runs}
            <input
              className="net-field net-number"
              inputMode="numeric"
              aria-invalid={!whole(runs, 1, 100_000) || undefined}
              value={runs}
              onChange={(event) => setRuns(event.target.value)}
            />
          </label>
          <label className="net-option">
            {t.seed}
            <input
              className="net-field net-number"
              inputMode="numeric"
              aria-invalid={!whole(seed, 0, Number.MAX_SAFE_INTEGER) || undefined}
              value={seed}
              onChange={(event) => setSeed(event.target.value)}
            />
          </label>
        </>
      }
    >
      {(result) => <Counted result={result} />}
    </Panel>
  );
}

function Panel(props: {
  kind: Study;
  text: string;
  act: string;
  why: string | undefined;
  more: NetJob;
  fields?: ReactNode;
  children: (result: Result) => ReactNode;
}) {
  const { kind, text, act, why, more, fields, children } = props;
  const job = useStudio((state) => state.netJobs[kind]);
  const ended = isEnded(job);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section className="net-study" tabIndex={0} aria-label={t[kind]} data-state={job?.state ?? "idle"}>
      <div className="net-study-bar">
        {fields}
        {ended ? (
          <Button kind="main" why={why} onPress={() => void start(kind, more)}>
            {act}
          </Button>
        ) : (
          <Button onPress={() => void cancel(kind)}>{t.cancel}</Button>
        )}
        <span className="dim">{job ? <State job={job} /> : text}</span>
      </div>
      {job?.state === "failed" ? <Failed job={job} /> : null}
      {job?.state === "done" ? children(job.result as Result) : null}
    </section>
  );
}

function State({ job }: { job: Job }) {
  const { state, progress, result } = job;
  if (state === "queued") return t.queued;
  if (state === "cancelled") return t.cancelled;
  if (state === "done") return t.took((result as Result).milliseconds);
  if (state !== "running" || !progress) return null;
  return (
    <span role="status" className="number">
      {t.busy(progress.done, progress.total)}
    </span>
  );
}

function Failed({ job }: { job: Job }) {
  return (
    <div className="net-message" role="alert">
      <CircleX size={14} aria-hidden />
      <div>
        <b>{t.jobFailed}</b>
        {job.problems.map(({ message, hint }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: problems have no other name
          <p key={i}>
            <Linked text={sentences(message, hint)} />
          </p>
        ))}
      </div>
    </div>
  );
}

/** Columns are sides, rows are types; what differs is told below. */
function Verified({ result }: { result: Result }) {
  const { equal, sides, table, differences, firings, without } = result;
  return (
    <>
      <p
        className={equal ? "net-verdict is-good" : "net-verdict is-error"}
        data-testid="net-verified"
        data-equal={equal}
      >
        {equal ? <CircleCheck size={14} aria-hidden /> : <CircleX size={14} aria-hidden />}
        {equal ? t.equal : t.unequal}
      </p>
      {without ? <p className="dim">{without}</p> : null}
      <table className="net-table" aria-label={t.verify}>
        <thead>
          <tr>
            <th scope="col">{t.type}</th>
            {sides.map((side) => (
              <th key={side} scope="col" className="number">
                {side}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.map(({ type, counts }) => (
            <tr key={type}>
              <th scope="row">{type}</th>
              {sides.map((side, i) => (
                <td key={side} className={counts[i] === counts[0] ? "number" : "number is-error"}>
                  {grouped(counts[i] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
          <tr>
            <th scope="row" className="dim">
              {t.log}
            </th>
            {sides.map((side) => (
              <td key={side} className="number dim">
                {firings[side] === undefined ? "" : grouped(firings[side])}
              </td>
            ))}
          </tr>
        </tbody>
      </table>
      {differences.length ? <h3 className="net-head">{t.differences}</h3> : null}
      {differences.map(({ type, side, time, text, why }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: differences have no other name
        <div key={i} className="net-difference">
          <b>{t.derivedAt(type, String(time))}</b> {side}
          <pre className="mono">{text}</pre>
          {why.map((line) => (
            <p key={line} className="dim">
              {line}
            </p>
          ))}
        </div>
      ))}
    </>
  );
}

const COLUMNS = [t.mean, null, t.least, t.most2, t.share] as const;

function Counted({ result }: { result: Result }) {
  const { counted, confidence, complete } = result;
  const digits = (value: number) => value.toFixed(value >= 100 ? 0 : 2);
  return (
    <>
      {complete ? null : <p className="is-warning">{t.incomplete}</p>}
      <table className="net-table" aria-label={t.random}>
        <thead>
          <tr>
            <th scope="col">{t.counted}</th>
            <th scope="col">{t.kind}</th>
            {COLUMNS.map((title) => (
              <th key={title ?? "interval"} scope="col" className="number">
                {title ?? t.interval(confidence)}
              </th>
            ))}
            <th scope="col">{t.histogram}</th>
          </tr>
        </thead>
        <tbody>
          {counted.map((one) => (
            <tr key={`${one.of} ${one.name}`}>
              <th scope="row">{one.name}</th>
              <td className="dim">{t.of[one.of]}</td>
              <td className="number">{digits(one.mean)}</td>
              <td className="number dim">{one.interval ? one.interval.map(digits).join(" – ") : ""}</td>
              <td className="number">{grouped(one.least)}</td>
              <td className="number">{grouped(one.most)}</td>
              <td className="number">{`${Math.round(one.share * 100)} %`}</td>
              <td>
                <Histogram of={one} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

const BAR = 7;
const HIGH = 24;

function Histogram({ of: { name, histogram } }: { of: NetCounted }) {
  const most = Math.max(1, ...histogram.map(({ runs }) => runs));
  return (
    <svg
      className="net-histogram"
      width={Math.max(1, histogram.length) * BAR}
      height={HIGH}
      role="img"
      aria-label={`${name}: ${histogram.map(({ low, high, runs }) => t.bar(low, high, runs)).join("; ")}`}
    >
      {histogram.map(({ low, high, runs }, i) => (
        <g key={low}>
          <title>{t.bar(low, high, runs)}</title>
          <rect className="net-bar-room" x={i * BAR} width={BAR - 1} height={HIGH} />
          <rect x={i * BAR} y={HIGH - (runs / most) * HIGH} width={BAR - 1} height={(runs / most) * HIGH} />
        </g>
      ))}
    </svg>
  );
}

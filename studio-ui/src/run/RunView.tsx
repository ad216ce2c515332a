/** Running the rules on events: the choice of events, progress, and what was found. */
import {
  CircleAlert,
  CircleCheck,
  CircleSlash,
  GitCompare,
  History,
  Info,
  PanelLeftClose,
  PanelLeftOpen,
  Play,
  Square,
} from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Job, Problem } from "../api/types";
import { ExampleMenu } from "../frame/ExampleMenu";
import { Button, IconButton } from "../parts/Button";
import { DropArea } from "../parts/DropArea";
import { Empty } from "../parts/Empty";
import { useHeight } from "../parts/height";
import { Linked } from "../parts/Linked";
import { Splitter } from "../parts/Splitter";
import { changeProject } from "../state/project";
import { set, useStudio } from "../state/store";
import { texts } from "../texts";
import { cancelRun, showProblems, snapshot, startRun } from "./actions";
import { Compare } from "./Compare";
import { CopyDialog, offer } from "./CopyFiles";
import { differs } from "./changed";
import { DetectionsTable } from "./DetectionsTable";
import { Events } from "./Events";
import { entriesOf, withOption } from "./events";
import { Options } from "./Options";
import { Bad, Peek } from "./Peek";
import { setRun, useRun } from "./state";
import { Timeline } from "./Timeline";
import { elapsedText, zoned, zoneOf } from "./time";
import "./run.css";

const t = texts.run;
const SIDE = 240;

/** Below it, events and options make room for what was found. */
const ROOMY = 720;

export default function RunView() {
  const box = useRef<HTMLDivElement>(null);
  const [roomy, setRoomy] = useState(true);
  const wanted = useRun((state) => state.side);
  const width = useRun((state) => state.sideWidth);
  const found = useRun((state) => state.result !== null);
  const side = wanted ?? (roomy || !found);
  // a field that is wrong has to be there
  const asked = useRun((state) => state.wanted !== null);
  useEffect(() => {
    if (asked && !side) setRun({ side: true });
  }, [asked, side]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setRoomy(element.clientWidth >= ROOMY));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <div className="run" ref={box}>
      <Toolbar side={side} />
      <CopyDialog />
      <DropArea hint={texts.run.copy.drop} onFiles={offer}>
        {side ? (
          <>
            <section className="run-side" style={{ width }} aria-label={t.side}>
              <Events />
              <Options />
            </section>
            <Splitter
              name={t.side}
              direction="x"
              size={width}
              initial={SIDE}
              min={160}
              max={420}
              onSize={(sideWidth) => setRun({ sideWidth })}
            />
          </>
        ) : null}
        <Main />
      </DropArea>
    </div>
  );
}

type Shown = "idle" | "running" | "done" | "failed" | "cancelled";

function shownState(job: Job | null, starting: boolean, dismissed: string | null, gone: boolean): Shown {
  if (starting) return "running";
  if (job?.kind !== "run" || job.id === dismissed || (gone && job.state === "done")) return "idle";
  return job.state === "queued" ? "running" : job.state;
}

function Toolbar({ side }: { side: boolean }) {
  const job = useStudio((state) => (state.job?.kind === "run" ? state.job : null));
  const starting = useRun((state) => state.starting);
  const result = useRun((state) => state.result);
  const before = useRun((state) => state.before);
  const comparing = useRun((state) => state.comparing);
  const dismissed = useRun((one) => one.dismissed);
  const gone = useRun((one) => one.gone);
  const lost = useStudio((one) => one.connection === "lost" || one.connection === "token");
  const state = shownState(job, starting, dismissed, gone);
  const running = state === "running";
  const why = running ? t.runsAlready : lost ? texts.connection.lost : null;
  const found = state === "done" ? (result?.total ?? 0) : (job?.progress?.found ?? 0);
  return (
    <div className="view-bar run-bar">
      <IconButton name={t.side} pressed={side} onPress={() => setRun({ side: !side })}>
        {side ? <PanelLeftClose size={14} /> : <PanelLeftOpen size={14} />}
      </IconButton>
      <Button kind="main" {...(why !== null && { why })} onPress={() => void startRun()}>
        <Play size={13} aria-hidden />
        {t.run}
      </Button>
      {running ? (
        <Button kind="plain" isDisabled={starting} onPress={() => void cancelRun()}>
          <Square size={11} aria-hidden />
          {t.cancel}
        </Button>
      ) : null}
      {running ? <Progress job={starting ? null : job} /> : null}
      <div
        className="run-state"
        data-testid="run-state"
        data-job={starting ? undefined : job?.id}
        data-state={state}
        data-found={found}
      >
        <StateText state={state} job={starting ? null : job} />
      </div>
      <span className="spring" />
      <Changed />
      {before && state === "done" ? (
        <Button
          kind="quiet"
          aria-pressed={comparing}
          onPress={() => setRun({ comparing: !comparing, peek: null })}
        >
          <GitCompare size={14} aria-hidden />
          {t.compare.button}
        </Button>
      ) : null}
    </div>
  );
}

/** How much is done, in whole percent; null before anything is, as nobody knows how long it takes. */
function shareOf(progress: Job["progress"]): number | null {
  if (!progress?.total || !progress.done) return null;
  return Math.round(Math.min(100, (100 * progress.done) / progress.total));
}

function Progress({ job }: { job: Job | null }) {
  const share = shareOf(job?.progress ?? null);
  return (
    <div
      className={share === null ? "progress is-open" : "progress"}
      role="progressbar"
      aria-label={t.title}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={share ?? undefined}
    >
      <i style={{ width: `${share ?? 30}%` }} />
    </div>
  );
}

/** The time since a run began, which goes on while it runs. */
function useElapsed(running: boolean): string {
  const began = useRun((state) => state.began);
  const ended = useRun((state) => state.ended);
  const own = useRun((state) => (running ? null : (state.result?.milliseconds ?? null)));
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), 100);
    return () => clearInterval(timer);
  }, [running]);
  if (own !== null) return elapsedText(own);
  if (began === null) return "";
  return elapsedText(Math.max(0, (running ? Math.max(now, began) : (ended ?? began)) - began));
}

function StateText({ state, job }: { state: Shown; job: Job | null }) {
  const result = useRun((one) => one.result);
  const elapsed = useElapsed(state === "running");
  const zone = useStudio((one) => zoneOf(one.project));
  const progress = job?.progress;
  const told = useRun((one) => one.gone || (one.refused !== null && !one.refused.quiet));
  if (state === "idle") return told ? null : <span className="dim">{t.idle}</span>;
  if (state === "running") {
    if (!job) return <span className="dim">{t.starting}</span>;
    if (job.state === "queued") return <span className="dim">{t.queued}</span>;
    return (
      <>
        {progress?.reading ? <span>{t.reading(progress.reading, shareOf(progress))}</span> : null}
        {progress?.done ? null : progress?.reading ? null : <span>{t.starting}</span>}
        <span className="dim">{elapsed}</span>
        {progress?.done && !progress.reading ? (
          <>
            <span>{t.rows(progress.done, progress.total)}</span>
            {progress.found ? <b>{t.found(progress.found)}</b> : null}
            {progress.at ? <span className="dim run-at">{t.at(zoned(progress.at, zone))}</span> : null}
          </>
        ) : null}
      </>
    );
  }
  if (state === "failed")
    return (
      <span className="is-error">
        <CircleAlert size={14} aria-hidden /> {t.failed}
      </span>
    );
  if (state === "cancelled")
    return (
      <span className="dim">
        <CircleSlash size={14} aria-hidden /> {t.cancelled}
      </span>
    );
  return (
    <>
      <CircleCheck size={14} className="is-good" aria-hidden />
      <b>{t.found(result?.total ?? 0)}</b>
      {result ? <Read counts={result.counts} /> : null}
      {elapsed ? <span className="dim">{t.in(elapsed)}</span> : null}
    </>
  );
}

/** How many rows were read, and how many of them did not count, each reason by its name. */
function Read({ counts }: { counts: Record<string, number> }) {
  const { rows: read, ...left } = counts;
  const reasons = Object.entries(left).filter(([, n]) => n > 0);
  if (read === undefined) return null;
  const skipped = counts.bad ?? 0;
  return (
    <>
      <span className="dim" title={reasons.map(([name, n]) => t.counted(name, n)).join(", ") || undefined}>
        {t.read(read)}
      </span>
      {skipped ? <span className="is-warning">{t.skipped(skipped)}</span> : null}
    </>
  );
}

/** Says so if the rules are no longer those that were run. */
function Changed() {
  const then = useRun((state) => state.snapshot);
  const result = useRun((state) => state.result);
  const files = useStudio((state) => state.files);
  const buffers = useStudio((state) => state.buffers);
  const project = useStudio((state) => state.project);
  const changed = useMemo(() => {
    void [files, buffers, project];
    return then !== null && result !== null && differs(then, snapshot());
  }, [then, result, files, buffers, project]);
  const gone = useRun((state) => state.gone);
  if (!changed || gone) return null;
  return (
    <span className="run-changed" role="note" title={t.changed}>
      <History size={14} aria-hidden />
      <span>{t.changed}</span>
    </span>
  );
}

function Main() {
  const job = useStudio((state) => (state.job?.kind === "run" ? state.job : null));
  const first = useStudio((state) => entriesOf(state)[0]?.path);
  const starting = useRun((state) => state.starting);
  const refused = useRun((state) => state.refused);
  const result = useRun((state) => state.result);
  const peek = useRun((state) => state.peek);
  const before = useRun((state) => state.before);
  const comparing = useRun((state) => state.comparing);
  const dismissed = useRun((one) => one.dismissed);
  const gone = useRun((one) => one.gone);
  const state = shownState(job, starting, dismissed, gone);
  const bad =
    state === "failed" ? job?.problems.find((one) => one.file && one.row !== null)?.file : undefined;
  const trouble = refused ? (
    <Trouble
      title={refused.title}
      text={refused.text}
      hint={refused.hint}
      problems={refused.problems ?? false}
      quiet={refused.quiet ?? false}
      rules={refused.rules ?? false}
      older={result !== null}
    />
  ) : state === "failed" && job ? (
    <Failed problems={job.problems} />
  ) : null;
  return (
    <div className="run-main">
      {trouble}
      {peek ? (
        <Peek path={peek} closable />
      ) : bad ? (
        <Peek path={bad} closable={false} told />
      ) : gone && state === "idle" ? (
        <Empty title={t.gone} text={t.goneText}>
          <Button kind="main" onPress={() => void startRun()}>
            {t.run}
          </Button>
        </Empty>
      ) : comparing && before && state === "done" ? (
        <Compare before={before} />
      ) : result && (state === "done" || refused) ? (
        <Found />
      ) : state === "cancelled" ? (
        <Empty title={t.cancelled} text={t.cancelledText}>
          <Button kind="main" onPress={() => void startRun()}>
            {texts.errors.again}
          </Button>
        </Empty>
      ) : state === "idle" && (first || !trouble) ? (
        first ? (
          <Peek path={first} closable={false} />
        ) : (
          <Empty title={t.chooseTitle} text={t.chooseText} />
        )
      ) : state === "running" ? (
        <Waiting job={job} />
      ) : null}
    </div>
  );
}

function Waiting({ job }: { job: Job | null }) {
  const result = useRun((state) => state.result);
  const found = job?.progress?.found ?? 0;
  if (result) return <Found waiting />;
  return <Empty title={found ? t.found(found) : t.running} text={t.idleText} />;
}

/** The timeline above the table, with a line between them that moves. */
function Found({ waiting = false }: { waiting?: boolean }) {
  const [box, room] = useHeight();
  const result = useRun((state) => state.result);
  const wanted = useRun((state) => state.timelineHeight);
  // as much as the lanes need, but no more than half
  const inputs = result?.inputs.length ?? 0;
  const theirs = inputs * (inputs > 4 ? 18 : 24);
  const need = theirs + (result?.found.length ?? 0) * 44 + 56;
  const most = Math.max(120, room - 140);
  const initial = Math.round(Math.min(Math.max(need, 140), Math.max(140, room * 0.5)));
  const height = Math.min(wanted || initial, most);
  const crowded = room > 0 && theirs > 0.6 * (height - 56);
  useEffect(() => setRun({ crowded }), [crowded]);
  return (
    <div className={waiting ? "found is-waiting" : "found"} ref={box} inert={waiting}>
      <div className="found-timeline" style={{ height }}>
        <Timeline />
      </div>
      <Splitter
        name={t.detections}
        direction="y"
        size={height}
        initial={initial}
        min={120}
        max={most}
        onSize={(timelineHeight) => setRun({ timelineHeight })}
      />
      <DetectionsTable />
    </div>
  );
}

function Trouble(props: {
  title: string;
  text: string;
  hint: string | null;
  problems: boolean;
  quiet: boolean;
  rules: boolean;
  older: boolean;
}) {
  const { title, text, hint, problems, quiet, rules, older } = props;
  const examples = useStudio((state) => state.about?.examples) ?? [];
  return (
    <div className={quiet ? "run-trouble is-quiet" : "run-trouble"} role="alert">
      {quiet ? <Info size={16} aria-hidden /> : <CircleAlert size={16} aria-hidden />}
      <div>
        <b>{title}</b>
        <p>
          <Linked text={text} /> {older ? t.older : null}
        </p>
        {hint ? <p className="dim">{hint}</p> : null}
      </div>
      {problems ? <Button onPress={showProblems}>{t.problems}</Button> : null}
      {rules ? (
        <>
          <Button onPress={() => set({ dialog: "new-file" })}>{texts.files.newFile}</Button>
          <ExampleMenu examples={examples} />
        </>
      ) : null}
    </div>
  );
}

function skipAndRun() {
  void changeProject((project) => withOption(project, "bad_rows", "skip"));
  void startRun();
}

/** Why a run ended without a result: the file, the row, and what to do. */
function Failed({ problems }: { problems: Problem[] }) {
  const errors = problems.filter((one) => one.severity === "error");
  const skip = errors.some((one) => one.row !== null);
  return (
    <div className="run-trouble" role="alert">
      <CircleAlert size={16} aria-hidden />
      <div>{errors.length ? <Bad problems={errors} /> : <p>{t.failedText}</p>}</div>
      {skip ? <Button onPress={skipAndRun}>{t.skip}</Button> : null}
    </div>
  );
}

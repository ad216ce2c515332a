/** The line below: what the check found, where the cursor is, whether the server answers. */
import {
  CircleAlert,
  CircleCheck,
  CircleDashed,
  LoaderCircle,
  type LucideIcon,
  TriangleAlert,
  Wifi,
  WifiOff,
} from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { merged } from "../state/problems";
import { togglePanel, useStudio } from "../state/store";
import { texts } from "../texts";

function lookOf(stale: boolean, busy: boolean, errors: number, warnings: number): [LucideIcon, string] {
  if (stale) return [CircleDashed, ""];
  if (busy) return [LoaderCircle, "spin"];
  if (errors) return [CircleAlert, "is-error"];
  return warnings ? [TriangleAlert, "is-warning"] : [CircleCheck, "is-good"];
}

function CheckStatus() {
  const check = useStudio((state) => state.check);
  const drawn = useStudio((state) => state.drawn);
  // those that Problems lists: of the program, and of drawings that are no text yet
  const problems = useMemo(() => merged(check.problems, drawn), [check.problems, drawn]);
  const errors = problems.filter((one) => one.severity === "error").length;
  const warnings = problems.filter((one) => one.severity === "warning").length;
  // the wheel turns only if checking takes long, so that the bar does not flicker at each key
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    if (check.state !== "checking") {
      setSlow(false);
      return;
    }
    const timer = setTimeout(() => setSlow(true), 800);
    return () => clearTimeout(timer);
  }, [check.state]);
  const lost = useStudio((state) => state.connection === "lost" || state.connection === "token");
  // without a server the counts are those of an older text
  const stale = (lost && check.state !== "done") || check.error !== null;
  const first = !check.checked && !stale;
  const [Icon, look] = lookOf(stale, slow || first, errors, warnings);
  return (
    <button
      type="button"
      className="status-item"
      data-testid="check-status"
      data-state={check.state === "done" ? "done" : "checking"}
      data-errors={errors}
      data-warnings={warnings}
      onClick={() => togglePanel("bottomOpen")}
    >
      <Icon size={13} aria-hidden className={look} />
      {stale
        ? texts.status.notChecked
        : first
          ? texts.status.checking
          : texts.status.counts(errors, warnings)}
    </button>
  );
}

function ConnectionStatus() {
  const connection = useStudio((state) => state.connection);
  const retry = useStudio((state) => state.retry);
  const [left, setLeft] = useState<number | null>(null);
  useEffect(() => {
    setLeft(retry);
    if (retry === null) return;
    const timer = setInterval(() => setLeft((now) => (now === null ? null : Math.max(0, now - 1))), 1000);
    return () => clearInterval(timer);
  }, [retry]);
  const lost = connection === "lost" || connection === "token";
  const t = texts.connection;
  return (
    <span
      role="status"
      aria-label={t.label}
      data-state={connection === "connected" ? "connected" : "lost"}
      className={`status-item ${lost ? "status-lost" : ""}`}
    >
      {lost ? <WifiOff size={13} aria-hidden /> : <Wifi size={13} aria-hidden />}
      <span>
        {connection === "token"
          ? t.token
          : lost
            ? t.lost
            : connection === "connected"
              ? t.connected
              : t.connecting}
        {lost && left !== null ? <span aria-hidden="true">{t.retry(left)}</span> : null}
      </span>
    </span>
  );
}

export function StatusBar() {
  const cursor = useStudio((state) => state.cursor);
  const selected = useStudio((state) => state.selected);
  const view = useStudio((state) => state.view);
  const files = useStudio((state) => state.files);
  const active = useStudio((state) => state.active);
  const counted = useStudio((state) => state.eventCounts);
  const entry = files.find((file) => file.path === active);
  const buffer = useStudio((state) => (active ? state.buffers[active] : undefined));
  return (
    <footer className="status">
      <CheckStatus />
      {entry?.language ? (
        <span className="status-item">{texts.languages[entry.language] ?? entry.language}</span>
      ) : null}
      {view === "Text" && cursor ? (
        <span className="status-item number">
          {texts.text.line(cursor.line, cursor.column)}
          {selected ? ` (${texts.text.selected(selected)})` : ""}
        </span>
      ) : null}
      {buffer && !buffer.writable ? <span className="status-item">{texts.files.readOnly}</span> : null}
      <span className="spring" />
      {counted ? (
        <span className="status-item number" title={texts.status.eventsHint}>
          {texts.status.events(counted.rows, counted.types)}
        </span>
      ) : null}
      <ConnectionStatus />
    </footer>
  );
}

/** Which events are run: a checkbox per file, what is in them, and how they are read. */
import { ScanSearch } from "lucide-react";
import { useState } from "react";
import { Empty } from "../parts/Empty";
import { Panel } from "../parts/Panel";
import { changeProject } from "../state/project";
import { useStudio } from "../state/store";
import { texts } from "../texts";
import { chooseEvents } from "./actions";
import { entriesOf, eventPaths, typeByName, withOption } from "./events";
import { setRun, useRun } from "./state";

const t = texts.run;

export function Events() {
  const files = useStudio((state) => state.files);
  const project = useStudio((state) => state.project);
  const check = useStudio((state) => state.check);
  const peek = useRun((state) => state.peek);
  const [open, setOpen] = useState(true);
  const paths = eventPaths({ project, files, check });
  const entries = entriesOf({ project, files, check });
  return (
    <Panel title={t.events} open={open} onToggle={() => setOpen(!open)} count={entries.length || undefined}>
      {paths.length === 0 ? (
        <Empty title={t.noEvents} text={t.noEventsText} />
      ) : (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset has a look of its own
        <div role="group" aria-label={t.events} className="events">
          {paths.map((path) => {
            const entry = entries.find((one) => one.path === path);
            const there = files.some((file) => file.path === path || file.path.startsWith(`${path}/`));
            const type = entry?.type ?? typeByName(path, check.outline);
            return (
              <div key={path} className="event-file">
                <label className="check" title={there ? path : `${path}: ${t.missing}`}>
                  <input
                    type="checkbox"
                    checked={entry !== undefined}
                    onChange={(event) => {
                      const { checked } = event.target;
                      void chooseEvents({ type, path }, checked);
                    }}
                  />
                  <span className={there ? "event-path" : "event-path is-missing"}>{path}</span>
                </label>
                {type && !path.split("/").at(-1)?.startsWith(`${type}.`) ? (
                  <span className="dim">{type}</span>
                ) : null}
                <button
                  type="button"
                  className="button button-icon"
                  aria-label={t.peekAt(path)}
                  title={t.peekAt(path)}
                  aria-pressed={peek === path}
                  onClick={() => setRun({ peek: peek === path ? null : path })}
                >
                  <ScanSearch size={14} aria-hidden />
                </button>
              </div>
            );
          })}
        </div>
      )}
    </Panel>
  );
}

export function Options() {
  const options = useStudio((state) => state.project.program?.options) ?? {};
  const [open, setOpen] = useState(true);
  const change = (name: string) => (value: string) =>
    void changeProject((now) => withOption(now, name, value));
  const value = (name: string) => String(options[name] ?? "");
  return (
    <Panel title={t.options} open={open} onToggle={() => setOpen(!open)}>
      <div className="options">
        <label>
          <span>{t.timeUnit}</span>
          <select
            className="run-field"
            value={value("time_unit")}
            onChange={(e) => change("time_unit")(e.target.value)}
          >
            <option value="">{t.timeUnitNone}</option>
            {["us", "ms", "s", "min", "h", "d"].map((unit) => (
              <option key={unit}>{unit}</option>
            ))}
          </select>
        </label>
        <Field name={t.start} hint={t.first} value={value("start")} onValue={change("start")} />
        <Field name={t.until} hint={t.last} value={value("until")} onValue={change("until")} />
        <Field name={t.zone} hint="UTC" value={value("zone")} onValue={change("zone")} />
        <label>
          <span>{t.badRows}</span>
          <select
            className="run-field"
            value={value("bad_rows") || "error"}
            onChange={(e) => change("bad_rows")(e.target.value === "error" ? "" : e.target.value)}
          >
            <option value="error">{t.badRowsError}</option>
            <option value="skip">{t.badRowsSkip}</option>
          </select>
        </label>
      </div>
    </Panel>
  );
}

/** A field whose change counts on Enter or when it is left. */
function Field(props: { name: string; hint: string; value: string; onValue: (value: string) => void }) {
  const { name, hint, value, onValue } = props;
  const [text, setText] = useState<string | null>(null);
  const done = () => {
    if (text !== null && text.trim() !== value) onValue(text.trim());
    setText(null);
  };
  return (
    <label>
      <span>{name}</span>
      <input
        className="run-field"
        placeholder={hint}
        value={text ?? value}
        onChange={(event) => setText(event.target.value)}
        onBlur={done}
        onKeyDown={(event) => {
          if (event.key === "Enter") done();
        }}
      />
    </label>
  );
}

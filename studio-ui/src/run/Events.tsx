/** Which events are run: a checkbox per file, what is in them, and how they are read. */
import { ScanSearch } from "lucide-react";
import { useState } from "react";
import { Empty } from "../parts/Empty";
import { Panel } from "../parts/Panel";
import { useStudio } from "../state/store";
import { texts } from "../texts";
import { chooseEvents } from "./actions";
import { AddFiles } from "./CopyFiles";
import { entriesOf, entryFor, eventPaths } from "./events";
import { setRun, useRun } from "./state";

const t = texts.run;

export function Events() {
  const files = useStudio((state) => state.files);
  const project = useStudio((state) => state.project);
  const check = useStudio((state) => state.check);
  const offered = useStudio((state) => state.events);
  const peek = useRun((state) => state.peek);
  const [open, setOpen] = useState(true);
  const given = { project, files, events: offered, check };
  const paths = eventPaths(given);
  const entries = entriesOf(given);
  return (
    <Panel
      title={t.events}
      open={open}
      onToggle={() => setOpen(!open)}
      count={entries.length || undefined}
      actions={<AddFiles />}
    >
      {paths.length === 0 ? (
        <Empty title={t.noEvents} text={t.noEventsText} />
      ) : (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset has a look of its own
        <div role="group" aria-label={t.events} className="events">
          {paths.map((path) => {
            const entry = entries.find((one) => one.path === path);
            const there = files.some((file) => file.path === path || file.path.startsWith(`${path}/`));
            const { type } = entry ?? entryFor(path, given);
            const directory = offered?.some((one) => one.path === path && one.directory) ?? false;
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
                  <span className={there ? "event-path" : "event-path is-missing"}>
                    {path}
                    {directory ? <span className="dim">/ {t.directory}</span> : null}
                  </span>
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

/** What is wrong, in all files; a click goes there. */
import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import type { Problem } from "../api/types";
import { ErrorBox } from "../parts/Empty";
import { Linked } from "../parts/Linked";
import { linksOf } from "../parts/links";
import { Panel } from "../parts/Panel";
import { goTo, goToDefinition, leaveFor } from "../state/actions";
import { sorted } from "../state/checking";
import { merged } from "../state/problems";
import { get, type Place, togglePanel, useStudio } from "../state/store";
import { texts } from "../texts";

const SHOWN = 500;

export const SEVERITY_ICON = { error: CircleAlert, warning: TriangleAlert, notice: Info };

export function goToProblem(problem: Problem) {
  const { view, drawn } = get();
  const isDrafted = drawn.includes(problem) && !problem.span;
  if (problem.file && problem.definition && (isDrafted || (problem.node && view === "Graph"))) {
    void leaveFor({
      active: problem.file,
      view: "Graph",
      statement: problem.definition,
      quiet: false,
      node: problem.node,
    });
    return;
  }
  if (!problem.file) {
    if (problem.definition) void goToDefinition(problem.definition);
    return;
  }
  void goTo({ path: problem.file, line: problem.span?.line ?? 1, column: problem.span?.column ?? 1 });
}

/** How long the list stays when its last problem is gone: it does not flicker while one types. */
const LINGER = 2000;

/** Whether the list is shown: it is open, and has or had something to show. Without problems it is a line. */
export function useProblemsOpen(): boolean {
  const open = useStudio((state) => state.panels.bottomOpen);
  const any = useStudio(
    (state) => state.check.problems.length > 0 || state.drawn.length > 0 || state.check.error !== null,
  );
  const [late, setLate] = useState(any);
  useEffect(() => {
    const timer = setTimeout(() => setLate(any), any ? 0 : LINGER);
    return () => clearTimeout(timer);
  }, [any]);
  return open && (any || late);
}

/** Is the cursor where this problem begins? */
export function isAt({ file, span }: Problem, cursor: Place | null): boolean {
  return cursor?.path === file && cursor.line === span?.line && cursor.column === span.column;
}

/** In the line of the title: that there are none, or that it is not known yet. */
function None() {
  const checked = useStudio((state) => state.check.checked);
  const t = texts.problems;
  if (!checked) return texts.status.checking;
  return (
    <>
      <CircleCheck size={13} aria-hidden className="is-good" /> {t.none}
    </>
  );
}

export function Problems() {
  const check = useStudio((state) => state.check);
  const open = useProblemsOpen();
  const cursor = useStudio((state) => state.cursor);
  const drawn = useStudio((state) => state.drawn);
  const problems = useMemo(() => sorted(merged(check.problems, drawn)), [check.problems, drawn]);
  return (
    <Panel
      title={texts.problems.title}
      role="region"
      open={open}
      count={problems.length || undefined}
      note={problems.length || check.error ? null : <None />}
      onToggle={problems.length || check.error ? () => togglePanel("bottomOpen") : undefined}
    >
      {check.error ? <ErrorBox text={check.error} /> : null}
      {problems.length === 0 ? null : (
        <ul className="problems">
          {problems.slice(0, SHOWN).map((problem, i) => {
            const Icon = SEVERITY_ICON[problem.severity];
            return (
              <li
                // biome-ignore lint/suspicious/noArrayIndexKey: a list that is replaced as a whole
                key={i}
                className={`problem problem-${problem.severity}`}
              >
                <button
                  type="button"
                  data-testid="problem"
                  data-severity={problem.severity}
                  data-kind={problem.kind}
                  data-file={problem.file ?? ""}
                  data-line={problem.span?.line ?? ""}
                  data-node={problem.node ?? ""}
                  aria-current={isAt(problem, cursor) || undefined}
                  onClick={() => goToProblem(problem)}
                >
                  <Icon size={14} aria-label={problem.severity} className="problem-icon" />
                  <span className="problem-text">
                    <Linked text={problem.message} plain />
                  </span>
                  <span className="problem-kind">{problem.kind}</span>
                  <span className="problem-place">
                    {problem.file ?? problem.definition}
                    {problem.span ? `:${problem.span.line}:${problem.span.column}` : ""}
                  </span>
                </button>
                {[problem.hint, ...linksOf(problem.message)].filter(Boolean).map((text) => (
                  <p key={text} className="problem-hint">
                    <Linked text={text ?? ""} />
                  </p>
                ))}
              </li>
            );
          })}
          {problems.length > SHOWN ? (
            <li className="problem-more">{texts.problems.more(problems.length - SHOWN)}</li>
          ) : null}
        </ul>
      )}
    </Panel>
  );
}

/** What is wrong, in all files; a click goes there. */
import { CircleAlert, Info, TriangleAlert } from "lucide-react";
import { useMemo } from "react";
import type { Problem } from "../api/types";
import { Empty, ErrorBox } from "../parts/Empty";
import { Linked } from "../parts/Linked";
import { Panel } from "../parts/Panel";
import { goTo } from "../state/actions";
import { sorted } from "../state/checking";
import { get, set, useStudio } from "../state/store";
import { texts } from "../texts";

const SHOWN = 500;

export const SEVERITY_ICON = { error: CircleAlert, warning: TriangleAlert, notice: Info };

export function goToProblem(problem: Problem) {
  if (!problem.file) return;
  const { view } = get();
  if (problem.definition && problem.node && (view === "Graph" || !problem.span)) {
    set({
      active: problem.file,
      view: "Graph",
      statement: problem.definition,
      quiet: false,
      node: problem.node,
    });
    return;
  }
  void goTo({ path: problem.file, line: problem.span?.line ?? 1, column: problem.span?.column ?? 1 });
}

/** Problems of the program and of drawings; what both have is listed once, with its node. */
function merged(program: readonly Problem[], drawn: readonly Problem[]): Problem[] {
  const keyOf = ({ kind, file, span }: Problem) =>
    span ? `${kind}\n${file}\n${span.line}:${span.column}` : "";
  const nodes = new Map(drawn.filter((one) => one.span && one.node).map((one) => [keyOf(one), one]));
  const known = new Set(program.map(keyOf));
  return [
    ...program.map((one) => {
      const at = one.span ? nodes.get(keyOf(one)) : undefined;
      return at ? { ...one, node: at.node, definition: at.definition } : one;
    }),
    ...drawn.filter((one) => !one.span || !known.has(keyOf(one))),
  ];
}

export function Problems() {
  const check = useStudio((state) => state.check);
  const drawn = useStudio((state) => state.drawn);
  const open = useStudio((state) => state.panels.bottomOpen);
  const problems = useMemo(() => sorted(merged(check.problems, drawn)), [check.problems, drawn]);
  return (
    <Panel
      title={texts.problems.title}
      role="region"
      open={open}
      count={problems.length || undefined}
      onToggle={() => set((state) => ({ panels: { ...state.panels, bottomOpen: !state.panels.bottomOpen } }))}
    >
      {check.error ? <ErrorBox text={check.error} /> : null}
      {problems.length === 0 && !check.error ? (
        <Empty title={texts.problems.none} text={texts.problems.noneText} />
      ) : (
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
                  onClick={() => goToProblem(problem)}
                >
                  <Icon size={14} aria-label={problem.severity} className="problem-icon" />
                  <span className="problem-text">
                    <Linked text={problem.message} />
                  </span>
                  <span className="problem-kind">{problem.kind}</span>
                  <span className="problem-place">
                    {problem.file}
                    {problem.span ? `:${problem.span.line}:${problem.span.column}` : ""}
                  </span>
                </button>
                {problem.hint ? (
                  <p className="problem-hint">
                    <Linked text={problem.hint} />
                  </p>
                ) : null}
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

/** The definitions of the program as a tree, by file if there are several. */
import { FileCode2 } from "lucide-react";
import { useMemo } from "react";
import type { OutlineEntry, Problem } from "../api/types";
import { strokeColour, typeLook } from "../parts/colours";
import { Empty, Skeleton } from "../parts/Empty";
import { Panel } from "../parts/Panel";
import { Tree, type TreeNode } from "../parts/Tree";
import { goTo } from "../state/actions";
import { get, set, typeOrder, usePanel, useStudio } from "../state/store";
import { texts } from "../texts";

/** The colour of a type; with a hole if another type has the same colour. */
export function Swatch({ colour, second = false }: { colour: string; second?: boolean }) {
  const dark = useStudio((state) => state.dark);
  return (
    <svg className="swatch" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
      <path
        d={`M2.5 .5h5a2 2 0 0 1 2 2v5a2 2 0 0 1 -2 2h-5a2 2 0 0 1 -2 -2v-5a2 2 0 0 1 2 -2z${second ? "M3 3v4h4v-4z" : ""}`}
        fill={colour}
        fillRule="evenodd"
        stroke={strokeColour(colour, dark)}
      />
    </svg>
  );
}

/** The definitions of each file by their lines, with those of a file that cannot be read just now. */
function merged(current: OutlineEntry[], stale: OutlineEntry[]): OutlineEntry[] {
  if (!stale.length) return current;
  const all = [...current, ...stale];
  const files = [...new Set(all.map((entry) => entry.file))].sort();
  const line = (entry: OutlineEntry) => entry.span?.line ?? 0;
  return files.flatMap((file) =>
    all.filter((entry) => entry.file === file).sort((a, b) => line(a) - line(b)),
  );
}

/** By file and definition, the severity of its first problem. */
function worstOf(problems: readonly Problem[]): Map<string, Problem["severity"]> {
  const out = new Map<string, Problem["severity"]>();
  for (const { file, definition, severity } of problems) {
    const key = `${file}\n${definition}`;
    if (!out.has(key)) out.set(key, severity);
  }
  return out;
}

export function Outline() {
  const current = useStudio((state) => state.check.outline);
  const stale = useStudio((state) => state.check.stale);
  const checked = useStudio((state) => state.check.checked);
  const [open, toggle] = usePanel("outlineOpen");
  const outline = useMemo(() => merged(current, stale), [current, stale]);
  const problems = useStudio((state) => state.check.problems);
  const statement = useStudio((state) => state.statement);
  const active = useStudio((state) => state.active);
  const order = typeOrder(useStudio.getState());
  const files = [...new Set(outline.map((entry) => entry.file))];
  const worst = useMemo(() => worstOf(problems), [problems]);
  const old = new Set(stale);
  const ids = outline.map((entry, i) => `${i}:${entry.file}:${entry.name}`);
  const nodes = outline.map((entry, i): TreeNode => {
    const severity = worst.get(`${entry.file}\n${entry.name}`);
    return {
      id: ids[i] ?? "",
      name: entry.name,
      label: entry.name,
      icon: entry.output ? <Swatch {...typeLook(entry.output, order)} /> : <span className="swatch" />,
      description: entry.kind,
      className: old.has(entry) ? "tree-dim" : severity ? `tree-${severity}` : "",
      end: <span className="tree-end" data-text={entry.kind} />,
    };
  });
  const at = outline.findIndex((entry) => entry.name === statement && entry.file === active);
  const tree =
    files.length < 2
      ? nodes
      : files.map(
          (file): TreeNode => ({
            id: `${file}/`,
            name: file,
            label: file,
            icon: <FileCode2 size={14} aria-hidden />,
            children: nodes.filter((_, i) => outline[i]?.file === file),
          }),
        );
  return (
    <Panel title={texts.outline.title} className="panel-outline" open={open} onToggle={toggle}>
      <Tree
        name={texts.outline.title}
        nodes={tree}
        current={at < 0 ? null : (ids[at] ?? null)}
        onAct={(id) => {
          const entry = outline[ids.indexOf(id)];
          if (!entry?.span) return;
          if (get().view === "Graph" && entry.file === get().active) {
            set({ statement: entry.name, quiet: false });
            return;
          }
          void goTo({ path: entry.file, line: entry.span.line, column: entry.span.column }).then(() =>
            set({ statement: entry.name }),
          );
        }}
      />
      {outline.length ? null : checked ? (
        <Empty title={texts.outline.none} text={texts.outline.noneText} />
      ) : (
        <Skeleton rows={4} />
      )}
    </Panel>
  );
}

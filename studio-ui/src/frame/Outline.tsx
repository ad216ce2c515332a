/** The definitions of the program as a tree, by file if there are several. */
import { FileCode2 } from "lucide-react";
import { typeColour } from "../parts/colours";
import { Empty } from "../parts/Empty";
import { Panel } from "../parts/Panel";
import { Tree, type TreeNode } from "../parts/Tree";
import { goTo } from "../state/actions";
import { set, typeOrder, useStudio } from "../state/store";
import { texts } from "../texts";

export function Swatch({ colour }: { colour: string }) {
  return (
    <svg className="swatch" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
      <rect x="0.5" y="0.5" width="9" height="9" rx="2" fill={colour} />
    </svg>
  );
}

export function Outline() {
  const outline = useStudio((state) => state.check.outline);
  const problems = useStudio((state) => state.check.problems);
  const statement = useStudio((state) => state.statement);
  const active = useStudio((state) => state.active);
  const order = typeOrder(useStudio.getState());
  const files = [...new Set(outline.map((entry) => entry.file))];
  const ids = outline.map((entry, i) => `${i}:${entry.file}:${entry.name}`);
  const nodes = outline.map((entry, i): TreeNode => {
    const worst = problems.find((one) => one.file === entry.file && one.definition === entry.name);
    return {
      id: ids[i] ?? "",
      name: entry.name,
      label: entry.name,
      icon: entry.output ? <Swatch colour={typeColour(entry.output, order)} /> : <span className="swatch" />,
      description: entry.kind,
      className: worst ? `tree-${worst.severity}` : "",
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
    <Panel title={texts.outline.title} className="panel-outline">
      {outline.length === 0 ? (
        <Empty title={texts.outline.none} text={texts.outline.noneText} />
      ) : (
        <Tree
          name={texts.outline.title}
          nodes={tree}
          current={at < 0 ? null : (ids[at] ?? null)}
          onAct={(id) => {
            const entry = outline[ids.indexOf(id)];
            if (!entry?.span) return;
            void goTo({ path: entry.file, line: entry.span.line, column: entry.span.column }).then(() =>
              set({ statement: entry.name }),
            );
          }}
        />
      )}
    </Panel>
  );
}

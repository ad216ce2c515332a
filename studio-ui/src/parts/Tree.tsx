/** A tree of roles `tree` and `treeitem`: one stop of Tab, arrows move, Enter acts, letters search. */
import { ChevronDown, ChevronRight } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";

export interface TreeNode {
  id: string;
  /** the accessible name */
  name: string;
  label: ReactNode;
  icon?: ReactNode;
  end?: ReactNode;
  description?: string;
  className?: string;
  children?: TreeNode[];
}

interface Row extends TreeNode {
  level: number;
  parent: string | null;
}

function rowsOf(
  nodes: TreeNode[],
  closed: ReadonlySet<string>,
  level = 1,
  parent: string | null = null,
): Row[] {
  return nodes.flatMap((node) => [
    { ...node, level, parent },
    ...(node.children && !closed.has(node.id) ? rowsOf(node.children, closed, level + 1, node.id) : []),
  ]);
}

export function Tree({
  name,
  nodes,
  current,
  onAct,
  onDelete,
}: {
  name: string;
  nodes: TreeNode[];
  current: string | null;
  onAct: (id: string) => void;
  onDelete?: (id: string) => void;
}) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [focus, setFocus] = useState<string | null>(null);
  const list = useRef<HTMLDivElement>(null);
  const rows = rowsOf(nodes, closed);
  const stop =
    rows.find((row) => row.id === focus)?.id ?? rows.find((row) => row.id === current)?.id ?? rows[0]?.id;

  useEffect(() => {
    if (current) list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [current]);

  function toggle(id: string, shut: boolean) {
    const next = new Set(closed);
    if (shut) next.add(id);
    else next.delete(id);
    setClosed(next);
  }

  function move(id: string | undefined) {
    if (id === undefined) return;
    setFocus(id);
    list.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)?.focus();
  }

  function keys(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = rows.findIndex((row) => row.id === stop);
    const row = rows[at];
    if (!row) return;
    const isClosed = closed.has(row.id);
    if (event.key === "ArrowDown") move(rows[at + 1]?.id);
    else if (event.key === "ArrowUp") move(rows[at - 1]?.id);
    else if (event.key === "Home") move(rows[0]?.id);
    else if (event.key === "End") move(rows.at(-1)?.id);
    else if (event.key === "ArrowRight") {
      if (row.children && isClosed) toggle(row.id, false);
      else if (row.children) move(rows[at + 1]?.id);
    } else if (event.key === "ArrowLeft") {
      if (row.children && !isClosed) toggle(row.id, true);
      else move(row.parent ?? undefined);
    } else if (event.key === "Enter" || event.key === " ") act(row);
    else if (event.key === "Delete" && onDelete) onDelete(row.id);
    else if (event.key.length === 1 && event.key !== "?") {
      const key = event.key.toLowerCase();
      const found = [...rows.slice(at + 1), ...rows.slice(0, at)].find((one) =>
        one.name.toLowerCase().startsWith(key),
      );
      move(found?.id);
    } else return;
    event.preventDefault();
  }

  function act(row: Row) {
    if (row.children) toggle(row.id, !closed.has(row.id));
    else onAct(row.id);
  }

  return (
    <div className="tree" role="tree" aria-label={name} ref={list} onKeyDown={keys}>
      {rows.map((row) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the tree takes the keys
        <div
          key={row.id}
          role="treeitem"
          aria-label={row.name}
          aria-description={row.description}
          aria-level={row.level}
          aria-expanded={row.children ? !closed.has(row.id) : undefined}
          aria-selected={row.id === current}
          tabIndex={row.id === stop ? 0 : -1}
          data-id={row.id}
          className={`tree-row ${row.className ?? ""}`}
          ref={(element) => element?.style.setProperty("--level", String(row.level - 1))}
          onFocus={() => setFocus(row.id)}
          onClick={() => {
            setFocus(row.id);
            act(row);
          }}
        >
          {row.children ? closed.has(row.id) ? <ChevronRight size={14} /> : <ChevronDown size={14} /> : null}
          {row.icon}
          <span className="tree-label" title={row.name}>
            {row.label}
          </span>
          {row.end}
        </div>
      ))}
    </div>
  );
}

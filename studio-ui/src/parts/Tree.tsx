/** A tree of roles `tree` and `treeitem`: one stop of Tab, arrows move, Enter acts, letters search. */
import { ChevronDown, ChevronRight } from "lucide-react";
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { scrollTo, windowOf } from "./window";

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

/** The height of a row, and how many are drawn whether they are in view or not. */
const HEIGHT = 28;
const MANY = 200;
/** A scroll of less draws nothing anew. */
const STEP = 4 * HEIGHT;

/** Where the box around a list is scrolled to; watched only for long lists. */
function useScroll(list: RefObject<HTMLElement | null>, long: boolean): { scroll: number; room: number } {
  const [seen, setSeen] = useState({ scroll: 0, room: 800 });
  useEffect(() => {
    const box = list.current?.parentElement;
    if (!long || !box) return;
    const measure = () => {
      const scroll = Math.floor(box.scrollTop / STEP) * STEP;
      const room = box.clientHeight;
      setSeen((before) => (before.scroll === scroll && before.room === room ? before : { scroll, room }));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    box.addEventListener("scroll", measure, { passive: true });
    measure();
    return () => {
      observer.disconnect();
      box.removeEventListener("scroll", measure);
    };
  }, [list, long]);
  return seen;
}

interface Row extends TreeNode {
  level: number;
  parent: string | null;
  /** its place among the rows beside it, from 1, and how many these are */
  place: number;
  among: number;
}

function rowsOf(
  nodes: TreeNode[],
  closed: ReadonlySet<string>,
  level = 1,
  parent: string | null = null,
): Row[] {
  return nodes.flatMap((node, i) => [
    { ...node, level, parent, place: i + 1, among: nodes.length },
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

  const long = rows.length > MANY;
  const { scroll, room } = useScroll(list, long);
  const seen = windowOf(rows.length, HEIGHT, scroll, room, 12);
  const wantsFocus = useRef(false);
  const at = rows.findIndex((row) => row.id === current);
  const shown = rows.flatMap((row, i) => {
    // the row that Tab comes to is always there
    const there = !long || (i >= seen.first && i < seen.first + seen.count) || row.id === stop;
    return there ? [{ row, i }] : [];
  });

  /** Brings a row into view, also one that is not drawn yet. */
  function reveal(i: number) {
    const box = list.current?.parentElement;
    if (!box || i < 0) return;
    if (long) box.scrollTop = scrollTo(i, rows.length, HEIGHT, box.scrollTop, box.clientHeight);
    else list.current?.querySelectorAll("[role=treeitem]")[i]?.scrollIntoView({ block: "nearest" });
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is chosen moves the list
  useEffect(() => reveal(at), [current]);

  useEffect(() => {
    if (!wantsFocus.current || focus === null) return;
    wantsFocus.current = false;
    list.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(focus)}"]`)?.focus();
  });

  function toggle(id: string, shut: boolean) {
    const next = new Set(closed);
    if (shut) next.add(id);
    else next.delete(id);
    setClosed(next);
  }

  function move(id: string | undefined) {
    if (id === undefined) return;
    setFocus(id);
    wantsFocus.current = true;
    reveal(rows.findIndex((row) => row.id === id));
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
    <div
      className={long ? "tree is-long" : "tree"}
      role="tree"
      aria-label={name}
      ref={list}
      onKeyDown={keys}
      style={long ? { height: rows.length * HEIGHT + 8 } : undefined}
    >
      {shown.map(({ row, i }) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the tree takes the keys
        <div
          key={row.id}
          role="treeitem"
          aria-label={row.name}
          aria-description={row.description}
          aria-level={row.level}
          aria-expanded={row.children ? !closed.has(row.id) : undefined}
          aria-selected={row.id === current}
          aria-setsize={long ? row.among : undefined}
          aria-posinset={long ? row.place : undefined}
          tabIndex={row.id === stop ? 0 : -1}
          data-id={row.id}
          className={`tree-row ${row.className ?? ""}`}
          ref={(element) => element?.style.setProperty("--level", String(row.level - 1))}
          style={long ? { top: i * HEIGHT } : undefined}
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

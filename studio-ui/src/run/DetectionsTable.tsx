// biome-ignore-all lint/a11y/useSemanticElements: rows of a real table cannot be virtual and keep their widths
// biome-ignore-all lint/a11y/useFocusableInteractive: rows take the focus, not their cells
/** The detections as a table: virtual rows, read by pages, sorted, filtered by type, text and the range in view. */
import { ArrowDown, ArrowUp, Download } from "lucide-react";
import {
  type KeyboardEvent,
  memo,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { api, ConnectionLost } from "../api/client";
import type { Row, RowsAnswer } from "../api/types";
import { Swatch } from "../frame/Outline";
import { Button } from "../parts/Button";
import { isSecond, typeColour } from "../parts/colours";
import { Empty, ErrorBox, Skeleton } from "../parts/Empty";
import { MenuButton } from "../parts/MenuButton";
import { PAGE, pagesOf, scrollTo, windowOf } from "../parts/window";
import { exportRows } from "../state/exports";
import { texts } from "../texts";
import { choose, showTime } from "./actions";
import { useRunOrder } from "./order";
import { attributesOf, inOrder, rowsOf, valueText } from "./rows";
import { markedOf, setRun, useRun } from "./state";
import type { Clock, Range } from "./time";
import { same } from "./view";

const t = texts.run;
const HEIGHT = 28;

interface Query {
  job: string;
  type: string;
  from?: string;
  to?: string;
  text: string;
  sort: string;
}

interface Data {
  query: Query;
  total: number;
  attributes: RowsAnswer["columns"];
  pages: Map<number, Row[]>;
}

/** The rows of a query; those of the query before stay until the first page of the new one is there. */
function useRows(query: Query | null) {
  const [data, setData] = useState<Data | null>(null);
  const [error, setError] = useState<string | null>(null);
  const now = useRef<Query | null>(null);
  const asked = useRef(new Set<number>());
  const key = query ? JSON.stringify(query) : "";

  const ask = useCallback(async (wanted: Query, page: number) => {
    if (asked.current.has(page)) return;
    asked.current.add(page);
    const { job, ...rest } = wanted;
    try {
      const answer = await api.rows(job, { ...rest, offset: page * PAGE, limit: PAGE });
      if (now.current !== wanted) return;
      setError(null);
      if (!wanted.type) setRun({ attributes: attributesOf(answer).map(({ name }) => name) });
      setData((old) => {
        const pages = old?.query === wanted ? new Map(old.pages) : new Map<number, Row[]>();
        const { total } = answer;
        return {
          query: wanted,
          total,
          attributes: attributesOf(answer),
          pages: pages.set(page, rowsOf(answer)),
        };
      });
    } catch (problem) {
      if (now.current !== wanted) return;
      asked.current.delete(page);
      if (!(problem instanceof ConnectionLost))
        setError(problem instanceof Error ? problem.message : String(problem));
    }
  }, []);

  useEffect(() => {
    const wanted = key ? (JSON.parse(key) as Query) : null;
    now.current = wanted;
    asked.current = new Set();
    if (!wanted) setData(null);
    else void ask(wanted, 0);
  }, [key, ask]);

  const need = useCallback(
    (first: number, count: number) => {
      const wanted = now.current;
      if (wanted) for (const page of pagesOf(first, count)) void ask(wanted, page);
    },
    [ask],
  );
  return { data, error, need };
}

/** A value that follows another one after it has rested for a while. */
function useRested<T>(value: T, delay: number): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), delay);
    return () => clearTimeout(timer);
  }, [value, delay]);
  return rested;
}

export function DetectionsTable() {
  const job = useRun((state) => state.shown);
  const result = useRun((state) => state.result);
  const clock = useRun((state) => state.clock);
  const types = useRun((state) => state.types);
  const filter = useRun((state) => state.filter);
  const sort = useRun((state) => state.sort);
  const range = useRun((state) => state.range);
  const limits = useRun((state) => state.limits);
  const brush = useRun((state) => state.brush);
  const [inView, setInView] = useState(true);
  const seen: Range | null = brush ?? (inView && !same(range, limits) ? range : null);
  // the timeline comes first; sorting many rows takes the server a while
  const drawn = useRun((state) => state.picture !== null || state.pictureError !== null);
  const rested = useRested(seen, (result?.total ?? 0) > 100_000 ? 400 : 120);
  const text = useRested(filter, 150);
  const query = useMemo((): Query | null => {
    if (!job || !clock || !result || !drawn) return null;
    const span = rested
      ? { from: clock.ticks(Math.floor(rested.from)), to: clock.ticks(Math.ceil(rested.to)) }
      : {};
    return { job, type: types.join(","), ...span, text: text.trim(), sort };
  }, [job, clock, result, drawn, types, rested, text, sort]);
  const { data, error, need } = useRows(query);
  if (!result || !clock) return null;

  const single =
    types.length === 1 ? types[0] : result.found.length === 1 ? result.found[0]?.type : undefined;
  const filtered = Boolean(filter || types.length || seen);
  return (
    <section className="detections" aria-label={t.detections}>
      <div className="view-bar">
        <h2 className="view-title">{t.detections}</h2>
        <span className="count number">{data ? t.ofAll(data.total, result.total) : ""}</span>
        <input
          className="run-field filter"
          type="text"
          aria-label={t.filter}
          placeholder={t.filter}
          value={filter}
          onChange={(event) => setRun({ filter: event.target.value })}
        />
        <label className="check">
          <input type="checkbox" checked={inView} onChange={(event) => setInView(event.target.checked)} />
          {t.inView}
        </label>
        {types.map((type) => (
          <Button
            key={type}
            kind="quiet"
            onPress={() => setRun({ types: types.filter((one) => one !== type) })}
          >
            {type} ×
          </Button>
        ))}
        <span className="spring" />
        <MenuButton
          name={filtered && data ? t.downloadSome(data.total) : t.download}
          icon={<Download size={14} aria-hidden />}
          items={[
            { id: "csv", label: t.csv },
            { id: "jsonl", label: t.jsonl },
            { id: "parquet", label: t.parquet },
          ]}
          onAct={(format) => {
            if (!data) return; // what the table shows, not what it is about to show
            const { job: id, sort: _, ...rows } = data.query;
            void exportRows(id, single ?? "detections", { ...rows, format: format as "csv" });
          }}
        />
      </div>
      {error && !data ? <ErrorBox text={error} /> : null}
      {data ? (
        <Rows data={data} clock={clock} single={single} sort={sort} need={need}>
          {data.total === 0 ? (
            result.total === 0 ? (
              <Empty title={t.noneFound} text={t.noneFoundText} />
            ) : (
              <Empty title={t.nothing} text={t.nothingText}>
                {filtered ? (
                  <Button onPress={() => setRun({ filter: "", types: [], brush: null, range: limits })}>
                    {t.clearFilter}
                  </Button>
                ) : null}
              </Empty>
            )
          ) : null}
        </Rows>
      ) : error ? null : (
        <Skeleton rows={6} />
      )}
    </section>
  );
}

interface Column {
  name: string;
  title: string;
  sort: string | null;
  numeric: boolean;
}

const NUMBERS = new Set(["int", "float"]);

/** One type's attributes have columns of their own, those of several types one for all. */
function columnsOf({ attributes }: Data, single: boolean, lasting: boolean): Column[] {
  const out: Column[] = single ? [] : [{ name: "type", title: t.type, sort: "type", numeric: false }];
  out.push({ name: "time", title: t.time, sort: "time", numeric: true });
  if (lasting) out.push({ name: "end", title: t.end, sort: "end", numeric: true });
  if (!single) return [...out, { name: "values", title: t.values, sort: null, numeric: false }];
  for (const { name, type } of attributes)
    out.push({ name: `.${name}`, title: name, sort: name, numeric: NUMBERS.has(type) });
  return out;
}

/** About how wide a character is, in a name and in a time, and what stands beside it: the swatch, the arrow. */
const CHARACTER = { name: 7.4, mono: 7.25 };
const BESIDE = { type: 20, arrow: 20 };

/** The widths of the columns that all types have, by the content of the rows that are there. */
function widthsOf(data: Data, clock: Clock, types: readonly string[]): Record<string, string> {
  const longest = (some: readonly string[]) => Math.max(0, ...some.map((text) => text.length));
  const rows = [...data.pages.values()].flat();
  const name = Math.ceil(longest(types) * CHARACTER.name) + BESIDE.type;
  const most = Math.min(260, Math.max(72, name));
  const wide = (some: readonly string[], title: string) =>
    `${Math.ceil(Math.max(longest(some) * CHARACTER.mono + 1, title.length * CHARACTER.name + BESIDE.arrow))}px`;
  return {
    type: `minmax(${Math.min(96, most)}px, ${most}px)`,
    time: wide(
      rows.map((row) => clock.text(row.ticks)),
      t.time,
    ),
    end: wide(
      rows.map((row) =>
        row.end_ticks === null
          ? row.open
            ? t.open
            : ""
          : (clock.between(row.ticks, row.end_ticks)[1] ?? ""),
      ),
      t.end,
    ),
    values: "minmax(88px, 1fr)",
  };
}

/** Numbers take little room, texts share it; what is left is behind the last column. */
function templateOf(columns: readonly Column[], widths: Record<string, string>): string {
  const own = columns.map(
    ({ name, numeric }) => widths[name] ?? (numeric ? "minmax(72px, 120px)" : "minmax(88px, 240px)"),
  );
  return columns.some(({ name }) => name === "values") ? own.join(" ") : `${own.join(" ")} minmax(0, 1fr)`;
}

function Rows({
  data,
  clock,
  single,
  sort,
  need,
  children,
}: {
  data: Data;
  clock: Clock;
  single: string | undefined;
  sort: string;
  need: (first: number, count: number) => void;
  children: React.ReactNode;
}) {
  const chosen = useRun((state) => state.chosen);
  const order = useRunOrder();
  const box = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState(0);
  const [room, setRoom] = useState(300);
  const [active, setActive] = useState(0);
  const wantsFocus = useRef(false);
  const seen = windowOf(data.total, HEIGHT, scroll, room, 8);
  const rowAt = (i: number): Row | undefined => data.pages.get(Math.floor(i / PAGE))?.[i % PAGE];
  const found = useRun((state) => state.result?.found);
  const shownTypes = useRun((state) => state.types);
  const lasting = (found ?? []).some(
    (one) => one.lasting && (!shownTypes.length || shownTypes.includes(one.type)),
  );
  const columns = useMemo(() => columnsOf(data, single !== undefined, lasting), [data, single, lasting]);
  const template = useMemo(() => {
    const types = (found ?? []).flatMap(({ type, count }) =>
      count && (!shownTypes.length || shownTypes.includes(type)) ? type : [],
    );
    return templateOf(columns, widthsOf(data, clock, types));
  }, [columns, data, clock, found, shownTypes]);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setRoom(Math.max(HEIGHT, element.clientHeight - HEIGHT));
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);

  useEffect(() => need(seen.first, seen.count), [need, seen.first, seen.count]);

  // a new query begins at its top
  const asked = data.query;
  useEffect(() => {
    void asked;
    box.current?.scrollTo({ top: 0 });
    setActive(0);
  }, [asked]);

  useEffect(() => {
    if (!wantsFocus.current) return;
    const row = box.current?.querySelector<HTMLElement>(`[data-index="${active}"]`);
    if (row) {
      wantsFocus.current = false;
      row.focus({ preventScroll: true });
    }
  });

  const pick = (i: number) => {
    const row = rowAt(i);
    setActive(i);
    if (!row) return;
    const marked = markedOf(row);
    choose(marked);
    if (marked) showTime(marked);
  };

  const go = (i: number) => {
    const to = Math.max(0, Math.min(data.total - 1, i));
    const top = scrollTo(to, data.total, HEIGHT, scroll, room);
    if (top !== scroll) box.current?.scrollTo({ top });
    wantsFocus.current = true;
    setActive(to);
  };

  const keys = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(room / HEIGHT) - 1);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (steps[event.key]) go(active + (steps[event.key] ?? 0));
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(data.total - 1);
    else if (event.key === "Enter" || event.key === " ") pick(active);
    else return;
    event.preventDefault();
  };

  const shown: number[] = [];
  for (let i = seen.first; i < seen.first + seen.count; i++) shown.push(i);
  const focusable = shown.includes(active) ? active : seen.first;
  return (
    <div className="rows" ref={box} onScroll={(event) => setScroll(event.currentTarget.scrollTop)}>
      <div role="table" aria-label={t.detections} aria-rowcount={data.total + 1} className="table">
        <div
          role="row"
          aria-rowindex={1}
          className="table-head"
          style={{ gridTemplateColumns: template }}
          tabIndex={-1}
        >
          {columns.map((column) => (
            <Head key={column.name} column={column} sort={sort} />
          ))}
        </div>
        <div role="rowgroup" style={{ height: seen.height }} className="table-body" onKeyDown={keys}>
          {shown.map((i, n) => {
            const row = rowAt(i);
            return (
              <TableRow
                key={i}
                index={i}
                top={seen.top + n * HEIGHT}
                row={row}
                columns={columns}
                template={template}
                clock={clock}
                colour={row ? typeColour(row.type, order) : ""}
                second={row !== undefined && isSecond(row.type, order)}
                chosen={
                  row !== undefined && chosen !== null && isSame(row, chosen.label, chosen.type, chosen.start)
                }
                tab={i === focusable}
                onPick={pick}
              />
            );
          })}
        </div>
      </div>
      {children}
    </div>
  );
}

function isSame(row: Row, label: string | null, type: string, ticks: unknown): boolean {
  return row.label !== null ? row.label === label : row.type === type && row.ticks === ticks;
}

function Head({ column, sort }: { column: Column; sort: string }) {
  const up = sort === column.sort;
  const down = sort === `-${column.sort}`;
  const className = column.numeric ? "cell is-number" : "cell";
  return (
    <div
      role="columnheader"
      tabIndex={-1}
      className={className}
      aria-sort={up ? "ascending" : down ? "descending" : column.sort ? "none" : undefined}
    >
      {column.sort ? (
        <button
          type="button"
          className="head-button"
          title={t.sort(column.title)}
          onClick={() => setRun({ sort: up ? `-${column.sort}` : (column.sort ?? "time") })}
        >
          {column.title}
          {up ? <ArrowUp size={12} aria-hidden /> : down ? <ArrowDown size={12} aria-hidden /> : null}
        </button>
      ) : (
        column.title
      )}
    </div>
  );
}

const TableRow = memo(function TableRow({
  index,
  top,
  row,
  columns,
  template,
  clock,
  colour,
  second,
  chosen,
  tab,
  onPick,
}: {
  index: number;
  top: number;
  row: Row | undefined;
  columns: Column[];
  template: string;
  clock: Clock;
  colour: string;
  second: boolean;
  chosen: boolean;
  tab: boolean;
  onPick: (i: number) => void;
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are taken by the body of the table
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-current={chosen || undefined}
      data-index={index}
      {...(row && { "data-testid": "detection", "data-type": row.type, "data-ticks": row.ticks })}
      className={chosen ? "table-row is-chosen" : "table-row"}
      style={{ top, gridTemplateColumns: template }}
      tabIndex={tab ? 0 : -1}
      onClick={() => onPick(index)}
    >
      {columns.map((column) => (
        <div role="cell" key={column.name} className={column.numeric ? "cell is-number mono" : "cell"}>
          {row ? (
            <Cell row={row} name={column.name} clock={clock} colour={colour} second={second} />
          ) : (
            <i className="cell-wait" />
          )}
        </div>
      ))}
    </div>
  );
});

/** The values of a row in the order in which its type has them, all of them on hover. */
function Values({ row }: { row: Row }) {
  const found = useRun((state) => state.result?.found);
  const order = found?.find((one) => one.type === row.type)?.attributes;
  const values = inOrder(row.values, order);
  const title = values.map(([key, value]) => `${key} ${valueText(value, key, 200)}`).join("\n");
  return (
    <span title={title}>
      {values.map(([key, value]) => (
        <span key={key} className="pair">
          <span className="dim">{key}</span> <span className="mono">{valueText(value, key, 200)}</span>
        </span>
      ))}
    </span>
  );
}

interface CellProps {
  row: Row;
  name: string;
  clock: Clock;
  colour: string;
  second: boolean;
}

function Cell({ row, name, clock, colour, second }: CellProps) {
  if (name === "type")
    return (
      <>
        <Swatch colour={colour} second={second} />
        {row.type}
      </>
    );
  if (name === "time") return <span title={clock.full(row.ticks)}>{clock.text(row.ticks)}</span>;
  if (name === "end") {
    if (row.end_ticks === null) return <span className="dim">{row.open ? t.open : ""}</span>;
    const length = clock.roughly(clock.offset(row.end_ticks) - clock.offset(row.ticks));
    const [, end] = clock.between(row.ticks, row.end_ticks);
    return <span title={`${clock.full(row.end_ticks)}, +${length}`}>{end}</span>;
  }
  if (name === "values") return <Values row={row} />;
  const value = row.values[name.slice(1)];
  const text = valueText(value, name.slice(1));
  return (
    <span className="mono" title={text}>
      {text}
    </span>
  );
}

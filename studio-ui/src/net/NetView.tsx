/** The net of the program's EPL statements, or of a file: drawn, stepped forth and back, run; its log and studies below. */
import {
  ChevronDown,
  ChevronsRight,
  CircleAlert,
  Eye,
  LayoutGrid,
  Maximize,
  Minus,
  Plus,
  RotateCcw,
  Square,
  StepBack,
  StepForward,
  TriangleAlert,
  X,
} from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import {
  Button as AriaButton,
  Dialog,
  DialogTrigger,
  Menu,
  MenuItem,
  Popover,
  Tab,
  TabList,
  TabPanel,
  Tabs,
} from "react-aria-components";
import type { Problem } from "../api/schema";
import { Button, IconButton } from "../parts/Button";
import { Empty, Skeleton } from "../parts/Empty";
import { useHeight } from "../parts/height";
import { Linked } from "../parts/Linked";
import { Splitter } from "../parts/Splitter";
import { keepSizes, keptSizes } from "../parts/sizes";
import { goTo } from "../state/actions";
import { set } from "../state/store";
import { texts } from "../texts";
import { back, fire, openNet, reset, run, setOptions, setPage, step, stopRun } from "./actions";
import { Canvas, canvas, nodeNamed } from "./Canvas";
import { Firings } from "./Firings";
import { bindingText } from "./log";
import { RunTo } from "./RunTo";
import { RandomStudy, SpaceStudy, VerifyStudy } from "./Studies";
import { setNet, useNet } from "./state";
import "./net.css";

const t = texts.net;
const SIZES_KEPT = "occurs-net-sizes";

export default function NetView() {
  const net = useNet((state) => state.net);
  const opening = useNet((state) => state.opening);
  const [box, room] = useHeight();
  const [wanted, setWanted] = useState(() => keptSizes(SIZES_KEPT, { log: 0 }).log);
  useEffect(() => keepSizes(SIZES_KEPT, { log: wanted }), [wanted]);
  const most = Math.max(80, room - 240);
  const initial = Math.round(Math.min(200, Math.max(96, room * 0.3)));
  const height = Math.min(wanted || initial, most);
  return (
    <div className="net-view" ref={box} aria-busy={opening}>
      <Bar />
      <Progress />
      <Trouble />
      {net ? (
        <>
          <div className="net-middle">
            {net.pages.some((page) => page.places.length + page.transitions.length) ? (
              <Canvas net={net} />
            ) : (
              <Empty title={t.empty} />
            )}
            <Bindings box={box} />
          </div>
          <Splitter
            name={t.log}
            direction="y"
            size={height}
            initial={initial}
            min={60}
            max={most}
            sign={-1}
            onSize={setWanted}
          />
          <div className="net-bottom" style={{ height }}>
            <Tabs className="net-tabs">
              <TabList className="net-tab-list" aria-label={t.studies}>
                <NetTab id="firings" name={t.log} />
                <NetTab id="verify" name={t.verify} />
                <NetTab id="space" name={t.space} />
                <NetTab id="random" name={t.random} />
              </TabList>
              <TabPanel id="firings" className="net-tab-panel">
                <Firings />
              </TabPanel>
              <TabPanel id="verify" className="net-tab-panel">
                <VerifyStudy />
              </TabPanel>
              <TabPanel id="space" className="net-tab-panel">
                <SpaceStudy />
              </TabPanel>
              <TabPanel id="random" className="net-tab-panel">
                <RandomStudy />
              </TabPanel>
            </Tabs>
          </div>
        </>
      ) : opening ? (
        <Skeleton rows={8} />
      ) : null}
    </div>
  );
}

function NetTab({ id, name }: { id: string; name: string }) {
  return (
    <Tab id={id} className="tab net-tab">
      {name}
    </Tab>
  );
}

function Bar() {
  const net = useNet((state) => state.net);
  const id = useNet((state) => state.id);
  const page = useNet((state) => state.page);
  const steps = useNet((state) => state.steps);
  const row = useNet((state) => state.row);
  const rowCount = useNet((state) => state.rowCount);
  const seed = useNet((state) => state.seed);
  const still = useNet((state) => state.still);
  const running = useNet((state) => state.running);
  const stopped = useNet((state) => state.stopped);
  const can = useNet((state) => Object.keys(state.enabled).length);
  const idle = id !== null && !still && !running;
  return (
    <div className="net-bar">
      <select
        className="net-field net-page-choice"
        aria-label={t.page}
        title={t.page}
        value={page}
        disabled={!net}
        onChange={(event) => setPage(event.target.value)}
      >
        <option value="">{t.all}</option>
        {net?.pages.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <span className="net-line" />
      <IconButton name={t.reset} isDisabled={!id || still} onPress={() => void reset(seed)}>
        <RotateCcw size={14} />
      </IconButton>
      <IconButton
        name={t.back}
        isDisabled={!idle}
        why={steps ? undefined : t.atStart}
        onPress={() => void back()}
      >
        <StepBack size={14} />
      </IconButton>
      <IconButton
        name={t.step}
        isDisabled={!idle}
        why={can ? undefined : t.nothing}
        onPress={() => void step()}
      >
        <StepForward size={14} />
      </IconButton>
      <IconButton
        name={t.runToEnd}
        isDisabled={!idle}
        why={can ? undefined : t.nothing}
        onPress={() => void run({ end: true })}
      >
        <ChevronsRight size={14} />
      </IconButton>
      <Overlay name={t.runTo} disabled={!idle}>
        {(close) => <RunTo close={close} />}
      </Overlay>
      {running ? (
        <Button kind="plain" onPress={stopRun}>
          <Square size={12} aria-hidden /> {t.stop}
        </Button>
      ) : null}
      <span className="net-state">
        <span>
          <span data-testid="net-steps" className="number">
            {steps}
          </span>{" "}
          <span className="dim">{t.firings(steps)}</span>
        </span>
        {rowCount ? <span className="dim number">{t.rows(row, rowCount)}</span> : null}
        {seed === null ? null : <span className="dim">{t.seeded(seed)}</span>}
        {stopped && !running ? (
          <span className="net-stopped" title={stopped}>
            {stopped}
          </span>
        ) : null}
      </span>
      <span className="spring" />
      <Overlay name={t.show} icon={<Eye size={14} aria-hidden />}>
        {() => <Show />}
      </Overlay>
      <IconButton name={t.zoomOut} keys="-" isDisabled={!net} onPress={() => canvas()?.zoom(1 / 1.3)}>
        <Minus size={14} />
      </IconButton>
      <IconButton name={t.zoomIn} keys="+" isDisabled={!net} onPress={() => canvas()?.zoom(1.3)}>
        <Plus size={14} />
      </IconButton>
      <IconButton name={t.layout} isDisabled={!net} onPress={() => canvas()?.arrange()}>
        <LayoutGrid size={14} />
      </IconButton>
      <IconButton name={t.fit} keys="0" isDisabled={!net} onPress={() => canvas()?.fit()}>
        <Maximize size={14} />
      </IconButton>
    </div>
  );
}

/** A button that opens fields over the view. */
function Overlay(props: {
  name: string;
  icon?: ReactNode;
  disabled?: boolean;
  children: (close: () => void) => ReactNode;
}) {
  const { name, icon, disabled = false, children } = props;
  return (
    <DialogTrigger>
      <AriaButton
        className={`button button-quiet ${icon ? "net-show" : ""}`}
        aria-label={name}
        isDisabled={disabled}
      >
        {icon}
        <span className="net-button-text">{name}</span>
        <ChevronDown size={12} aria-hidden />
      </AriaButton>
      <Popover className="menu-popover net-popover" placement="bottom start" offset={4}>
        <Dialog className="net-overlay" aria-label={name}>
          {({ close }) => children(close)}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

function Show() {
  const show = useNet((state) => state.show);
  const options = useNet((state) => state.options);
  const source = useNet((state) => state.source);
  const [rows, setRows] = useState(String(options.rows));
  const takeRows = () => {
    const number = Math.round(Number(rows));
    if (number >= 1 && number <= 100_000 && number !== options.rows) setOptions({ rows: number });
    else setRows(String(options.rows));
  };
  return (
    <>
      <fieldset>
        <legend>{t.show}</legend>
        {(["inscriptions", "guards", "priorities", "colours"] as const).map((what) => (
          <Check
            key={what}
            name={t[what]}
            on={show[what]}
            onChange={(on) => setNet({ show: { ...show, [what]: on } })}
          />
        ))}
      </fieldset>
      <fieldset>
        <legend>{t.options}</legend>
        <Check
          name={t.black}
          hint={t.blackHint}
          on={options.black}
          onChange={(black) => setOptions({ black })}
        />
        {source ? null : (
          <>
            <Check
              name={t.sinks}
              on={options.sink_exits}
              onChange={(sink_exits) => setOptions({ sink_exits })}
            />
            <label className="net-option">
              {t.first}
              <select
                className="net-field"
                value={options.first}
                onChange={(event) => setOptions({ first: event.target.value === "1" ? 1 : 0 })}
              >
                <option>0</option>
                <option>1</option>
              </select>
            </label>
            <label className="net-option">
              {t.most}
              <input
                className="net-field net-number"
                inputMode="numeric"
                value={rows}
                onChange={(event) => setRows(event.target.value)}
                onBlur={takeRows}
                onKeyDown={(event) => event.key === "Enter" && takeRows()}
              />
            </label>
          </>
        )}
      </fieldset>
    </>
  );
}

function Check(props: { name: string; hint?: string; on: boolean; onChange: (on: boolean) => void }) {
  return (
    <label className="net-check" title={props.hint}>
      <input type="checkbox" checked={props.on} onChange={(event) => props.onChange(event.target.checked)} />
      {props.name}
    </label>
  );
}

/** How far a run is, by the rows that have entered; shown only if it takes a while. */
function Progress() {
  const running = useNet((state) => state.running);
  const row = useNet((state) => state.row);
  const rowCount = useNet((state) => state.rowCount);
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!running) return setLate(false);
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, [running]);
  if (!running || !late || !rowCount) return null;
  return <progress className="net-progress" aria-label={t.progress} value={row} max={rowCount} />;
}

/** What is wrong: there is no net, a statement has none, a call was refused, the texts have changed. */
function Trouble() {
  const trouble = useNet((state) => state.trouble);
  const problems = useNet((state) => state.problems);
  const stale = useNet((state) => state.stale);
  const still = useNet((state) => state.still);
  const net = useNet((state) => state.net);
  const opening = useNet((state) => state.opening);
  const [hidden, setHidden] = useState<readonly Problem[] | null>(null);
  if (trouble && !net)
    return (
      <div className="net-none" data-testid="net-error" role="alert">
        <Empty title={trouble.title} text={trouble.text}>
          {trouble.hint ? <p className="dim">{trouble.hint}</p> : null}
          {trouble.action === "problems" ? (
            <Button onPress={() => set((state) => ({ panels: { ...state.panels, bottomOpen: true } }))}>
              {texts.plan.problems}
            </Button>
          ) : trouble.action === "open" ? (
            <Button onPress={() => void openNet()}>{t.again}</Button>
          ) : null}
        </Empty>
        <Problems problems={trouble.problems.filter((one) => one.message !== trouble.text)} />
      </div>
    );
  const list = hidden === problems ? [] : problems;
  if (opening || !(trouble || list.length || stale || still)) return null;
  const without = list.filter(({ severity }) => severity !== "notice").length;
  return (
    <div className="net-trouble">
      {stale && !trouble ? (
        <div className="net-message is-stale" role="status">
          <TriangleAlert size={14} aria-hidden />
          <p>{t.stale}</p>
          <Button onPress={() => void openNet()}>{t.again}</Button>
        </div>
      ) : null}
      {trouble || list.length || still ? (
        <div
          className="net-message"
          data-testid={trouble || still || without ? "net-error" : "net-notices"}
          role={trouble ? "alert" : "status"}
        >
          <CircleAlert size={14} aria-hidden />
          <div>
            {trouble ? (
              <p>
                <b>{trouble.title}</b> <Linked text={trouble.text} />{" "}
                {trouble.hint ? <span className="dim">{trouble.hint}</span> : null}
              </p>
            ) : (
              <p>
                <b>{still ? t.still : without ? t.without(without) : t.notices(list.length)}</b>
              </p>
            )}
            <Problems
              problems={trouble ? trouble.problems.filter((one) => one.message !== trouble.text) : list}
            />
          </div>
          {trouble?.action === "open" ? (
            <Button onPress={() => void openNet()}>{t.again}</Button>
          ) : (
            <IconButton
              name={t.close}
              onPress={() => (trouble ? setNet({ trouble: null }) : setHidden(problems))}
            >
              <X size={14} />
            </IconButton>
          )}
        </div>
      ) : null}
    </div>
  );
}

function Problems({ problems }: { problems: readonly Problem[] }) {
  if (!problems.length) return null;
  return (
    <ul className="net-problems">
      {problems.map(({ message, hint, file, span, node, row }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: problems have no other name
        <li key={i}>
          {node ? <b>{node}: </b> : null}
          <Linked text={message} />
          {row !== null && !file ? <span className="dim"> {t.row(row)}</span> : null}{" "}
          {file ? (
            <button
              type="button"
              className="link mono"
              onClick={() => void goTo({ path: file, line: 1, column: 1, ...span })}
            >
              {span ? `${file}:${span.line}:${span.column}` : file}
            </button>
          ) : null}
          {hint ? <span className="dim"> {hint}</span> : null}
        </li>
      ))}
    </ul>
  );
}

/** The bindings of a transition, to choose one from. */
function Bindings({ box }: { box: React.RefObject<HTMLDivElement | null> }) {
  const choosing = useNet((state) => state.choosing);
  const choice = useNet((state) => (state.choosing ? state.enabled[state.choosing] : undefined));
  const node = useRef<Element | null>(null);
  node.current = choosing ? nodeNamed(box.current, choosing) : null;
  if (!choosing || !choice) return null;
  const more = choice.count - choice.bindings.length;
  return (
    <Popover
      className="menu-popover net-bindings"
      triggerRef={node}
      isOpen
      onOpenChange={(open) => !open && setNet({ choosing: null })}
      placement="bottom start"
      offset={6}
    >
      <Dialog className="net-overlay" aria-label={t.bindings(choosing)}>
        <p className="net-bindings-title">{t.bindings(choosing)}</p>
        <Menu
          className="menu"
          aria-label={t.bindings(choosing)}
          autoFocus="first"
          onAction={(key) => void fire(choosing, choice.bindings[Number(key)])}
        >
          {choice.bindings.map((binding, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: its number is what a binding is chosen by
            <MenuItem key={i} id={i} className="menu-item mono" textValue={bindingText(binding)}>
              {bindingText(binding) || "()"}
            </MenuItem>
          ))}
        </Menu>
        {more > 0 ? <p className="dim net-bindings-more">{t.moreBindings(more)}</p> : null}
      </Dialog>
    </Popover>
  );
}

import { Lock, X } from "lucide-react";
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { Files } from "./frame/Files";
import { Guard } from "./frame/Guard";
import { Header } from "./frame/Header";
import { onKey } from "./frame/keys";
import { Notices } from "./frame/Notices";
import { Outline } from "./frame/Outline";
import { Problems, useProblemsOpen } from "./frame/Problems";
import { Properties } from "./frame/Properties";
import { StatusBar } from "./frame/StatusBar";
import { Button } from "./parts/Button";
import { Empty, ErrorBox, Skeleton } from "./parts/Empty";
import { useHeight } from "./parts/height";
import { Panel } from "./parts/Panel";
import { Splitter } from "./parts/Splitter";
import { showView } from "./state/actions";
import { again, retry } from "./state/start";
import { BOTTOM, resize, set, usePanel, useStudio } from "./state/store";
import { texts } from "./texts";
import { VIEWS, type View } from "./views";

const WhyPanel = lazy(() => import("./run/WhyPanel"));
const loadDialogs = () => import("./frame/Dialogs");
const Dialogs = lazy(loadDialogs);

/** The views: each is loaded when it is first opened, and then stays. */
function Views() {
  const view = useStudio((state) => state.view);
  const active = useStudio((state) => state.active);
  const dirty = useStudio((state) => Boolean(active && state.buffers[active]?.dirty));
  const statement = useStudio((state) => state.statement);
  const writable = useStudio((state) => Boolean(state.active && state.buffers[state.active]?.writable));
  const note = useStudio((state) => state.files.find((file) => file.path === state.active)?.note);
  const shown = VIEWS.find((entry) => entry.id === view);
  const Tools = shown?.tools;
  const [seen, setSeen] = useState<ReadonlySet<View>>(new Set([view]));
  useEffect(() => setSeen((before) => (before.has(view) ? before : new Set([...before, view]))), [view]);
  const edits = VIEWS.some((entry) => entry.edits && (seen.has(entry.id) || entry.id === view));
  return (
    <Tabs className="views" selectedKey={view} onSelectionChange={(key) => showView(key as View)}>
      <div className="views-head">
        <TabList className="tabs" aria-label={texts.views.label}>
          {VIEWS.map(({ id }) => (
            <Tab key={id} id={id} className="tab">
              {texts.views[id]}
            </Tab>
          ))}
        </TabList>
        <span className="spring" />
        {active && !shown?.program ? (
          <span className="crumbs">
            {writable ? null : (
              <span className="badge" title={note ?? undefined}>
                <Lock size={12} aria-hidden /> {texts.files.readOnly}
              </span>
            )}
            <span className="mono">{active}</span>
            {dirty ? <span className="dirty" title={texts.files.unsaved} /> : null}
            {statement ? (
              <>
                <span className="crumb-mark">›</span>
                {statement}
              </>
            ) : null}
          </span>
        ) : null}
        {Tools ? (
          <span className="view-tools">
            <Suspense>
              <Tools />
            </Suspense>
          </span>
        ) : null}
      </div>
      {VIEWS.map(({ id, component: Content }) => (
        <TabPanel key={id} id={id} className="view" shouldForceMount>
          <Guard>
            <Suspense fallback={<Skeleton rows={8} />}>
              {seen.has(id) || id === view || (id === "Text" && edits) ? <Content /> : null}
            </Suspense>
          </Guard>
        </TabPanel>
      ))}
    </Tabs>
  );
}

/** Above the views: the connection is lost, what that means, what to do. */
function Lost() {
  const connection = useStudio((state) => state.connection);
  const t = texts.connection;
  const ready = useStudio((state) => state.ready);
  if (connection !== "lost" && !(connection === "token" && ready)) return null;
  return (
    <div className="banner" role="alert">
      <span>{connection === "token" ? t.tokenChanged : `${t.lost}. ${t.kept}`}</span>
      {connection === "lost" ? <Button onPress={retry}>{t.again}</Button> : null}
    </div>
  );
}

export function App() {
  const panels = useStudio((state) => state.panels);
  const narrow = useStudio((state) => state.narrow);
  const drawer = useStudio((state) => state.drawer);
  const failed = useStudio((state) => state.failed);
  const denied = useStudio((state) => state.connection === "token" && !state.ready);
  const needsDialogs = useStudio((state) => state.dialog !== null || state.conflicts.length > 0);
  const ready = useStudio((state) => state.ready);
  // so that the first one takes the first keys
  useEffect(() => {
    if (ready) void loadDialogs();
  }, [ready]);
  useEffect(() => {
    addEventListener("keydown", onKey, true);
    return () => removeEventListener("keydown", onKey, true);
  }, []);
  const asksWhy = useStudio((state) => state.view === "Run" && state.selection !== null);
  const left = narrow ? drawer === "left" : panels.leftOpen;
  const right = narrow ? drawer === "right" : panels.rightOpen;
  return (
    <div className={`page ${narrow ? "page-narrow" : ""}`}>
      <Header />
      <Lost />
      <div className="middle">
        {narrow && (left || right) ? <Veil /> : null}
        {left ? (
          <Side
            name={texts.header.files}
            size={panels.left}
            initial={240}
            max={480}
            onSize={(size) => resize({ left: size })}
            upper={<Files />}
            lower={<Outline />}
            split={texts.files.split}
            first={panels.files}
            onFirst={(size) => resize({ files: size })}
            upperOpen={panels.filesOpen}
            lowerOpen={panels.outlineOpen}
          />
        ) : null}
        <main className="main">
          {failed ? (
            <ErrorBox text={failed} again={again} />
          ) : denied ? (
            <Empty title={texts.connection.tokenTitle} text={texts.connection.tokenText} />
          ) : (
            <Views />
          )}
          <Bottom />
        </main>
        {right ? (
          <Side
            name={texts.header.side}
            size={panels.right}
            initial={300}
            max={640}
            sign={-1}
            onSize={(size) => resize({ right: size })}
            upper={<Properties />}
            lower={<WhyHere />}
            split={texts.side.split}
            first={panels.properties}
            onFirst={(size) => resize({ properties: size })}
            upperOpen={panels.propertiesOpen}
            lowerOpen={panels.whyOpen}
            lowerFirst={asksWhy}
          />
        ) : null}
      </div>
      <StatusBar />
      <Notices />
      {needsDialogs ? (
        <Guard>
          <Suspense>
            <Dialogs />
          </Suspense>
        </Guard>
      ) : null}
    </div>
  );
}

/** Problems below the views: as high as they are, at most so high, until somebody sets a height. */
function Bottom() {
  const size = useStudio((state) => state.panels.bottom);
  const open = useProblemsOpen();
  const [box, height] = useHeight();
  const fits = size === BOTTOM;
  useEffect(() => box.current?.style.setProperty("--size", `${size}px`), [box, size]);
  return (
    <>
      {open ? (
        <Splitter
          name={texts.problems.title}
          direction="y"
          size={fits ? height : size}
          measured={() => box.current?.clientHeight}
          initial={BOTTOM}
          min={60}
          max={600}
          sign={-1}
          onSize={(now) => resize({ bottom: now })}
        />
      ) : null}
      <div className="bottom" ref={box} data-open={open} data-fits={fits || undefined}>
        <Problems />
      </div>
    </>
  );
}

/** Why is loaded with the first detection that is chosen. */
function WhyHere() {
  const any = useStudio((state) => state.selection !== null || state.question !== null);
  const [open, toggle] = usePanel("whyOpen");
  return (
    <Panel title={texts.why.title} role="region" className="panel-why" open={open} onToggle={toggle}>
      <Guard>
        <Suspense fallback={<Skeleton />}>
          {any ? <WhyPanel /> : <Empty title={texts.why.none} text={texts.why.noneText} />}
        </Suspense>
      </Guard>
    </Panel>
  );
}

/** Behind a drawer: a click closes it, as Escape does. */
function Veil() {
  return (
    <button
      type="button"
      className="veil"
      tabIndex={-1}
      aria-label={texts.header.close}
      onClick={() => set({ drawer: null })}
    />
  );
}

interface SideProps {
  name: string;
  size: number;
  initial: number;
  max: number;
  sign?: 1 | -1;
  onSize: (size: number) => void;
  upper: ReactNode;
  lower: ReactNode;
  /** the name of the line between them */
  split: string;
  first: number;
  onFirst: (size: number) => void;
  upperOpen: boolean;
  lowerOpen: boolean;
  /** the lower panel gets the room */
  lowerFirst?: boolean;
}

/** Two panels beside the views; the edges are dragged. In a narrow window they are a drawer over the views. */
function Side(props: SideProps) {
  const { upper, lower, split, first, onFirst, upperOpen, lowerOpen, lowerFirst, ...edge } = props;
  const narrow = useStudio((state) => state.narrow);
  const side = useRef<HTMLElement>(null);
  const above = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(first);
  const both = upperOpen && lowerOpen;
  useEffect(() => {
    side.current?.style.setProperty("--size", `${edge.size}px`);
    above.current?.style.setProperty("--first", `${first}px`);
  }, [edge.size, first]);
  useEffect(() => {
    if (!above.current) return;
    // the height that it has by itself is where dragging begins
    const watch = new ResizeObserver(([entry]) => setHeight(Math.round(entry?.contentRect.height ?? 0)));
    watch.observe(above.current);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const from = document.activeElement as HTMLElement | null;
    // what opens a drawer lies behind its veil: the drawer takes the focus, and gives it back
    if (!narrow || !side.current || side.current.contains(from)) return;
    side.current.querySelector<HTMLElement>(".drawer-close")?.focus();
    return () => {
      const now = document.activeElement;
      // not if the focus has gone on meanwhile, as into the text
      if (now === null || now === document.body) from?.focus();
    };
  }, [narrow]);
  return (
    <aside className={`side ${edge.sign === -1 ? "side-right" : ""}`} aria-label={edge.name} ref={side}>
      {narrow ? (
        <button
          type="button"
          className="button button-icon drawer-close"
          aria-label={texts.header.close}
          title={texts.header.close}
          onClick={() => set({ drawer: null })}
        >
          <X size={14} aria-hidden />
        </button>
      ) : null}
      <div
        className="side-upper"
        ref={above}
        data-open={upperOpen}
        data-sized={(both && first > 0) || undefined}
        data-fills={(upperOpen && !lowerOpen) || undefined}
        data-yields={(both && lowerFirst) || undefined}
      >
        {upper}
      </div>
      {both ? (
        <Splitter
          name={split}
          direction="y"
          size={height}
          measured={() => above.current?.clientHeight}
          initial={0}
          min={60}
          max={1200}
          onSize={onFirst}
        />
      ) : null}
      <div className="side-lower" data-open={lowerOpen}>
        {lower}
      </div>
      <Splitter direction="x" {...edge} />
    </aside>
  );
}

import { Lock } from "lucide-react";
import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { Files } from "./frame/Files";
import { Guard } from "./frame/Guard";
import { Header } from "./frame/Header";
import { onKey } from "./frame/keys";
import { Notices } from "./frame/Notices";
import { Outline } from "./frame/Outline";
import { Problems } from "./frame/Problems";
import { Properties } from "./frame/Properties";
import { StatusBar } from "./frame/StatusBar";
import { Button } from "./parts/Button";
import { Empty, ErrorBox, Skeleton } from "./parts/Empty";
import { Panel } from "./parts/Panel";
import { Splitter } from "./parts/Splitter";
import { showView } from "./state/actions";
import { again, retry } from "./state/start";
import { type Panels, set, useStudio } from "./state/store";
import { texts } from "./texts";
import { VIEWS, type View } from "./views";

const WhyPanel = lazy(() => import("./run/WhyPanel"));
const Dialogs = lazy(() => import("./frame/Dialogs"));

function resize(change: Partial<Panels>) {
  set((state) => ({ panels: { ...state.panels, ...change } }));
}

/** The views: each is loaded when it is first opened, and then stays. */
function Views() {
  const view = useStudio((state) => state.view);
  const active = useStudio((state) => state.active);
  const dirty = useStudio((state) => Boolean(active && state.buffers[active]?.dirty));
  const statement = useStudio((state) => state.statement);
  const writable = useStudio((state) => Boolean(state.active && state.buffers[state.active]?.writable));
  const note = useStudio((state) => state.files.find((file) => file.path === state.active)?.note);
  const Tools = VIEWS.find((entry) => entry.id === view)?.tools;
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
        {active ? (
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
  useEffect(() => {
    addEventListener("keydown", onKey, true);
    return () => removeEventListener("keydown", onKey, true);
  }, []);
  const left = narrow ? drawer === "left" : panels.leftOpen;
  const right = narrow ? drawer === "right" : panels.rightOpen;
  return (
    <div className={`page ${narrow ? "page-narrow" : ""}`}>
      <Header />
      <Lost />
      <div className="middle">
        {left ? (
          <Side
            name={texts.header.files}
            size={panels.left}
            initial={240}
            max={480}
            onSize={(size) => resize({ left: size })}
          >
            <Files />
            <Outline />
          </Side>
        ) : null}
        <main className="main">
          {failed ? (
            <ErrorBox text={failed} again={again} />
          ) : denied ? (
            <Empty title={texts.connection.tokenTitle} text={texts.connection.tokenText} />
          ) : (
            <Views />
          )}
          {panels.bottomOpen ? (
            <Splitter
              name={texts.problems.title}
              direction="y"
              size={panels.bottom}
              initial={136}
              min={60}
              max={600}
              sign={-1}
              onSize={(size) => resize({ bottom: size })}
            />
          ) : null}
          <div
            className="bottom"
            ref={(element) => element?.style.setProperty("--size", `${panels.bottom}px`)}
            data-open={panels.bottomOpen}
          >
            <Problems />
          </div>
        </main>
        {right ? (
          <Side
            name={texts.header.side}
            size={panels.right}
            initial={300}
            max={640}
            sign={-1}
            onSize={(size) => resize({ right: size })}
          >
            <Properties />
            <Panel title={texts.why.title} role="region" className="panel-why">
              <Guard>
                <Suspense fallback={<Skeleton />}>
                  <Why />
                </Suspense>
              </Guard>
            </Panel>
          </Side>
        ) : null}
      </div>
      <StatusBar />
      <Notices />
      {needsDialogs ? (
        <Suspense>
          <Dialogs />
        </Suspense>
      ) : null}
    </div>
  );
}

/** Why is loaded with the first detection that is chosen. */
function Why() {
  const any = useStudio((state) => state.selection !== null);
  return any ? <WhyPanel /> : <Empty title={texts.why.none} text={texts.why.noneText} />;
}

/** A panel beside the views; its edge is dragged. In a narrow window it lies over them. */
function Side({
  children,
  ...edge
}: {
  name: string;
  size: number;
  initial: number;
  max: number;
  sign?: 1 | -1;
  onSize: (size: number) => void;
  children: ReactNode;
}) {
  return (
    <aside
      className={`side ${edge.sign === -1 ? "side-right" : ""}`}
      aria-label={edge.name}
      ref={(element) => element?.style.setProperty("--size", `${edge.size}px`)}
    >
      {children}
      <Splitter direction="x" {...edge} />
    </aside>
  );
}

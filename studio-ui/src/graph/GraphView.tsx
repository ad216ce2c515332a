/** The drawing of one EPL statement: palette, canvas, its text. */
import {
  applyNodeChanges,
  Background,
  type Connection,
  ConnectionMode,
  MiniMap,
  type NodeChange,
  ReactFlow,
  ReactFlowProvider,
  SelectionMode,
  useReactFlow,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { FileDown, Map as MapIcon, Maximize2, Network, PanelLeft, Plus, ZoomIn, ZoomOut } from "lucide-react";
import { type DragEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Button, IconButton } from "../parts/Button";
import { DropArea, hasFiles } from "../parts/DropArea";
import { Empty, ErrorBox, Skeleton } from "../parts/Empty";
import { Splitter } from "../parts/Splitter";
import { say } from "../state/actions";
import { checkSoon } from "../state/checking";
import { get, set, typeOrder, useStudio } from "../state/store";
import { texts } from "../texts";
import { onCopy, onKey, onPaste, showFields } from "./acts";
import { GraphDialogs } from "./GraphDialogs";
import "./graph.css";
import { FIRST, importFiles, importModels, isModel, MODELS } from "./imports";
import { lookIntoEvents } from "./known";
import { LinkView } from "./LinkView";
import { sizeOf } from "./look";
import { cannotLink, columnsOf, conditionsOf, nodeOf, withPlaces } from "./model";
import { NodeView } from "./NodeView";
import { type GraphLink, type GraphNode, linksOf, nodesOf } from "./nodes";
import { OtherLanguages } from "./OtherLanguages";
import { Palette } from "./Palette";
import { Preview } from "./Preview";
import { usePassed } from "./passed";
import { arrange, begin, choose, edit } from "./session";
import { draftOf, drawable, faultsOf, getGraph, setGraph, useGraph } from "./state";
import { addColumn, connect, frozen, PROPERTY, setRowText, TOOL, toolsOf, use } from "./tools";

const t = texts.graph;
const NODES = { pattern: NodeView };
const LINKS = { link: LinkView };

export default function GraphView() {
  const active = useStudio((state) => state.active);
  const language = useStudio((state) => state.files.find((file) => file.path === state.active)?.language);
  const ready = useStudio((state) => state.ready);
  const view = useStudio((state) => state.view);
  useEffect(begin, []);
  useEffect(() => void lookIntoEvents(), []);
  const isEpl = active?.toLowerCase().endsWith(".epl") ?? false;
  if (!ready) return <Skeleton rows={8} />;
  if (active && isModel(active)) return <ModelFile path={active} />;
  if (!active || (!isEpl && !language)) return <NoFile />;
  if (!isEpl) return view === "Graph" ? <OtherLanguages /> : null;
  return (
    <ReactFlowProvider>
      <DropArea hint={t.dropModel} onFiles={(files) => void importFiles(files.map(({ file }) => file))}>
        <Drawing />
      </DropArea>
    </ReactFlowProvider>
  );
}

/** A graphical model is a pattern in a form of its own: it is put into an EPL file, and is drawn there. */
function ModelFile({ path }: { path: string }) {
  const files = useStudio((state) => state.files);
  const content = useStudio((state) => state.buffers[path]?.text);
  const epl = files.filter((file) => file.kind === "rules" && file.language === "epl" && file.writable);
  const into = epl.length ? epl.map((file) => file.path) : [FIRST];
  return (
    <Empty title={t.modelFile} text={t.modelFileText}>
      {into.map((target) => (
        <Button
          key={target}
          kind="main"
          isDisabled={content === undefined}
          onPress={() => void importModels([{ name: path, content: content ?? "" }], target)}
        >
          {t.importInto(target)}
        </Button>
      ))}
    </Empty>
  );
}

/** Chooses model files to import, as a drop does. */
function ImportModel({ isDisabled }: { isDisabled: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton name={t.importModel} isDisabled={isDisabled} onPress={() => input.current?.click()}>
        <FileDown size={15} aria-hidden />
      </IconButton>
      <input
        ref={input}
        type="file"
        multiple
        accept={MODELS}
        hidden
        data-testid="import-model"
        onChange={(event) => {
          void importFiles([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
    </>
  );
}

function NoFile() {
  const files = useStudio((state) => state.files);
  const epl = files.filter((file) => file.kind === "rules" && file.language === "epl");
  return (
    <>
      <Empty title={t.noFile} text={t.noFileText}>
        {epl.map((file) => (
          <Button key={file.path} onPress={() => set({ active: file.path })}>
            {file.path}
          </Button>
        ))}
        <Button kind="main" onPress={() => setGraph({ dialog: "new-pattern" })}>
          {t.newPattern}
        </Button>
      </Empty>
      <GraphDialogs />
    </>
  );
}

function Drawing() {
  const text = useGraph((state) => state.text);
  const path = useGraph((state) => state.path);
  const failed = useGraph((state) => state.failed);
  const active = useStudio((state) => state.active);
  const chosen = useGraph((state) => state.chosen);
  const palette = useGraph((state) => state.palette);
  const height = useGraph((state) => state.previewHeight);
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = body.current;
    if (!element) return;
    const copy = (event: ClipboardEvent) => onCopy(event, element);
    const paste = (event: ClipboardEvent) => onPaste(event, element);
    document.addEventListener("copy", copy);
    document.addEventListener("cut", copy);
    document.addEventListener("paste", paste);
    return () => {
      document.removeEventListener("copy", copy);
      document.removeEventListener("cut", copy);
      document.removeEventListener("paste", paste);
    };
  }, []);
  const loading = text === null || path !== active;
  return (
    <div className="graph">
      <Bar />
      <div className="graph-body" ref={body}>
        {palette ? <Palette /> : null}
        {failed ? (
          <ErrorBox title={t.failed} text={failed} again={() => checkSoon(0)} />
        ) : loading ? (
          <Skeleton rows={6} />
        ) : chosen ? (
          <Canvas />
        ) : (
          <Empty title={t.none} text={t.noneText}>
            <Button kind="main" onPress={() => setGraph({ dialog: "new-pattern" })}>
              {t.firstPattern}
            </Button>
          </Empty>
        )}
      </div>
      <Splitter
        name={t.preview}
        direction="y"
        size={height}
        initial={128}
        min={56}
        max={480}
        sign={-1}
        onSize={(size) => setGraph({ previewHeight: size })}
      />
      <Preview />
      <GraphDialogs />
    </div>
  );
}

function Bar() {
  const state = useGraph();
  const flow = useReactFlow();
  const writable = useStudio((s) => Boolean(s.active && s.buffers[s.active]?.writable));
  const all = drawable(state);
  const zoom = (by: () => unknown) => {
    setGraph({ fitted: false });
    by();
  };
  return (
    <div className="graph-bar">
      <IconButton
        name={t.palette}
        pressed={state.palette}
        onPress={() => setGraph({ palette: !state.palette })}
      >
        <PanelLeft size={15} aria-hidden />
      </IconButton>
      <label className="graph-choice">
        <span>{t.statement}</span>
        <select
          aria-label={t.statement}
          className="select"
          value={state.chosen ?? ""}
          onChange={(event) => choose(event.target.value)}
        >
          {all.length === 0 ? <option value="">{texts.graph.fields.none}</option> : null}
          {all.map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
      </label>
      {draftOf(state) ? <span className="badge badge-draft">{t.draft}</span> : null}
      <Button kind="quiet" isDisabled={!writable} onPress={() => setGraph({ dialog: "new-pattern" })}>
        <Plus size={14} aria-hidden />
        {t.newPattern}
      </Button>
      <ImportModel isDisabled={!writable} />
      <span className="spring" />
      <IconButton name={t.autoLayout} onPress={arrange} isDisabled={!state.canvas}>
        <Network size={15} aria-hidden />
      </IconButton>
      <IconButton name={t.zoomOut} onPress={() => zoom(flow.zoomOut)}>
        <ZoomOut size={15} aria-hidden />
      </IconButton>
      <IconButton name={t.zoomIn} onPress={() => zoom(flow.zoomIn)}>
        <ZoomIn size={15} aria-hidden />
      </IconButton>
      <IconButton name={t.fit} onPress={() => setGraph({ fits: state.fits + 1 })}>
        <Maximize2 size={15} aria-hidden />
      </IconButton>
      <IconButton
        name={t.minimap}
        pressed={state.minimap}
        onPress={() => setGraph({ minimap: !state.minimap })}
      >
        <MapIcon size={15} aria-hidden />
      </IconButton>
    </div>
  );
}

/** What a drawing is coloured and marked by. */
function useFacts() {
  const outline = useStudio((state) => state.check.outline);
  const icons = useStudio((state) => state.project.icons);
  const chosen = useGraph((state) => state.chosen);
  const problems = useGraph((state) => state.problems);
  const faults = useGraph((state) => state.faults);
  const drafts = useGraph((state) => state.drafts);
  const { passed, lit } = usePassed();
  // biome-ignore lint/correctness/useExhaustiveDependencies: read from the two states
  return useMemo(
    () => ({ faults: faultsOf(getGraph()), order: typeOrder(get()), icons, passed, lit }),
    [outline, icons, chosen, problems, faults, drafts, passed, lit],
  );
}

/** Element ids below a point: of a node, of a link, of a row. */
function below(event: DragEvent): {
  node?: string | undefined;
  link?: string | undefined;
  row?: number | undefined;
} {
  const all = document.elementsFromPoint(event.clientX, event.clientY);
  const node = all.map((one) => one.closest<HTMLElement>(".react-flow__node")).find(Boolean);
  const row = all.map((one) => one.closest<HTMLElement>(".node-row")).find(Boolean)?.dataset.row;
  const link = all.map((one) => one.closest<HTMLElement>(".react-flow__edge")).find(Boolean);
  return {
    node: node?.dataset.id,
    link: node ? undefined : link?.dataset.id?.split(">")[0],
    row: row ? Number(row) : undefined,
  };
}

function isInside(inner: DOMRect, outer: DOMRect): boolean {
  return (
    inner.left >= outer.left &&
    inner.right <= outer.right &&
    inner.top >= outer.top &&
    inner.bottom <= outer.bottom
  );
}

const FIT = { padding: 0.12, maxZoom: 1, minZoom: 0.05 };
/** The small map leaves the drawing in sight also where the canvas is low. */
const MAP = { width: 120, height: 80 };

function Canvas() {
  const canvas = useGraph((state) => state.canvas);
  const chosen = useGraph((state) => state.chosen);
  const selected = useGraph((state) => state.selected);
  const link = useGraph((state) => state.link);
  const fits = useGraph((state) => state.fits);
  const minimap = useGraph((state) => state.minimap);
  const dark = useStudio((state) => state.dark);
  const wanted = useStudio((state) => state.node);
  const writable = useStudio((state) => Boolean(state.active && state.buffers[state.active]?.writable));
  const facts = useFacts();
  const flow = useReactFlow<GraphNode, GraphLink>();
  const box = useRef<HTMLElement>(null);
  const [nodes, setNodes] = useState<GraphNode[]>([]);
  const [target, setTarget] = useState<string | null>(null);
  const shown = useRef<string | null>(null);
  const showAll = useCallback(() => {
    setGraph({ fitted: true });
    void flow.fitView(FIT);
  }, [flow]);

  const chosenSet = useMemo(() => new Set(selected), [selected]);
  useEffect(() => {
    if (canvas) setNodes((old) => nodesOf(canvas, facts, chosenSet, old));
    else setNodes([]);
  }, [canvas, facts, chosenSet]);
  const links = useMemo(() => (canvas ? linksOf(canvas, link) : []), [canvas, link]);

  // a statement is fitted when it is first shown, and on request
  const empty = nodes.length === 0;
  useEffect(() => {
    if (empty) return;
    const key = `${chosen}\n${fits}`;
    if (shown.current === key) return;
    shown.current = key;
    requestAnimationFrame(showAll);
  }, [chosen, fits, empty, showAll]);

  // panels open and close around it: a drawing that was in view as a whole stays so
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      if (getGraph().fitted) requestAnimationFrame(showAll);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [showAll]);

  // a node that was added out of sight, or has grown out of it: all of the drawing comes into view
  const before = useRef<{ chosen: string | null; sizes: Map<string, number> } | null>(null);
  useEffect(() => {
    const sizes = new Map(canvas?.nodes.map((one) => [one.id, sizeOf(one).width * sizeOf(one).height]));
    const old = before.current;
    before.current = { chosen, sizes };
    if (old?.chosen !== chosen || !old.sizes.size) return;
    const changed = [...sizes].filter(([id, size]) => old.sizes.get(id) !== size).map(([id]) => id);
    const added = changed.filter((id) => !old.sizes.has(id));
    // one that grows moves its neighbours
    const watched = changed.length && getGraph().fitted ? [...sizes.keys()] : added;
    if (!watched.length) return;
    // the nodes are placed in the frame after this one
    const timer = setTimeout(() => {
      const room = box.current?.getBoundingClientRect();
      const hidden = watched.some((id) => {
        const node = box.current?.querySelector(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
        const at = node?.getBoundingClientRect();
        return room && at && !isInside(at, room);
      });
      if (hidden) showAll();
    }, 60);
    return () => clearTimeout(timer);
  }, [canvas, chosen, showAll]);

  // a problem was chosen: its node is shown and takes the focus
  useEffect(() => {
    if (!wanted || !canvas || !nodeOf(canvas, wanted)) return;
    set({ node: null });
    setGraph({ selected: [wanted], link: null });
    requestAnimationFrame(() => focusNode(wanted));
  }, [wanted, canvas]);

  const onNodesChange = useCallback((changes: NodeChange<GraphNode>[]) => {
    const choices = changes.filter((one) => one.type === "select");
    if (choices.length) {
      const next = new Set(getGraph().selected);
      for (const one of choices) one.selected ? next.add(one.id) : next.delete(one.id);
      setGraph({ selected: [...next], link: null, row: null });
    }
    const others = changes.filter((one) => one.type === "position" || one.type === "dimensions");
    if (others.length) setNodes((old) => applyNodeChanges(others, old));
  }, []);

  const drop = (event: DragEvent) => {
    if (hasFiles(event)) return; // around the canvas
    event.preventDefault();
    setTarget(null);
    const { node, link: onLink, row } = below(event);
    const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const property = event.dataTransfer.getData(PROPERTY);
    if (property) return dropProperty(property, node, row);
    const id = event.dataTransfer.getData(TOOL);
    const tool = toolsOf([id.replace(/^Event:/, "")]).find((one) => one.id === id);
    if (tool) use(tool, { node, link: onLink, row, at: [at.x, at.y] });
    box.current?.querySelector<HTMLElement>(".react-flow__node.selected")?.focus({ preventScroll: true });
  };

  return (
    <section
      className={writable ? "graph-canvas" : "graph-canvas is-readonly"}
      data-testid="canvas"
      aria-label={t.canvas(chosen ?? "")}
      ref={box}
      onKeyDown={onKey}
      onFocus={(event) => {
        const id = (event.target as HTMLElement).closest<HTMLElement>(".react-flow__node")?.dataset.id;
        const now = getGraph().selected;
        if (id && !now.includes(id) && event.target.matches(":focus-visible"))
          setGraph({ selected: [id], link: null, row: null });
      }}
      onDragOver={(event) => {
        if (!writable || hasFiles(event)) return;
        event.preventDefault();
        const { node, link: onLink } = below(event);
        const next = node ?? (onLink ? `>${onLink}` : null);
        if (next !== target) setTarget(next);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as globalThis.Node | null)) setTarget(null);
      }}
      onDrop={drop}
    >
      <ReactFlow<GraphNode, GraphLink>
        nodes={
          target ? nodes.map((one) => (one.id === target ? { ...one, className: "is-target" } : one)) : nodes
        }
        edges={links.map((one) => (target === `>${one.source}` ? { ...one, className: "is-target" } : one))}
        nodeTypes={NODES}
        edgeTypes={LINKS}
        onNodesChange={onNodesChange}
        onEdgeClick={(_, one) => setGraph({ link: one.source, selected: [] })}
        onNodeDoubleClick={showFields}
        onMoveStart={(event) => {
          // moves by a program have no event
          if (event) setGraph({ fitted: false });
        }}
        onPaneClick={() => setGraph({ selected: [], link: null, row: null })}
        onNodeDragStop={(_, __, moved) => {
          const places = Object.fromEntries(
            moved.map((one) => [
              one.id,
              [Math.round(one.position.x), Math.round(one.position.y)] as [number, number],
            ]),
          );
          edit((now) => {
            const kept = frozen(now);
            const all = Object.fromEntries(kept.nodes.map((one) => [one.id, [one.x ?? 0, one.y ?? 0]]));
            return withPlaces(kept, { ...all, ...places } as Record<string, [number, number]>);
          });
        }}
        onConnect={(made: Connection) => {
          const why = canvas ? cannotLink(canvas, made.source, made.target) : null;
          if (why) say(t.cannotLink[why]);
          else connect(made.source, made.target);
        }}
        connectionMode={ConnectionMode.Strict}
        nodesDraggable={writable}
        nodesConnectable={writable}
        deleteKeyCode={null}
        selectionKeyCode="Shift"
        multiSelectionKeyCode={["Control", "Meta", "Shift"]}
        selectionMode={SelectionMode.Partial}
        panActivationKeyCode={null}
        disableKeyboardA11y
        zoomOnDoubleClick={false}
        minZoom={0.05}
        maxZoom={2}
        nodeClickDistance={4}
        colorMode={dark ? "dark" : "light"}
        connectionRadius={28}
        proOptions={{ hideAttribution: false }}
      >
        <Background gap={16} size={1} />
        {minimap ? (
          <MiniMap
            className="graph-map"
            style={MAP}
            pannable
            zoomable
            ariaLabel={t.minimap}
            nodeColor={(one) => (one as GraphNode).data.colour ?? "var(--line-strong)"}
          />
        ) : null}
      </ReactFlow>
    </section>
  );
}

/** A property of an event was dropped: on a row it is put at its end, on the complex event it is a column. */
function dropProperty(property: string, id: string | undefined, row: number | undefined) {
  const { canvas } = getGraph();
  const node = canvas && id ? nodeOf(canvas, id) : undefined;
  if (!node) return;
  if (node.kind === "ComplexEvent") {
    const value = row ? columnsOf(node)[row - 1]?.value : undefined;
    if (row && value !== undefined) setRowText(node.id, "columns", row - 1, `${value} ${property}`.trim());
    else addColumn(property);
  } else if (node.kind === "Event") {
    const rows = conditionsOf(node);
    const at = row ? row - 1 : rows.length;
    setRowText(node.id, "conditions", at, `${rows[at] ?? ""} ${property}`.trim());
  }
}

/** The focus goes to a node, which is scrolled to if it is out of sight. */
export function focusNode(id: string) {
  document
    .querySelector<HTMLElement>(`.graph-canvas .react-flow__node[data-id="${CSS.escape(id)}"]`)
    ?.focus({ preventScroll: true });
}

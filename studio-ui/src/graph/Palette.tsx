/** The tools of patterns, in groups, with a filter: clicked, entered or dragged onto the drawing. */
import { useMemo, useState } from "react";
import { Swatch } from "../frame/Outline";
import { typeColour } from "../parts/colours";
import { matches } from "../state/matching";
import { typeOrder, useStudio } from "../state/store";
import { texts } from "../texts";
import { typesOf, useKnown } from "./known";
import { TypeIcon } from "./NodeView";
import { useGraph } from "./state";
import { KindSymbol } from "./symbols";
import { type Group, TOOL, type Tool, toolsOf, use, whyNot } from "./tools";

const t = texts.graph;
const GROUPS = Object.keys(t.groups) as Group[];
/** More types than these are found by the filter. */
const SHOWN = 200;

export function Palette() {
  const outline = useStudio((state) => state.check.outline);
  const icons = useStudio((state) => state.project.icons);
  const events = useKnown((state) => state.events);
  const own = useGraph((state) => state.canvas?.head.into ?? null);
  const [filter, setFilter] = useState("");
  const tools = useMemo(() => toolsOf(typesOf(outline, events, own)), [outline, events, own]);
  const found = useMemo(() => {
    const named = tools.map((tool) => ({ tool, name: tool.label }));
    return filter ? matches(named, filter).map(({ tool }) => tool) : tools;
  }, [tools, filter]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the order follows the outline
  const order = useMemo(() => typeOrder(useStudio.getState()), [outline]);
  const group = (name: Group) => {
    const own = found.filter((tool) => tool.group === name);
    if (!own.length) return null;
    return (
      <div key={name} className="palette-group">
        <h3>{t.groups[name]}</h3>
        {own.slice(0, SHOWN).map((tool) => (
          <ToolButton
            key={tool.id}
            tool={tool}
            colour={tool.type ? typeColour(tool.type, order) : null}
            icon={(tool.type && icons?.[tool.type]) || null}
          />
        ))}
        {own.length > SHOWN ? <p className="dim">{texts.problems.more(own.length - SHOWN)}</p> : null}
      </div>
    );
  };
  return (
    <section className="palette" aria-label={t.palette}>
      <input
        className="input palette-filter"
        aria-label={t.filter}
        placeholder={t.filter}
        value={filter}
        spellCheck={false}
        onChange={(event) => setFilter(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") setFilter("");
          const [first] = found;
          if (event.key === "Enter" && filter && first) use(first);
        }}
      />
      {/* types stay in sight: a pattern takes them again and again */}
      <div className="palette-events">{group("events")}</div>
      <div className="palette-groups">
        {GROUPS.filter((one) => one !== "events").map(group)}
        {found.length === 0 ? <p className="palette-none dim">{t.noTools}</p> : null}
      </div>
    </section>
  );
}

function ToolButton({
  tool,
  colour,
  icon,
}: {
  tool: Tool;
  colour: string | null;
  icon: Parameters<typeof TypeIcon>[0]["icon"] | null;
}) {
  // a tool of conditions can be dragged onto an event that is not selected
  const why = useGraph((state) =>
    tool.group === "conditions" && state.canvas ? null : whyNot(tool, state.canvas, state.selected),
  );
  return (
    <button
      type="button"
      className={colour ? "tool tool-event" : "tool"}
      data-testid={`tool-${tool.id}`}
      aria-disabled={why !== null || undefined}
      aria-description={why ?? undefined}
      title={why ?? tool.label}
      draggable={why === null}
      onDragStart={(event) => {
        event.dataTransfer.setData(TOOL, tool.id);
        event.dataTransfer.effectAllowed = "copy";
      }}
      onClick={() => use(tool)}
    >
      {icon ? (
        <TypeIcon icon={icon} />
      ) : colour ? (
        <Swatch colour={colour} />
      ) : (
        <KindSymbol kind={tool.kind} />
      )}
      <span className="tool-name">{tool.label}</span>
      {tool.sign && tool.kind !== "Value" ? <code className="tool-sign">{tool.sign}</code> : null}
    </button>
  );
}

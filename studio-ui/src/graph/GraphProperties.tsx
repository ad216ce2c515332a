/** Properties of the selected node, or of the statement if none is selected. */
import { ArrowDown, ArrowUp, Plus, X } from "lucide-react";
import { type DragEvent, useMemo } from "react";
import type { Canvas, CanvasNode, Problem } from "../api/types";
import { Button, IconButton } from "../parts/Button";
import { Empty } from "../parts/Empty";
import { say } from "../state/actions";
import { useStudio } from "../state/store";
import { texts } from "../texts";
import { ConditionChoices } from "./ConditionChoices";
import { namesFor } from "./completing";
import { withTag } from "./epl";
import { Choice, Field, Section, Wrong } from "./Fields";
import { attributesOf, typesOf, useKnown } from "./known";
import {
  type Column,
  cannotLink,
  columnsOf,
  conditionsOf,
  infoOf,
  linked,
  nodeOf,
  operandsOf,
  textOfField,
  unlinked,
  userOf,
  withField,
  withHead,
  withRow,
} from "./model";
import { edit } from "./session";
import { faultsOf, setGraph, useGraph } from "./state";
import { KindSymbol } from "./symbols";
import { addColumn, nameFor, PROPERTY } from "./tools";

const t = texts.graph;
const f = t.fields;

export default function GraphProperties() {
  const canvas = useGraph((state) => state.canvas);
  const selected = useGraph((state) => state.selected);
  const state = useGraph();
  const faults = useMemo(() => faultsOf(state), [state]);
  const readOnly = useStudio((s) => !(s.active && s.buffers[s.active]?.writable));
  if (!canvas) return <Empty title={t.nothing} text={t.nothingText} />;
  if (selected.length > 1) return <Empty title={t.several(selected.length)} text={t.severalText} />;
  const one = nodeOf(canvas, selected[0] ?? "");
  return one ? (
    <NodeFields key={one.kind} canvas={canvas} one={one} faults={faults} readOnly={readOnly} />
  ) : (
    <HeadFields canvas={canvas} faults={faults} readOnly={readOnly} />
  );
}

interface Common {
  canvas: Canvas;
  faults: readonly Problem[];
  readOnly: boolean;
}

/** A field holds null if it is empty. */
const orNull = (text: string) => text.trim() || null;

/** A whole number, or the text as it is: the check says what is wrong with it. */
function numberOf(text: string): number | string | null {
  const plain = text.trim();
  if (!plain) return null;
  return /^-?\d+$/.test(plain) ? Number(plain) : plain;
}

function HeadFields({ canvas, faults, readOnly }: Common) {
  const { head } = canvas;
  const own = faults.filter((one) => one.node === null);
  const change = (next: Parameters<typeof withHead>[1]) => edit((now) => withHead(now, next));
  return (
    <div className="graph-fields">
      <Wrong problems={own} />
      <Field
        label={f.Name}
        value={head.name ?? ""}
        readOnly={readOnly}
        onValue={(v) => change({ name: orNull(v) })}
      />
      <Field
        label={f.Description}
        value={head.description ?? ""}
        readOnly={readOnly}
        onValue={(v) => change({ description: orNull(v) })}
      />
      <Field
        label={f.Priority}
        value={head.priority === null ? "" : String(head.priority)}
        readOnly={readOnly}
        onValue={(v) => change({ priority: numberOf(v) })}
      />
      <Field
        label={f.into}
        value={head.into ?? ""}
        readOnly={readOnly}
        onValue={(v) => change({ into: orNull(v) })}
      />
      <Field
        label={f.Where}
        mono
        value={head.where ?? ""}
        readOnly={readOnly}
        onValue={(v) => change({ where: orNull(v) })}
      />
      {head.tags.map((tag, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: tags have no other name
        <div key={i} className="graph-pair">
          <Field
            plain
            label={f.tagName(i + 1)}
            value={tag.name}
            readOnly={readOnly}
            onValue={(name) => change({ tags: withRow(head.tags, i, { ...tag, name }) })}
          />
          <Field
            plain
            label={f.tagValue(i + 1)}
            value={tag.value}
            readOnly={readOnly}
            onValue={(value) => change({ tags: withRow(head.tags, i, { ...tag, value }) })}
            onRemove={{
              name: f.removeTag(i + 1),
              act: () => change({ tags: withRow(head.tags, i, undefined) }),
            }}
          />
        </div>
      ))}
      {(["suppress", "discard"] as const).map((name) => (
        <label key={name} className="graph-check">
          <input
            type="checkbox"
            checked={head[name]}
            disabled={readOnly}
            onChange={(event) => change({ [name]: event.target.checked })}
          />
          {f[name]}
        </label>
      ))}
      {readOnly ? null : (
        <Add name={f.addTag} act={() => change({ tags: [...head.tags, { name: "name", value: "value" }] })} />
      )}
    </div>
  );
}

function Add({ name, act }: { name: string; act: () => void }) {
  return (
    <Button kind="quiet" onPress={act}>
      <Plus size={14} aria-hidden />
      {name}
    </Button>
  );
}

function NodeFields({ canvas, one, faults, readOnly }: Common & { one: CanvasNode }) {
  const own = faults.filter((fault) => fault.node === one.id);
  const set = (name: string, value: unknown) => edit((now) => withField(now, one.id, name, value));
  const row = (n: number) => own.filter((fault) => fault.row === n);
  const general = own.filter((fault) => fault.row === null);
  const text = (label: string, name: string, mono = true) => (
    <Field
      label={label}
      mono={mono}
      value={textOfField(one, name)}
      readOnly={readOnly}
      onValue={(value) => set(name, value)}
    />
  );
  const optional = (label: string, name: string) => (
    <Field
      label={label}
      mono
      value={textOfField(one, name)}
      readOnly={readOnly}
      onValue={(value) => set(name, orNull(value))}
    />
  );
  const number = (label: string, name: string) => (
    <Field
      label={label}
      value={textOfField(one, name)}
      readOnly={readOnly}
      placeholder={f.number}
      onValue={(value) => set(name, numberOf(value))}
    />
  );
  const fields = () => {
    switch (one.kind) {
      case "Event":
        return <EventFields canvas={canvas} one={one} row={row} readOnly={readOnly} set={set} />;
      case "ComplexEvent":
        return <ColumnFields canvas={canvas} one={one} row={row} readOnly={readOnly} set={set} />;
      case "EveryDistinct": {
        const keys = (one.fields.keys as string[] | undefined) ?? [];
        return (
          <>
            {keys.map((key, i) => (
              <Field
                // biome-ignore lint/suspicious/noArrayIndexKey: keys have no other name
                key={i}
                label={f.key(i + 1)}
                mono
                value={key}
                readOnly={readOnly}
                problems={row(i + 1)}
                onValue={(value) => set("keys", withRow(keys, i, value))}
                onRemove={{ name: f.removeKey(i + 1), act: () => set("keys", withRow(keys, i, undefined)) }}
              />
            ))}
            {readOnly ? null : <Add name={f.addKey} act={() => set("keys", [...keys, ""])} />}
            {optional(f.Expiry, "expiry")}
          </>
        );
      }
      case "FollowedBy": {
        const limits = (one.fields.limits as (number | null)[] | undefined) ?? [];
        return limits.map((limit, i) => (
          <Field
            // biome-ignore lint/suspicious/noArrayIndexKey: arrows have no other name
            key={i}
            label={f.limit(i + 1)}
            value={limit === null ? "" : String(limit)}
            readOnly={readOnly}
            problems={row(i + 1)}
            placeholder={f.number}
            onValue={(value) => set("limits", withRow<unknown>(limits, i, numberOf(value)))}
          />
        ));
      }
      case "Repeat":
        return number(f.Count, "count");
      case "Until":
        return (
          <>
            {number(f.Low, "low")}
            {number(f.High, "high")}
          </>
        );
      case "While":
        return text(f.Condition, "condition");
      case "Within":
        return (
          <>
            {text(f.Duration, "duration")}
            {number(f.Count, "count")}
          </>
        );
      case "TimeInterval":
        return text(f.Duration, "duration");
      case "TimeSchedule":
        return (
          <>
            {(["minute", "hour", "dayOfMonth", "month", "dayOfWeek"] as const).map((name) => (
              <div key={name}>{text(f[name], name)}</div>
            ))}
            {optional(f.second, "second")}
          </>
        );
      case "Text":
        return (
          <Field
            label={f.Text}
            mono
            lines={8}
            value={textOfField(one, "text")}
            readOnly={readOnly}
            onValue={(value) => set("text", value)}
          />
        );
      default:
        return null;
    }
  };
  return (
    <div className="graph-fields">
      <p className="graph-what">
        <KindSymbol kind={one.kind} />
        <span>{t.kinds[one.kind] ?? one.kind}</span>
        <code>{one.id}</code>
      </p>
      <Wrong problems={general} />
      {fields()}
      {one.kind === "ComplexEvent" || one.kind === "Text" ? null : (
        <LinkFields canvas={canvas} one={one} readOnly={readOnly} />
      )}
      {infoOf(one.kind).most > 0 ? <Operands canvas={canvas} one={one} readOnly={readOnly} /> : null}
    </div>
  );
}

interface RowsProps {
  canvas: Canvas;
  one: CanvasNode;
  row: (n: number) => Problem[];
  readOnly: boolean;
  set: (name: string, value: unknown) => void;
}

function EventFields({ canvas, one, row, readOnly, set }: RowsProps) {
  const outline = useStudio((state) => state.check.outline);
  const events = useKnown((state) => state.events);
  const types = useMemo(
    () => typesOf(outline, events, canvas.head.into),
    [outline, events, canvas.head.into],
  );
  const conditions = conditionsOf(one);
  const names = useMemo(() => namesFor(canvas, one), [canvas, one]);
  return (
    <>
      <Choice
        label={f.Type}
        value={textOfField(one, "typeName")}
        choices={types}
        readOnly={readOnly}
        onValue={(value) => set("typeName", value)}
      />
      <Field
        label={f.Tag}
        mono
        value={textOfField(one, "tag")}
        readOnly={readOnly}
        onValue={(value) => edit((now) => withTag(now, one.id, orNull(value)))}
      />
      {conditions.map((text, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no other name
        <div key={i} className="graph-row">
          <Field
            label={f.condition(i + 1)}
            mono
            value={text}
            readOnly={readOnly}
            problems={row(i + 1)}
            names={names}
            onFocus={() => setGraph({ row: { field: "conditions", at: i } })}
            onValue={(value) => set("conditions", withRow(conditions, i, value))}
            onRemove={{
              name: f.removeCondition(i + 1),
              act: () => set("conditions", withRow(conditions, i, undefined)),
            }}
          />
          {readOnly ? null : (
            <ConditionChoices
              canvas={canvas}
              one={one}
              n={i + 1}
              text={text}
              onText={(value) => set("conditions", withRow(conditions, i, value))}
            />
          )}
        </div>
      ))}
      {readOnly ? null : <Add name={f.addCondition} act={() => set("conditions", [...conditions, ""])} />}
      <Attributes one={one} readOnly={readOnly} />
      <Field
        label={f.Consume}
        value={Number(one.fields.consume) === 0 ? "" : textOfField(one, "consume")}
        readOnly={readOnly}
        placeholder={f.none}
        onValue={(value) => set("consume", numberOf(value) ?? 0)}
      />
    </>
  );
}

/** The attributes of an event: dragged onto a row or the complex event, or used by a click. */
function Attributes({ one, readOnly }: { one: CanvasNode; readOnly: boolean }) {
  const attributes = attributesOf(textOfField(one, "typeName"));
  const tag = textOfField(one, "tag");
  if (!attributes.length) return null;
  return (
    <Section title={f.attributes}>
      <div className="graph-chips">
        {attributes.map(({ name, type }) => {
          const text = tag ? `${tag}.${name}` : name;
          return (
            <button
              key={name}
              type="button"
              className="graph-chip"
              draggable={!readOnly}
              disabled={readOnly}
              aria-label={f.takeAttribute(text, type)}
              title={f.takeAttribute(text, type)}
              onDragStart={(event: DragEvent) => event.dataTransfer.setData(PROPERTY, text)}
              onClick={() => addColumn(text)}
            >
              {name} {type ? <span className="dim">{type}</span> : null}
            </button>
          );
        })}
      </div>
    </Section>
  );
}

function ColumnFields({ canvas, one, row, readOnly, set }: RowsProps) {
  const names = useMemo(() => namesFor(canvas, null), [canvas]);
  const columns = columnsOf(one);
  const change = (i: number, column: Column | undefined) => set("columns", withRow(columns, i, column));
  return (
    <>
      <Field
        label={f.Type}
        value={textOfField(one, "typeName")}
        readOnly={readOnly}
        onValue={(value) => set("typeName", orNull(value))}
      />
      {columns.map((column, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: columns may have no name
        <div key={i} className="graph-column">
          <Field
            label={f.columnName(i + 1)}
            mono
            value={column.name ?? ""}
            readOnly={readOnly}
            onValue={(name) => change(i, { ...column, name: orNull(name) })}
          />
          <Field
            label={f.columnValue(i + 1)}
            mono
            value={column.value}
            readOnly={readOnly}
            problems={row(i + 1)}
            names={names}
            onFocus={() => setGraph({ row: { field: "columns", at: i } })}
            onValue={(value) => {
              const isAll = /^\s*(\*|.*\.\s*\*)\s*$/.test(value);
              const name = isAll ? null : column.name;
              change(i, { name: name ?? (isAll || column.value ? name : nameFor(one, value)), value });
            }}
            onRemove={{ name: f.removeColumn(i + 1), act: () => change(i, undefined) }}
          />
        </div>
      ))}
      {readOnly ? null : (
        <Add name={f.addColumn} act={() => set("columns", [...columns, { name: null, value: "" }])} />
      )}
    </>
  );
}

/** Whose operand a node is, and at which place. */
function LinkFields({ canvas, one, readOnly }: { canvas: Canvas; one: CanvasNode; readOnly: boolean }) {
  const link = userOf(canvas, one.id);
  const operators = canvas.nodes
    .filter((node) => cannotLink(canvas, one.id, node.id) === null)
    .map((node) => node.id);
  return (
    <div className="graph-section">
      <Choice
        label={f.operandOf}
        value={link?.to ?? ""}
        choices={operators}
        empty={f.none}
        readOnly={readOnly}
        onValue={(to) => edit((now) => (to ? linked(now, one.id, to) : unlinked(now, one.id)))}
      />
      {link ? (
        <Field
          label={f.order}
          value={String(link.order)}
          readOnly={readOnly}
          onValue={(value) => {
            const order = numberOf(value);
            if (typeof order === "number") edit((now) => linked(now, one.id, link.to, order));
            else say(f.number);
          }}
        />
      ) : null}
    </div>
  );
}

/** The operands of a node in their order. */
function Operands({ canvas, one, readOnly }: { canvas: Canvas; one: CanvasNode; readOnly: boolean }) {
  const links = operandsOf(canvas, one.id);
  if (!links.length) return null;
  const move = (id: string, order: number) => edit((now) => linked(now, id, one.id, order));
  return (
    <Section title={f.operands}>
      <ol className="graph-operands">
        {links.map(({ from }, i) => (
          <li key={from}>
            <span className="number">{i + 1}</span>
            <button type="button" className="link" onClick={() => setGraph({ selected: [from], link: null })}>
              {from}
            </button>
            <span className="spring" />
            {readOnly ? null : (
              <>
                <IconButton name={f.up(from)} isDisabled={i === 0} onPress={() => move(from, i)}>
                  <ArrowUp size={13} aria-hidden />
                </IconButton>
                <IconButton
                  name={f.down(from)}
                  isDisabled={i === links.length - 1}
                  onPress={() => move(from, i + 2)}
                >
                  <ArrowDown size={13} aria-hidden />
                </IconButton>
                <IconButton name={f.remove(from)} onPress={() => edit((now) => unlinked(now, from))}>
                  <X size={13} aria-hidden />
                </IconButton>
              </>
            )}
          </li>
        ))}
      </ol>
    </Section>
  );
}

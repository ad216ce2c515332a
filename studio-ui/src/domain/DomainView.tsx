/** The event types of the program: those of the open EPL file are edited here, the others are shown with their place. */
import { Plus, ScanSearch, TriangleAlert, X } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Problem } from "../api/types";
import { Swatch } from "../frame/Outline";
import { Field } from "../graph/Fields";
import { type Attribute, lookIntoEvents, useKnown } from "../graph/known";
import { TypeIcon } from "../graph/NodeView";
import { begin } from "../graph/session";
import { useGraph } from "../graph/state";
import { Button, IconButton } from "../parts/Button";
import { typeColour } from "../parts/colours";
import { Dialog } from "../parts/Dialog";
import { Empty, Skeleton } from "../parts/Empty";
import { goTo, goToDefinition, say } from "../state/actions";
import { typeOrder, useStudio } from "../state/store";
import { texts } from "../texts";
import "../graph/graph.css";
import "./domain.css";
import { change, setIcon } from "./edits";
import { differences, type EventType, freeName, TYPES, typesOf } from "./model";

const t = texts.domain;
const COLOURS = "red orange amber lime green teal cyan blue indigo violet pink grey".split(" ");
const IMAGES = /\.(png|jpe?g|svg)$/i;

export default function DomainView() {
  const ready = useStudio((state) => state.ready);
  const active = useStudio((state) => state.active);
  const checked = useStudio((state) => state.check.outline);
  const events = useKnown((state) => state.events);
  const path = useGraph((state) => state.path);
  const statements = useGraph((state) => state.statements);
  const writable = useStudio((state) => Boolean(state.active && state.buffers[state.active]?.writable));
  const [wrong, setWrong] = useState<{ at: string; problems: Problem[] } | null>(null);
  const [detecting, setDetecting] = useState(false);
  useEffect(begin, []);
  useEffect(() => void lookIntoEvents(), []);
  const isEpl = active?.toLowerCase().endsWith(".epl") ?? false;
  const own = isEpl && path === active;
  const types = useMemo(
    () => typesOf(own ? statements : [], checked, events),
    [own, statements, checked, events],
  );
  const focus = useRef<string | null>(null);
  // a new type or attribute is named next
  useEffect(() => {
    if (!focus.current || !types.length) return;
    const field = document.querySelector<HTMLInputElement>(
      `input[aria-label="${CSS.escape(focus.current)}"]`,
    );
    if (!field) return;
    focus.current = null;
    field.focus();
    field.select();
  }, [types]);
  if (!ready) return <Skeleton rows={8} />;

  const act = async (at: string, ...changes: Parameters<typeof change>) => {
    const problems = await change(...changes);
    setWrong(problems && { at, problems });
    if (problems?.[0]) say(problems[0].message);
    return problems === null;
  };
  const edits = own && writable;
  const why = !isEpl ? t.needsEpl : writable ? undefined : texts.graph.readOnly;

  const addType = () => {
    const name = freeName(
      types.map((one) => one.name),
      "Type",
    );
    focus.current = t.nameOf(name);
    void act("", { op: "add-type", type: name });
  };

  return (
    <div className="domain">
      <div className="graph-bar domain-bar">
        <Button kind="quiet" onPress={addType} {...(why && { why })}>
          <Plus size={14} aria-hidden />
          {t.newType}
        </Button>
        <Button kind="quiet" onPress={() => setDetecting(true)} {...(why && { why })}>
          <ScanSearch size={14} aria-hidden />
          {t.detect}
        </Button>
        {wrong && !wrong.at ? <span className="is-error">{wrong.problems[0]?.message}</span> : null}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section className="domain-scroll" tabIndex={0} aria-label={t.title} data-empty={!types.length}>
        <table aria-label={t.table}>
          <thead>
            <tr>
              <th scope="col">{t.type}</th>
              <th scope="col">{t.attributes}</th>
              <th scope="col">{t.icon}</th>
              <th scope="col">{t.defined}</th>
              <th scope="col">{t.read}</th>
            </tr>
          </thead>
          <tbody>
            {types.map((one) => (
              <TypeRow
                key={one.name}
                one={one}
                edits={edits && one.editable}
                wrong={wrong}
                act={act}
                onNew={(name) => {
                  focus.current = name;
                }}
              />
            ))}
          </tbody>
        </table>
      </section>
      {types.length === 0 ? (
        <Empty title={t.none} text={t.noneText}>
          {edits ? (
            <>
              <Button kind="main" onPress={addType}>
                {t.firstType}
              </Button>
              <Button onPress={() => setDetecting(true)}>{t.firstTypes}</Button>
            </>
          ) : null}
        </Empty>
      ) : null}
      {detecting ? <Detect types={types} onClose={() => setDetecting(false)} /> : null}
    </div>
  );
}

interface RowProps {
  one: EventType;
  edits: boolean;
  wrong: { at: string; problems: Problem[] } | null;
  act: (at: string, ...changes: Parameters<typeof change>) => Promise<boolean>;
  /** the field that is to be filled in next */
  onNew: (name: string) => void;
}

function TypeRow({ one, edits, wrong, act, onNew }: RowProps) {
  const order = typeOrder(useStudio.getState());
  const icon = useStudio((state) => state.project.icons?.[one.name]) ?? null;
  const problems = (at: string) => (wrong?.at === at ? wrong.problems : []);
  const add = () => {
    const attribute = freeName(
      one.attributes.map(({ name }) => name),
      "attribute",
    );
    onNew(t.nameOf(`${one.name}.${attribute}`));
    void act(one.name, { op: "add-attribute", type: one.name, attribute, to: "string" });
  };
  return (
    <tr data-testid={`type-${one.name}`} data-editable={edits}>
      <th scope="row">
        <div className="domain-name">
          {icon ? <TypeIcon icon={icon} /> : <Swatch colour={typeColour(one.name, order)} />}
          {edits ? (
            <Field
              plain
              label={t.nameOf(one.name)}
              value={one.name}
              problems={problems(one.name)}
              onValue={(to) => void act(one.name, { op: "rename-type", type: one.name, to: to.trim() })}
              onRemove={{
                name: t.remove(one.name),
                act: () => void act(one.name, { op: "remove-type", type: one.name }),
              }}
            />
          ) : (
            <span className="domain-fixed">{one.name}</span>
          )}
        </div>
      </th>
      <td>
        {one.attributes.map((attribute) => (
          <AttributeRow
            key={attribute.name}
            one={one}
            attribute={attribute}
            edits={edits}
            wrong={wrong}
            act={act}
          />
        ))}
        {edits && one.attributes.length === 0 ? (
          <p className="is-warning domain-note">
            <TriangleAlert size={12} aria-hidden /> {t.noAttribute}
          </p>
        ) : null}
        {!edits && one.attributes.length === 0 ? <p className="dim domain-note">{t.unknown}</p> : null}
        {edits ? (
          <Button kind="quiet" aria-label={t.addAttribute(one.name)} onPress={add}>
            <Plus size={13} aria-hidden />
            {t.add}
          </Button>
        ) : null}
      </td>
      <td>
        <IconFields name={one.name} icon={icon} />
      </td>
      <td>
        {one.defined.map(({ name, file, line }) => (
          <p key={`${file}:${name}`} className="domain-note">
            <button
              type="button"
              className="link"
              title={t.place(file, line)}
              onClick={() => void goTo({ path: file, line: line ?? 1, column: 1 })}
            >
              {name}
            </button>
            <span className="dim"> {t.place(file, line)}</span>
          </p>
        ))}
        {one.defined.length ? null : <p className="dim domain-note">{t.input}</p>}
      </td>
      <td>
        {one.read.map(({ name, file }) => (
          <p key={`${file}:${name}`} className="domain-note">
            <button type="button" className="link" title={file} onClick={() => void goToDefinition(name)}>
              {name}
            </button>
          </p>
        ))}
      </td>
    </tr>
  );
}

function AttributeRow({
  one,
  attribute,
  edits,
  wrong,
  act,
}: Omit<RowProps, "onNew"> & { attribute: Attribute }) {
  const full = `${one.name}.${attribute.name}`;
  if (!edits)
    return (
      <p className="domain-attribute">
        <code>{attribute.name}</code>
        <span className="dim">{attribute.type ?? ""}</span>
      </p>
    );
  const of = { type: one.name, attribute: attribute.name };
  const type = attribute.type ?? "";
  const all = !type || (TYPES as readonly string[]).includes(type) ? TYPES : [type, ...TYPES];
  return (
    <div className="domain-attribute">
      <Field
        plain
        mono
        label={t.nameOf(full)}
        value={attribute.name}
        problems={wrong?.at === full ? wrong.problems : []}
        onValue={(to) => void act(full, { op: "rename-attribute", ...of, to: to.trim() })}
      />
      <select
        aria-label={t.typeOf(full)}
        className="select"
        value={type}
        onChange={(event) => void act(full, { op: "retype-attribute", ...of, to: event.target.value })}
      >
        {type ? null : <option value="" />}
        {all.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <IconButton name={t.remove(full)} onPress={() => void act(full, { op: "remove-attribute", ...of })}>
        <X size={13} aria-hidden />
      </IconButton>
    </div>
  );
}

/** One character in a colour, or an image of the directory. */
function IconFields({ name, icon }: { name: string; icon: Parameters<typeof TypeIcon>[0]["icon"] | null }) {
  const images = useStudio((state) => state.files).filter((file) => IMAGES.test(file.path));
  return (
    <div className="domain-icon">
      <Field
        plain
        label={t.iconOf(name)}
        value={icon?.character ?? ""}
        placeholder={t.character}
        onValue={(text) => {
          const [character] = new Intl.Segmenter().segment(text.trim());
          setIcon(name, character ? { character: character.segment, colour: icon?.colour ?? "teal" } : null);
        }}
      />
      {icon?.character ? (
        <select
          aria-label={t.colourOf(name)}
          className="select"
          value={icon.colour ?? "grey"}
          onChange={(event) => setIcon(name, { ...icon, colour: event.target.value })}
        >
          {COLOURS.map((colour) => (
            <option key={colour} value={colour}>
              {colour}
            </option>
          ))}
        </select>
      ) : images.length ? (
        <select
          aria-label={t.imageOf(name)}
          className="select"
          value={icon?.image ?? ""}
          onChange={(event) => setIcon(name, event.target.value ? { image: event.target.value } : null)}
        >
          <option value="">{t.noImage}</option>
          {images.map((file) => (
            <option key={file.path} value={file.path}>
              {file.path}
            </option>
          ))}
        </select>
      ) : null}
    </div>
  );
}

/** What the events have that the file does not declare; it is written after asking. */
function Detect({ types, onClose }: { types: readonly EventType[]; onClose: () => void }) {
  const events = useKnown((state) => state.events);
  const found = differences(types, events);
  const [problems, setProblems] = useState<Problem[]>([]);
  const write = async () => {
    const wrong = await change(...found.map((one) => one.change));
    if (wrong) return setProblems(wrong);
    onClose();
    say(t.detected(found.length));
  };
  const shown = found.filter(({ text }) => text[1] !== "");
  return (
    <Dialog
      title={t.detect}
      open
      onClose={onClose}
      buttons={
        <>
          <Button onPress={onClose} autoFocus={!found.length}>
            {texts.graph.cancel}
          </Button>
          {found.length ? (
            <Button kind="main" autoFocus onPress={() => void write()}>
              {t.write}
            </Button>
          ) : null}
        </>
      }
    >
      {found.length ? <p>{t.detectText}</p> : <p>{Object.keys(events).length ? t.same : t.noEvents}</p>}
      <ul className="domain-differences">
        {shown.map(({ text: [type, attribute, was, now] }) => (
          <li key={`${type}.${attribute}`}>
            <span className="domain-sign">{was === null ? "+" : "~"}</span>
            <code>{attribute ? `${type}.${attribute}` : type}</code>
            <span className="dim">{was === null ? now : t.retyped(was, now)}</span>
          </li>
        ))}
      </ul>
      {problems.map((one) => (
        <p key={one.message} className="is-error">
          {one.message}
        </p>
      ))}
    </Dialog>
  );
}

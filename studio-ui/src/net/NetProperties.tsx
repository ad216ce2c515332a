/** The chosen place or transition: tokens, guard, arcs, bindings, its breakpoint; of a net file its texts can be changed. */
import { ArrowRight } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import type { NetArc, NetChange, NetOrigin, NetPlace, NetTransition } from "../api/schema";
import { Button } from "../parts/Button";
import { Linked } from "../parts/Linked";
import { useStudio } from "../state/store";
import { grouped, texts } from "../texts";
import { edit, fire, goToOrigin, saveAsFile, setBreak, showElement, sourceOf, whyFixed } from "./actions";
import { bindingText, NO_TOKENS } from "./log";
import { useNet } from "./state";
import "./net.css";

const t = texts.net;

export default function NetProperties() {
  const selected = useNet((state) => state.selected);
  const place = useNet((state) => state.elements.places.get(selected ?? ""));
  const transition = useNet((state) => state.elements.transitions.get(selected ?? ""));
  if (place) return <Place key={place.name} place={place} />;
  if (transition) return <Transition key={transition.name} transition={transition} />;
  return <Summary />;
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="field">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Summary() {
  const net = useNet((state) => state.net);
  const places = useNet((state) => state.elements.places.size);
  const transitions = useNet((state) => state.elements.transitions.size);
  const source = useNet((state) => state.source);
  const id = useNet((state) => state.id);
  if (!net) return null;
  return (
    <>
      <dl className="fields">
        <Row name={t.net}>{source || net.name}</Row>
        <Row name={t.pages}>{grouped(net.pages.length)}</Row>
        <Row name={t.places}>{grouped(places)}</Row>
        <Row name={t.transitions}>{grouped(transitions)}</Row>
      </dl>
      <p className="dim net-note">{t.nothingChosen}</p>
      {source ? null : (
        <div className="net-note">
          <Button isDisabled={!id} onPress={() => void saveAsFile()}>
            {t.asFile}
          </Button>
          <p className="dim">{t.asFileText}</p>
        </div>
      )}
    </>
  );
}

function Origin({ origin }: { origin: NetOrigin | null }) {
  if (!origin) return null;
  return (
    <Row name={t.statement}>
      {origin.definition}
      {origin.file && origin.span ? (
        <Button kind="plain" onPress={() => goToOrigin(origin)}>
          {texts.side.go} <ArrowRight size={13} aria-hidden />
        </Button>
      ) : null}
    </Row>
  );
}

function Element({ name }: { name: string }) {
  return (
    <button type="button" className="link net-element" onClick={() => showElement(name)}>
      {name}
    </button>
  );
}

function useFixed(): string | null {
  const buffer = useStudio((state) => state.buffers[sourceOf(state)]);
  return useNet((state) => whyFixed(state, buffer));
}

/** A text of an element that can be changed: the change counts on Enter or when the field is left. */
function EditField(props: { name: string; text: string; change: Omit<NetChange, "text">; why?: string }) {
  const { name, text, change, why } = props;
  const [typed, setTyped] = useState<string | null>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const id = useId();
  const done = async () => {
    if (typed === null || busy) return;
    if (typed === text) return leave();
    setBusy(true);
    const found = await edit({ ...change, text: typed });
    setBusy(false);
    setWrong(found);
    if (!found) setTyped(null);
  };
  const leave = () => {
    setTyped(null);
    setWrong(null);
  };
  return (
    <>
      <input
        className="net-field net-edit mono"
        aria-label={name}
        aria-invalid={wrong ? true : undefined}
        aria-describedby={wrong ? id : undefined}
        spellCheck="false"
        autoComplete="off"
        disabled={why !== undefined}
        title={why}
        value={typed ?? text}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => void done()}
        onKeyDown={(event) => {
          if (event.key === "Enter") void done();
          if (event.key === "Escape") leave();
        }}
      />
      {wrong ? (
        <p id={id} className="field-error">
          <Linked text={wrong} />
        </p>
      ) : null}
    </>
  );
}

/** The initial tokens as CPN ML writes them; null if not all of them are known here. */
function initialText({ initial }: NetPlace): string | null {
  if (initial.more) return null;
  return initial.tokens.map(({ value, count }) => `${count}\`${value}`).join("++");
}

function arcsOf(pages: readonly { arcs: NetArc[] }[] | undefined, name: string): NetArc[] {
  return (pages ?? []).flatMap(({ arcs }) =>
    arcs.filter((arc) => arc.place === name || arc.transition === name),
  );
}

function Arcs({ of }: { of: NetPlace | NetTransition }) {
  const pages = useNet((state) => state.net?.pages);
  const arcs = arcsOf(pages, of.name);
  const fixed = useFixed();
  if (!arcs.length) return null;
  return (
    <Row name={t.arcs}>
      <ul className="net-arcs">
        {arcs.map((arc, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: arcs have no names
          <li key={i}>
            <span
              className="dim"
              title={arc.into ? (arc.out ? t.both(arc.place) : t.takes(arc.place)) : t.gives(arc.place)}
            >
              {arc.into === arc.out ? "↔" : arc.into === (arc.transition === of.name) ? "←" : "→"}
            </span>{" "}
            <Element name={arc.place === of.name ? arc.transition : arc.place} />{" "}
            {fixed === null ? (
              <EditField
                name={t.inscription(arc.place, arc.into, arc.out)}
                text={arc.text}
                change={{
                  what: "arc",
                  element: arc.transition,
                  place: arc.place,
                  into: arc.into && arc.out ? null : arc.into,
                }}
              />
            ) : (
              <span className="mono dim">{arc.text || t.noText}</span>
            )}
          </li>
        ))}
      </ul>
    </Row>
  );
}

function Place({ place }: { place: NetPlace }) {
  const { name, colour, role, fusion, holder, initial, origin } = place;
  const tokens = useNet((state) => state.marking[holder]) ?? NO_TOKENS;
  const places = useNet((state) => state.elements.places);
  const stop = useNet((state) => state.breaks.places[name]);
  const fixed = useFixed();
  const text = initialText(place);
  const fused =
    fusion === null ? [] : [...places.values()].filter((one) => one.fusion === fusion && one.name !== name);
  return (
    <>
      <dl className="fields">
        <Row name={t.place}>
          <b>{name}</b>
        </Row>
        <Row name={t.colour}>{colour}</Row>
        {role ? <Row name={t.role}>{role}</Row> : null}
        {fusion ? (
          <Row name={t.fusion}>
            <span className="dim">{fusion}</span>
            {fused.map((one) => (
              <Element key={one.name} name={one.name} />
            ))}
          </Row>
        ) : null}
        {fixed === null ? (
          <Row name={t.initial}>
            <EditField
              name={t.initial}
              text={text ?? ""}
              change={{ element: name, what: "initial", place: null, into: null }}
              {...(text === null && { why: t.tooManyTokens })}
            />
          </Row>
        ) : null}
        <Origin origin={origin} />
        <Arcs of={place} />
        <Row name={t.breaks}>
          <BreakAtPlace name={name} stop={stop} />
        </Row>
      </dl>
      <h3 className="net-head">
        {t.tokensTitle} <span className="panel-count">{grouped(tokens.count)}</span>
      </h3>
      <ul className="net-token-list" aria-label={t.tokensTitle}>
        {tokens.tokens.map(({ value, count }) => (
          <li key={value}>
            <span className="number dim">{grouped(count)}</span> <span className="mono">{value}</span>
          </li>
        ))}
      </ul>
      {tokens.more ? <p className="dim net-note">{t.moreTokens(tokens.more)}</p> : null}
      {initial.count && initial.count !== tokens.count ? (
        <p className="dim net-note">
          {t.initial}: {grouped(initial.count)}
        </p>
      ) : null}
    </>
  );
}

function BreakAtPlace({ name, stop }: { name: string; stop: number | undefined }) {
  const [text, setText] = useState(String(stop ?? 1));
  const number = Number(text);
  const right = text.trim() !== "" && Number.isInteger(number) && number >= 0;
  const take = () => {
    if (right && stop !== undefined) setBreak(name, true, number);
  };
  return (
    <>
      <label className="net-check">
        <input
          type="checkbox"
          checked={stop !== undefined}
          onChange={(event) => setBreak(name, event.target.checked, right ? number : 1)}
        />
        {t.stopOnTokens}
      </label>
      {stop === undefined ? null : (
        <input
          className="net-field net-number"
          aria-label={t.tokenCount}
          aria-invalid={!right || undefined}
          inputMode="numeric"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onBlur={take}
          onKeyDown={(event) => event.key === "Enter" && take()}
        />
      )}
    </>
  );
}

function Transition({ transition }: { transition: NetTransition }) {
  const { name, guard, urgency, priority, black, origin } = transition;
  const choice = useNet((state) => state.enabled[name]);
  const stop = useNet((state) => state.breaks.transitions.includes(name));
  const fixed = useFixed();
  const change = { element: name, place: null, into: null };
  return (
    <>
      <dl className="fields">
        <Row name={t.transition}>
          <b>{name}</b>
          <span className={choice ? "is-good" : "dim"}>
            {choice ? t.canFireWith(choice.count) : t.cannotFire}
          </span>
        </Row>
        <Row name={t.guard}>
          {fixed === null ? (
            <EditField name={t.guard} text={guard} change={{ ...change, what: "guard" }} />
          ) : guard ? (
            <code>{guard}</code>
          ) : (
            <span className="dim">{t.noGuard}</span>
          )}
        </Row>
        <Row name={t.priority}>
          {fixed === null ? (
            <EditField name={t.priority} text={urgency} change={{ ...change, what: "priority" }} />
          ) : urgency === String(priority) ? (
            urgency
          ) : (
            `${urgency} (${priority})`
          )}
        </Row>
        <Row name={t.isBlack}>{black ? t.yes : t.no}</Row>
        <Origin origin={origin} />
        <Arcs of={transition} />
        <Row name={t.breaks}>
          <label className="net-check">
            <input
              type="checkbox"
              checked={stop}
              onChange={(event) => setBreak(name, event.target.checked)}
            />
            {t.stopOnFire}
          </label>
        </Row>
      </dl>
      {choice ? (
        <>
          <h3 className="net-head">{t.bindings(name)}</h3>
          <ul className="net-token-list">
            {choice.bindings.map((binding, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: its number is what a binding is chosen by
              <li key={i} className="net-binding-row">
                <span className="mono">{bindingText(binding) || "()"}</span>
                <Button
                  kind="quiet"
                  aria-label={`${t.fire} ${bindingText(binding)}`}
                  onPress={() => void fire(name, binding)}
                >
                  {t.fire}
                </Button>
              </li>
            ))}
          </ul>
          {choice.count > choice.bindings.length ? (
            <p className="dim net-note">{t.moreBindings(choice.count - choice.bindings.length)}</p>
          ) : null}
        </>
      ) : null}
    </>
  );
}

/** Runs to a number of firings, a row, a firing of the log; random runs; the breakpoints that there are. */
import { X } from "lucide-react";
import { useState } from "react";
import { Button, IconButton } from "../parts/Button";
import { texts } from "../texts";
import { goToStep, reset, run, setBreak, showElement } from "./actions";
import { useNet } from "./state";

const t = texts.net;

export function RunTo({ close }: { close: () => void }) {
  const rowCount = useNet((state) => state.rowCount);
  const steps = useNet((state) => state.steps);
  const row = useNet((state) => state.row);
  const seed = useNet((state) => state.seed);
  const then = (call: () => void) => {
    close();
    call();
  };
  return (
    <>
      <Goal
        name={t.runFirings}
        start={100}
        most={1e9}
        act={t.run}
        onGo={(n) => then(() => void run({ steps: n }))}
      />
      {rowCount ? (
        <Goal
          name={t.runRow}
          start={Math.min(rowCount, row + 1)}
          most={rowCount}
          act={t.run}
          onGo={(n) => then(() => void run({ row: n }))}
        />
      ) : null}
      <Goal
        name={t.goFiring}
        start={steps}
        least={0}
        most={1e9}
        act={t.go}
        onGo={(n) => then(() => void goToStep(n))}
      />
      <fieldset>
        <Goal
          name={t.seed}
          start={seed ?? 0}
          least={0}
          most={Number.MAX_SAFE_INTEGER}
          act={t.start}
          onGo={(n) => then(() => void reset(n))}
        />
        <p className="dim">{t.randomText}</p>
        {seed === null ? null : <Button onPress={() => then(() => void reset(null))}>{t.startFirst}</Button>}
      </fieldset>
      <Breaks close={close} />
    </>
  );
}

function Goal(props: {
  name: string;
  start: number;
  least?: number;
  most: number;
  act: string;
  onGo: (n: number) => void;
}) {
  const { name, start, least = 1, most, act, onGo } = props;
  const [text, setText] = useState(String(start));
  const number = Number(text);
  const right = text.trim() !== "" && Number.isInteger(number) && number >= least && number <= most;
  return (
    <form
      className="net-goal"
      onSubmit={(event) => {
        event.preventDefault();
        if (right) onGo(number);
      }}
    >
      <label className="net-option">
        {name}
        <input
          className="net-field net-number"
          inputMode="numeric"
          autoComplete="off"
          aria-invalid={!right || undefined}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <Button type="submit" isDisabled={!right} aria-label={`${act}: ${name}`}>
        {act}
      </Button>
    </form>
  );
}

function Breaks({ close }: { close: () => void }) {
  const { transitions, places } = useNet((state) => state.breaks);
  const all = [
    ...transitions.map((name) => ({ name, text: t.stopsWhenFired })),
    ...Object.entries(places).map(([name, n]) => ({ name, text: t.stopsWith(n) })),
  ];
  return (
    <fieldset>
      <legend>{t.breaks}</legend>
      {all.length ? null : <p className="dim">{t.noBreaks}</p>}
      <ul className="net-breaks">
        {all.map(({ name, text }) => (
          <li key={name}>
            <button
              type="button"
              className="link"
              onClick={() => {
                close();
                showElement(name);
              }}
            >
              {name}
            </button>{" "}
            <span className="dim">{text}</span>
            <IconButton name={t.remove(name)} onPress={() => setBreak(name, false)}>
              <X size={14} />
            </IconButton>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

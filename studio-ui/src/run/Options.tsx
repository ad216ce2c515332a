/** How events are read and rules are run: fields for all options that the server has, those of most runs first. */
import { ChevronDown, ChevronRight } from "lucide-react";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import type { OptionInfo, Options as Values } from "../api/types";
import { Panel } from "../parts/Panel";
import { changeProject } from "../state/project";
import { useStudio } from "../state/store";
import { texts } from "../texts";
import { keepTyped, typeOption } from "./actions";
import { withOption } from "./events";
import { countSet, fieldText, groupedOptions, problemOf, titleOf } from "./options";
import { setRun, useRun } from "./state";

const t = texts.run.option;
const NOTHING: Values = {};

export function Options() {
  const options = useStudio((state) => state.project.program?.options) ?? NOTHING;
  const infos = useStudio((state) => state.about?.options);
  const [open, setOpen] = useState(true);
  const { common, groups } = useMemo(() => groupedOptions(infos ?? []), [infos]);
  const count = Object.keys(options).length;
  const wanted = useRun((state) => state.wanted);
  useEffect(() => {
    if (wanted) setOpen(true);
  }, [wanted]);
  return (
    <Panel title={t.title} open={open} onToggle={() => setOpen(!open)} count={count || undefined}>
      <div className="options">
        {common.map((info) => (
          <OptionField key={info.name} info={info} options={options} />
        ))}
      </div>
      {groups.map(({ of, options: some }) => (
        <Group key={of} title={t.groups[of]} infos={some} options={options} />
      ))}
    </Panel>
  );
}

function Group({ title, infos, options }: { title: string; infos: OptionInfo[]; options: Values }) {
  const [open, setOpen] = useState(false);
  const count = countSet(infos, options);
  const wanted = useRun((state) => infos.some((one) => one.name === state.wanted));
  useEffect(() => {
    if (wanted) setOpen(true);
  }, [wanted]);
  return (
    <div className="option-group">
      <button type="button" className="panel-title" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
        {title}
        {count ? <span className="panel-count">{count}</span> : null}
      </button>
      {open ? (
        <div className="options">
          {infos.map((info) => (
            <OptionField key={info.name} info={info} options={options} />
          ))}
        </div>
      ) : null}
    </div>
  );
}

function OptionField({ info, options }: { info: OptionInfo; options: Values }) {
  const { name, kind, choices, help } = info;
  const given = options[name];
  const id = useId();
  const set = (value: Values[string] | undefined) =>
    void changeProject((now) => withOption(now, name, value));
  const title = titleOf(name);
  const words = help || undefined;
  if (kind === "flag")
    return (
      <label className="option-flag check" title={words}>
        <input
          type="checkbox"
          checked={given === undefined ? Boolean(info.default) : Boolean(given)}
          onChange={(event) => set(event.target.checked === info.default ? undefined : event.target.checked)}
        />
        {title}
      </label>
    );
  if (choices.length)
    return (
      <label title={words}>
        <span>{title}</span>
        <select
          className="run-field"
          value={fieldText(given)}
          onChange={(event) => set(event.target.value === "" ? undefined : event.target.value)}
        >
          <option value="">
            {t.choices[`${name}:${info.default ?? ""}`] ?? String(info.default ?? t.any)}
          </option>
          {choices
            .filter((choice) => choice !== info.default)
            .map((choice) => (
              <option key={choice} value={choice}>
                {t.choices[`${name}:${choice}`] ?? choice}
              </option>
            ))}
        </select>
      </label>
    );
  const none = info.none && given === null;
  return (
    <div className="option" title={words}>
      <label htmlFor={id}>{title}</label>
      <TextField id={id} info={info} options={options} none={none} />
      {info.none ? (
        <label className="check" title={t.noneHint}>
          <input
            type="checkbox"
            checked={none}
            onChange={(event) => set(event.target.checked ? null : undefined)}
          />
          {t.none}
        </label>
      ) : null}
    </div>
  );
}

/** A field whose change counts on Enter or when it is left. `none`: there is no value, on purpose. */
function TextField(props: { id: string; info: OptionInfo; options: Values; none: boolean }) {
  const { id, info, options, none } = props;
  const { name } = info;
  const field = useRef<HTMLInputElement>(null);
  const typed = useRun((state) => state.typed[name]);
  const told = useRun((state) => state.told);
  const wanted = useRun((state) => state.wanted === name);
  useEffect(() => {
    if (!wanted) return;
    field.current?.focus();
    setRun({ wanted: null });
  }, [wanted]);
  const shown = typed ?? (none ? "" : fieldText(options[name]));
  // what the server says holds for the options that it was asked with
  const theirs = typed === undefined && told?.options === JSON.stringify(options) ? told.of[name] : undefined;
  const wrong = problemOf(info, shown, options) ?? theirs;
  return (
    <>
      <input
        ref={field}
        id={id}
        className="run-field"
        list={name === "zone" ? `${id}-list` : undefined}
        placeholder={t.placeholders[name] ?? fieldText(info.default as Values[string])}
        disabled={none}
        spellCheck="false"
        autoComplete="off"
        aria-invalid={wrong ? true : undefined}
        aria-describedby={wrong ? `${id}-wrong` : undefined}
        value={shown}
        onChange={(event) => typeOption(name, event.target.value)}
        onBlur={keepTyped}
        onKeyDown={(event) => {
          if (event.key === "Enter") keepTyped();
          if (event.key === "Escape") typeOption(name, null);
        }}
      />
      {name === "zone" ? (
        <datalist id={`${id}-list`}>
          {Intl.supportedValuesOf("timeZone").map((zone) => (
            <option key={zone}>{zone}</option>
          ))}
        </datalist>
      ) : null}
      {wrong ? (
        <p id={`${id}-wrong`} className="option-wrong">
          {wrong}
        </p>
      ) : null}
    </>
  );
}

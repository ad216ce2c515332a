/** Fields of properties: what is typed counts on Enter or when the field is left; Escape takes it back. */
import { X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import type { Problem } from "../api/types";
import { IconButton } from "../parts/Button";
import { Linked } from "../parts/Linked";

/** What is wrong with a field, below it. */
export function Wrong({ problems, id }: { problems: readonly Problem[]; id?: string }) {
  if (!problems.length) return null;
  return (
    <div className="graph-wrong" id={id}>
      {problems.map((one) => (
        <p key={one.message} className={one.severity === "error" ? "is-error" : "is-warning"}>
          <Linked text={one.message} />
          {one.hint ? (
            <span className="dim">
              {" "}
              <Linked text={one.hint} />
            </span>
          ) : null}
        </p>
      ))}
    </div>
  );
}

interface FieldProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
  readOnly?: boolean;
  mono?: boolean;
  lines?: number;
  placeholder?: string;
  problems?: readonly Problem[];
  onFocus?: () => void;
  /** stands before the field; the label of a row of a list is only its name */
  plain?: boolean;
  onRemove?: { name: string; act: () => void } | undefined;
}

const NONE: readonly Problem[] = [];

export function Field({
  label,
  value,
  onValue,
  readOnly = false,
  mono = false,
  lines = 1,
  placeholder,
  problems = NONE,
  onFocus,
  plain = false,
  onRemove,
}: FieldProps) {
  const [text, setText] = useState(value);
  const editing = useRef(false);
  const id = useId();
  useEffect(() => {
    if (!editing.current) setText(value);
  }, [value]);
  const commit = (next: string) => {
    editing.current = false;
    if (next !== value) onValue(next);
  };
  const wrong = problems.some((one) => one.severity === "error");
  const shared = {
    "aria-label": label,
    "aria-invalid": wrong,
    "aria-describedby": problems.length ? id : undefined,
    className: `input ${mono ? "mono" : ""}`,
    value: text,
    readOnly,
    placeholder,
    spellCheck: false,
    autoComplete: "off",
    onFocus,
    onBlur: () => commit(text),
  };
  return (
    <div className={plain ? "graph-field is-plain" : "graph-field"}>
      {plain ? null : <span className="graph-label">{label}</span>}
      <div className="graph-control">
        {lines > 1 ? (
          <textarea
            {...shared}
            rows={lines}
            onChange={(event) => {
              editing.current = true;
              setText(event.target.value);
            }}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) commit(text);
              if (event.key === "Escape") reset();
            }}
          />
        ) : (
          <input
            {...shared}
            type="text"
            onChange={(event) => {
              editing.current = true;
              setText(event.target.value);
            }}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) commit(text);
              if (event.key === "Escape") reset();
            }}
          />
        )}
        {onRemove && !readOnly ? (
          <IconButton name={onRemove.name} onPress={onRemove.act}>
            <X size={14} aria-hidden />
          </IconButton>
        ) : null}
      </div>
      <Wrong problems={problems} id={id} />
    </div>
  );

  function reset() {
    editing.current = false;
    setText(value);
  }
}

export function Choice({
  label,
  value,
  choices,
  onValue,
  readOnly = false,
  empty,
  problems = NONE,
}: {
  label: string;
  value: string;
  choices: readonly string[];
  onValue: (value: string) => void;
  readOnly?: boolean;
  /** the name of the choice of nothing */
  empty?: string;
  problems?: readonly Problem[];
}) {
  const id = useId();
  const all = value && !choices.includes(value) ? [value, ...choices] : choices;
  return (
    <div className="graph-field">
      <span className="graph-label">{label}</span>
      <div className="graph-control">
        <select
          aria-label={label}
          aria-invalid={problems.some((one) => one.severity === "error")}
          aria-describedby={problems.length ? id : undefined}
          className="select"
          value={value}
          disabled={readOnly}
          onChange={(event) => onValue(event.target.value)}
        >
          {empty !== undefined || !value ? <option value="">{empty ?? ""}</option> : null}
          {all.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </div>
      <Wrong problems={problems} id={id} />
    </div>
  );
}

export function Section({
  title,
  children,
  action,
}: {
  title: string;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="graph-section">
      <h3>
        {title}
        {action}
      </h3>
      {children}
    </div>
  );
}

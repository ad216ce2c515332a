/** Fields of properties: what is typed counts on Enter or when the field is left; Escape takes it back. */
import { X } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import type { Problem } from "../api/types";
import { IconButton } from "../parts/Button";
import { Linked } from "../parts/Linked";
import { asks, meaningOf, type Offer, offer } from "./completing";

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
  /** names that complete the word at the cursor */
  names?: readonly string[];
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
  names,
  plain = false,
  onRemove,
}: FieldProps) {
  const [text, setText] = useState(value);
  const [offered, setOffered] = useState<(Offer & { at: number; asked: boolean }) | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const editing = useRef(false);
  const typed = useRef("");
  const id = useId();
  useEffect(() => {
    if (!editing.current) setText(value);
  }, [value]);
  const commit = (next: string) => {
    editing.current = false;
    setOffered(null);
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
            ref={input}
            type="text"
            {...(offered && {
              "aria-autocomplete": "list" as const,
              "aria-controls": list,
              "aria-activedescendant": offered.at < 0 ? undefined : `${list}-${offered.at}`,
            })}
            onChange={(event) => {
              const { value: now, selectionStart } = event.target;
              editing.current = true;
              setText(now);
              const cursor = selectionStart ?? now.length;
              if (names && (offered || asks(typed.current, now, cursor)))
                suggest(offer(names, now, cursor, false), typed.current === "." || offered?.asked);
              typed.current = "";
            }}
            onKeyDown={(event) => {
              typed.current = event.key;
              if (names && complete(event)) {
                event.preventDefault();
                event.stopPropagation();
                return;
              }
              if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) commit(text);
              if (event.key === "Escape") reset();
            }}
          />
        )}
        {offered ? (
          <div className="graph-offers" id={list} role="listbox" aria-label={label}>
            {offered.names.map((name, i) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field
              <div
                key={name}
                id={`${list}-${i}`}
                role="option"
                aria-selected={i === offered.at}
                title={meaningOf(name)}
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => accept(name)}
              >
                {name}
              </div>
            ))}
          </div>
        ) : null}
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

  function suggest(found: Offer | null, asked = false) {
    setOffered(found && { ...found, at: -1, asked });
  }

  function accept(name: string) {
    const field = input.current;
    if (!offered || !field) return;
    const cursor = field.selectionStart ?? text.length;
    const next = text.slice(0, offered.from) + name + text.slice(cursor);
    editing.current = true;
    setText(next);
    setOffered(null);
    const end = offered.from + name.length;
    requestAnimationFrame(() => field.setSelectionRange(end, end));
  }

  /** The keys of the list of names; true if it took the key. */
  function complete(event: KeyboardEvent): boolean {
    if (event.key === " " && event.ctrlKey && names) {
      suggest(offer(names, text, input.current?.selectionStart ?? text.length, true), true);
      return true;
    }
    if (!offered) return false;
    const { at, names: found, asked } = offered;
    if (event.key === "ArrowDown") setOffered({ ...offered, at: Math.min(at + 1, found.length - 1) });
    else if (event.key === "ArrowUp") setOffered({ ...offered, at: Math.max(at - 1, -1) });
    else if (event.key === "Escape") setOffered(null);
    else if ((event.key === "Enter" && at >= 0) || (event.key === "Tab" && (asked || at >= 0)))
      accept(found[Math.max(at, 0)] ?? "");
    else return false;
    return true;
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

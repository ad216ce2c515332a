/** A value of any length: the beginning of a long one, and all of it when it is asked for. */
import { Copy } from "lucide-react";
import { useState } from "react";
import { Button, IconButton } from "../parts/Button";
import { say, tell } from "../state/actions";
import { texts } from "../texts";
import { valueText } from "./rows";

const t = texts.why;
/** Characters of a value that are shown at first. */
export const SHORT = 300;

export function isLong(value: unknown): boolean {
  return valueText(value, "", Infinity).length > SHORT;
}

async function copy(text: string) {
  try {
    await navigator.clipboard.writeText(text);
    say(t.valueCopied);
  } catch (error) {
    tell(error);
  }
}

/** `label`: also of the name of the value, where several stand below one another. */
export function FullValue({ name, value, label = false }: { name: string; value: unknown; label?: boolean }) {
  const [open, setOpen] = useState(false);
  const text = valueText(value, name, Infinity);
  if (text.length <= SHORT) return <span className="mono">{text}</span>;
  return (
    <div className="full-value">
      {label ? <span className="dim">{name}</span> : null}
      {open ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        <section className="full-text mono" tabIndex={0} aria-label={name}>
          {text}
        </section>
      ) : label ? null : (
        <span className="mono">{valueText(value, name, SHORT)}</span>
      )}
      <span className="full-tools">
        <Button kind="quiet" aria-expanded={open} onPress={() => setOpen(!open)}>
          {open ? t.less : t.whole(text.length)}
        </Button>
        <IconButton name={t.copyValue(name)} onPress={() => void copy(text)}>
          <Copy size={13} />
        </IconButton>
      </span>
    </div>
  );
}

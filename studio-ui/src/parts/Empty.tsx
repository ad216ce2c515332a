/** The states that are drawn, not left out: nothing there yet, loading, failed. */
import { CircleAlert, Info } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { texts } from "../texts";
import { Button } from "./Button";

export function Empty({
  title,
  text,
  icon,
  children,
}: {
  title: string;
  text?: string;
  icon?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className="empty">
      {icon}
      <p className="empty-title">{title}</p>
      {text ? <p className="empty-text">{text}</p> : null}
      {children ? <div className="empty-actions">{children}</div> : null}
    </div>
  );
}

/** Grey lines in place of what is loaded; shown only if it takes longer than 300 ms. */
export function Skeleton({ rows = 5 }: { rows?: number }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return null;
  return (
    <div className="skeleton" aria-hidden="true">
      {Array.from({ length: rows }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike
        <div key={i} className="skeleton-row" />
      ))}
    </div>
  );
}

/** What happened and what to do. */
export function ErrorBox({
  title = texts.errors.title,
  text,
  hint,
  again,
}: {
  title?: string;
  text: string;
  hint?: string | null;
  again?: () => void;
}) {
  return (
    <div className="error-box" role="alert">
      <CircleAlert size={16} aria-hidden="true" />
      <div>
        <p className="error-title">{title}</p>
        <p>{text}</p>
        {hint ? <p className="dim">{hint}</p> : null}
        {again ? <Button onPress={again}>{texts.errors.again}</Button> : null}
      </div>
    </div>
  );
}

/** Something that happened, and is no error. */
export function NoticeBox({ title, text, children }: { title: string; text?: string; children?: ReactNode }) {
  return (
    <div className="error-box notice-box" role="status">
      <Info size={16} aria-hidden="true" />
      <div>
        <p className="error-title">{title}</p>
        {text ? <p>{text}</p> : null}
        {children}
      </div>
    </div>
  );
}

/** A panel with a one-line title that collapses to that line. */
import { ChevronDown, ChevronRight } from "lucide-react";
import { type ReactNode, useId } from "react";

export function Panel({
  title,
  open = true,
  onToggle,
  actions,
  count,
  note,
  role,
  className = "",
  children,
}: {
  title: string;
  open?: boolean;
  onToggle?: () => void;
  actions?: ReactNode;
  count?: ReactNode;
  /** what there is to say in the line of the title */
  note?: ReactNode;
  role?: "region";
  className?: string;
  children: ReactNode;
}) {
  const id = useId();
  const label = (
    <>
      {onToggle ? (
        open ? (
          <ChevronDown size={14} aria-hidden />
        ) : (
          <ChevronRight size={14} aria-hidden />
        )
      ) : null}
      <span id={id}>{title}</span>
    </>
  );
  return (
    <section
      className={`panel ${open ? "" : "panel-closed"} ${className}`}
      role={role}
      aria-labelledby={role ? id : undefined}
    >
      <h2 className="panel-head">
        {onToggle ? (
          <button type="button" className="panel-title" aria-expanded={open} onClick={onToggle}>
            {label}
          </button>
        ) : (
          <span className="panel-title">{label}</span>
        )}
        {count !== undefined ? <span className="panel-count">{count}</span> : null}
        {note ? <span className="panel-note">{note}</span> : null}
        {open && actions ? <span className="panel-actions">{actions}</span> : null}
      </h2>
      {open ? <div className="panel-body">{children}</div> : null}
    </section>
  );
}

/** A line between two panels that is dragged, or moved by arrow keys; a double click restores the size. */
import { type KeyboardEvent, type PointerEvent, useRef } from "react";

export function Splitter({
  name,
  direction,
  size,
  measured,
  onSize,
  min = 120,
  max = 900,
  initial,
  sign = 1,
}: {
  name: string;
  /** "x": between left and right; "y": between top and bottom */
  direction: "x" | "y";
  size: number;
  /** the size as it is laid out now, where the layout decides it: `size` follows a frame later, keys may not wait */
  measured?: () => number | undefined;
  onSize: (size: number) => void;
  min?: number;
  max?: number;
  initial: number;
  /** -1 if the panel is right of or below the line */
  sign?: 1 | -1;
}) {
  const start = useRef<{ at: number; size: number } | null>(null);
  const clamp = (value: number) => Math.round(Math.min(max, Math.max(min, value)));
  const now = () => measured?.() ?? size;
  const at = (event: PointerEvent) => (direction === "x" ? event.clientX : event.clientY);
  const keys = (event: KeyboardEvent) => {
    const step = event.shiftKey ? 64 : 16;
    const [less, more] = direction === "x" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    if (event.key === less) onSize(clamp(now() - sign * step));
    else if (event.key === more) onSize(clamp(now() + sign * step));
    else if (event.key === "Home") onSize(min);
    else if (event.key === "End") onSize(max);
    else if (event.key === "Enter") onSize(initial);
    else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that can be focused is a widget, `hr` is not
    <div
      role="separator"
      tabIndex={0}
      aria-label={name}
      aria-orientation={direction === "x" ? "vertical" : "horizontal"}
      aria-valuenow={size}
      aria-valuemin={min}
      aria-valuemax={max}
      className={`splitter splitter-${direction}`}
      onKeyDown={keys}
      onDoubleClick={() => onSize(initial)}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = { at: at(event), size: now() };
      }}
      onPointerMove={(event) => {
        if (start.current) onSize(clamp(start.current.size + sign * (at(event) - start.current.at)));
      }}
      onPointerUp={() => {
        start.current = null;
      }}
      onPointerCancel={() => {
        start.current = null;
      }}
    />
  );
}

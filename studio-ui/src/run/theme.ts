/** The colours of the page as a canvas takes them. */
import type { Theme } from "./draw";

/** The colours of what is not of a type; in forced colours those of the system. */
const SYSTEM: Record<keyof Theme, string> = {
  grid: "GrayText",
  strong: "CanvasText",
  ink: "CanvasText",
  edge: "CanvasText",
  accent: "Highlight",
  soft: "Canvas",
  input: "CanvasText",
  back: "Canvas",
  dim: "CanvasText",
  error: "LinkText",
};

const TOKENS: Record<keyof Theme, string> = {
  grid: "line",
  strong: "line-strong",
  ink: "ink",
  edge: "mark-edge",
  accent: "accent",
  soft: "accent-soft",
  input: "input",
  back: "back",
  dim: "dim",
  error: "error",
};

export const FORCED = "(forced-colors: active)";

export function themeOf(element: Element): Theme {
  const forced = matchMedia(FORCED).matches;
  const style = getComputedStyle(element);
  const out = {} as Theme;
  for (const [name, token] of Object.entries(TOKENS) as [keyof Theme, string][])
    out[name] = forced ? systemColour(SYSTEM[name]) : style.getPropertyValue(`--${token}`).trim();
  return out;
}

/** What a colour of the system is now: a canvas would take the name for that of another theme. */
function systemColour(name: string): string {
  const probe = document.createElement("i");
  probe.style.color = name;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

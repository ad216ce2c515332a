/** A firing as it happens: tokens run to the transition, then on to the places; nothing moves if that is not wanted. */
import type { NetArc, NetFiring, NetPage } from "../api/schema";
import { pointAt } from "./geometry";

const LASTS = 200;
const SVG = "http://www.w3.org/2000/svg";

let running = 0;

export function animate(
  layer: SVGGElement,
  pages: readonly { page: NetPage; x: number; y: number }[],
  { transition }: Pick<NetFiring, "transition">,
) {
  cancelAnimationFrame(running);
  layer.replaceChildren();
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const shown = pages.find(({ page }) => page.transitions.some(({ name }) => name === transition));
  if (!shown) return;
  const arcs = shown.page.arcs.filter((arc) => arc.transition === transition);
  const tokens = arcs.map((arc) => ({ arc, token: dot(layer) }));
  const begin = performance.now();
  const draw = (now: number) => {
    const part = Math.min(1, Math.max(0, now - begin) / LASTS);
    for (const { arc, token } of tokens) {
      const at = partOf(arc, part);
      token.style.display = at === null ? "none" : "";
      const [x, y] = pointAt(arc.points, at ?? 0);
      token.setAttribute("cx", String(x + shown.x));
      token.setAttribute("cy", String(y + shown.y));
    }
    if (part < 1) running = requestAnimationFrame(draw);
    else layer.replaceChildren();
  };
  running = requestAnimationFrame(draw);
}

function dot(layer: SVGGElement): SVGCircleElement {
  const circle = document.createElementNS(SVG, "circle");
  circle.setAttribute("class", "net-moving");
  circle.setAttribute("r", "6");
  layer.append(circle);
  return circle;
}

/** Where on its arc a token is: in the first half it goes in, in the second out. */
export function partOf({ into, out }: Pick<NetArc, "into" | "out">, part: number): number | null {
  if (part < 0.5) return into ? part * 2 : null;
  return out ? 2 - part * 2 : null;
}

/** The drawing of a pattern as a picture, and the pattern as a graphical model. */
import { createElement } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { api, pathOf } from "../api/client";
import { svgPng } from "../parts/picture";
import { say, textOf } from "../state/actions";
import { download } from "../state/exports";
import { get, typeOrder } from "../state/store";
import { texts } from "../texts";
import "./graph.css";
import { linksOf, nodesOf } from "./nodes";
import { type Look, Picture } from "./Picture";
import { readDrawings } from "./session";
import { draftOf, drawable, faultsOf, getGraph } from "./state";

const t = texts.export;
const TOKENS = [
  ...(["back", "raised", "hover", "ink", "dim", "faint", "line-strong", "error", "warning"] as const),
  ...(["font", "mono"] as const),
];

export async function exportDrawing(what: string): Promise<void> {
  const { active } = get();
  if (!active) return;
  if (getGraph().path !== active || getGraph().text !== textOf(active)) await readDrawings();
  const state = getGraph();
  const id = state.chosen;
  if (!id || !drawable(state).includes(id)) return say(t.noPattern);
  if (what === "drawing-model") {
    if (draftOf(state)) return say(t.isDraft(id));
    const model = await api.model(state.text ?? "", id);
    const text = `${JSON.stringify(model, null, 2)}\n`;
    return download(`${id}.pattern.json`, new Blob([text], { type: "application/json" }));
  }
  const svg = new Blob([await picture(id)], { type: "image/svg+xml" });
  if (what === "drawing-png") download(`${id}.png`, await svgPng(svg));
  else download(`${id}.svg`, svg);
}

/** The drawing that is chosen as the text of an SVG file. */
async function picture(id: string): Promise<string> {
  const state = getGraph();
  const { icons } = get().project;
  const { canvas } = state;
  if (!canvas) throw new Error(t.noPattern);
  const facts = {
    faults: faultsOf(state),
    order: typeOrder(get()),
    icons,
    passed: null,
    lit: new Set<string>(),
  };
  const nodes = nodesOf(canvas, facts, new Set(), []);
  const style = getComputedStyle(document.documentElement);
  const look = Object.fromEntries(
    TOKENS.map((name) => [name, style.getPropertyValue(`--${name}`).replace(/\s+/g, " ").trim()]),
  ) as Look;
  const used = nodes.flatMap(({ data }) => (data.icon ? [data.icon] : []));
  const images = new Map<string, string>();
  for (const { image } of used) if (image && !images.has(image)) images.set(image, await embedded(image));
  const colours = new Map(used.map(({ colour = "grey" }) => [colour, iconColour(colour)]));
  const links = linksOf(canvas, null);
  const parent = document.createElement("div");
  const root = createRoot(parent);
  flushSync(() => root.render(createElement(Picture, { title: id, nodes, links, look, images, colours })));
  const svg = parent.firstElementChild;
  const text = svg ? new XMLSerializer().serializeToString(svg) : "";
  root.unmount();
  return `${text}\n`;
}

/** The colour that the style sheet has for icons of this name. */
function iconColour(name: string): string {
  const probe = document.createElement("span");
  probe.className = "type-icon";
  probe.dataset.colour = name;
  document.body.append(probe);
  const colour = getComputedStyle(probe).backgroundColor;
  probe.remove();
  return colour;
}

/** An image of the project as data. */
async function embedded(path: string): Promise<string> {
  const answer = await fetch(`./api/v1/files/${pathOf(path)}`);
  if (!answer.ok) return "";
  const content = await answer.blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(content);
  });
}

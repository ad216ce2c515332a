/** The net that is shown, as a file: from the server; the picture is drawn from its SVG. */
import { api } from "../api/client";
import { svgPng } from "../parts/picture";
import { download } from "../state/exports";
import { get } from "../state/store";
import { getNet } from "./state";

const FORMATS = { "net-cpn": "cpn", "net-json": "net.json", "net-svg": "svg", "net-png": "svg" } as const;

export async function exportNet(what: string): Promise<void> {
  const { net: id, dark } = get();
  const format = FORMATS[what as keyof typeof FORMATS];
  if (!id || !format) return;
  const name = getNet().net?.name || "net";
  const file = await api.exportNet(id, format, dark ? "dark" : "light");
  if (what === "net-png") download(`${name}.png`, await svgPng(file));
  else download(`${name}.${format}`, file);
}

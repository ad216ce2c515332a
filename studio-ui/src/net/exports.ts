/** The net that is shown, as a file: from the server; the picture is drawn from its SVG. */
import { api } from "../api/client";
import { download } from "../state/exports";
import { get } from "../state/store";
import { texts } from "../texts";
import { getNet } from "./state";

const FORMATS = { "net-cpn": "cpn", "net-json": "net.json", "net-svg": "svg", "net-png": "svg" } as const;

/** Pixels of the page become so many of a picture; a canvas has an end. */
const SCALE = 2;
const WIDEST = 16_000;
const MOST = 60_000_000;

export async function exportNet(what: string): Promise<void> {
  const { net: id, dark } = get();
  const format = FORMATS[what as keyof typeof FORMATS];
  if (!id || !format) return;
  const name = getNet().net?.name || "net";
  const file = await api.exportNet(id, format, dark ? "dark" : "light");
  if (what === "net-png") download(`${name}.png`, await picture(file));
  else download(`${name}.${format}`, file);
}

async function picture(svg: Blob): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const { naturalWidth: width, naturalHeight: height } = image;
    const scale = Math.min(
      SCALE,
      WIDEST / Math.max(width, height),
      Math.sqrt(MOST / Math.max(1, width * height)),
    );
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d");
    if (!context) throw new Error(texts.net.notDrawn);
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--back");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(texts.net.notDrawn))), "image/png");
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}

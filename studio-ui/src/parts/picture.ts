/** A drawing of vectors as one of pixels. */
import { texts } from "../texts";

/** Pixels of the page become so many of a picture; a canvas has an end. */
const SCALE = 2;
const WIDEST = 16_000;
const MOST = 60_000_000;

/** An SVG as PNG. Raises an error if the browser cannot draw it. */
export async function svgPng(svg: Blob): Promise<Blob> {
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
    if (!context) throw new Error(texts.export.noPicture);
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--back");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob(
        (blob) => (blob ? resolve(blob) : reject(new Error(texts.export.noPicture))),
        "image/png",
      );
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}

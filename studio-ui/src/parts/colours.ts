/** The colours of types: those of `occurs plot`, safe for colour-blind eyes; black text is readable on each. */
export const COLOURS = [
  "#56b4e9",
  "#e69f00",
  "#1f9e77",
  "#f0e442",
  "#c04cf0",
  "#e25a55",
  "#9df0ea",
  "#8f74b0",
  "#b5f06a",
  "#fad4af",
] as const;

/** Events that come from outside: neutral, so that what is derived stands out. */
export const INPUT = "#a9b4c0";

/** The colour of a type; `order` are the derived types in the order of the program, all others are inputs. */
export function typeColour(name: string, order: readonly string[]): string {
  const at = order.indexOf(name);
  return at < 0 ? INPUT : (COLOURS[at % COLOURS.length] ?? INPUT);
}

/** Has the colour of a type come before? Then a second mark, a hole, tells it from the first that has it. */
export function isSecond(name: string, order: readonly string[]): boolean {
  return order.indexOf(name) >= COLOURS.length;
}

/** The look of a type as a swatch takes it. */
export function typeLook(name: string, order: readonly string[]): { colour: string; second: boolean } {
  return { colour: typeColour(name, order), second: isSecond(name, order) };
}

/** Contrast that graphics need beside their ground. */
const CONTRAST = 3;
const GROUND = { light: [255, 255, 255], dark: [22, 24, 29] } as const;

type Rgb = readonly [number, number, number];

function rgb(colour: string): Rgb {
  const value = Number.parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function luminance(colour: Rgb): number {
  const [r, g, b] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: Rgb, b: Rgb): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const strokes = new Map<string, string>();

/** A colour for strokes and edges: the same hue, as far from the ground as thin things need to be. */
export function strokeColour(colour: string, dark: boolean): string {
  if (!/^#[0-9a-f]{6}$/i.test(colour)) return colour;
  const key = `${colour} ${dark}`;
  const known = strokes.get(key);
  if (known) return known;
  const ground = dark ? GROUND.dark : GROUND.light;
  const target = dark ? 255 : 0;
  const own = rgb(colour);
  let found: Rgb = own;
  for (let share = 0.05; contrast(found, ground) < CONTRAST && share <= 1; share += 0.05)
    found = own.map((part) => Math.round(part + (target - part) * share)) as unknown as Rgb;
  const text = `#${found.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  strokes.set(key, text);
  return text;
}

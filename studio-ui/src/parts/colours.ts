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

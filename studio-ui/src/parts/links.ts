/** Addresses in a text, so that they can be shown as links. */
export interface Piece {
  text: string;
  link: string | null;
}

export function pieces(text: string): Piece[] {
  const out: Piece[] = [];
  let last = 0;
  for (const found of text.matchAll(/https?:\/\/[^\s<>"')\]]+[^\s<>"')\].,;:]/g)) {
    if (found.index > last) out.push({ text: text.slice(last, found.index), link: null });
    out.push({ text: found[0], link: found[0] });
    last = found.index + found[0].length;
  }
  if (last < text.length) out.push({ text: text.slice(last), link: null });
  return out;
}

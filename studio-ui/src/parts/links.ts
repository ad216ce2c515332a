/** What is more than plain in a text: addresses, and code between back-quotes. */
export interface Piece {
  kind: "text" | "link" | "code";
  text: string;
}

export function pieces(text: string): Piece[] {
  const out: Piece[] = [];
  let last = 0;
  const plain = (end: number) => {
    if (end > last) out.push({ kind: "text", text: text.slice(last, end) });
  };
  for (const found of text.matchAll(/https?:\/\/[^\s<>"'`)\]]*[^\s<>"'`)\].,;:]|`[^`\n]+`/g)) {
    plain(found.index);
    const [piece] = found;
    out.push(
      piece.startsWith("`") ? { kind: "code", text: piece.slice(1, -1) } : { kind: "link", text: piece },
    );
    last = found.index + piece.length;
  }
  plain(text.length);
  return out;
}

/** The addresses in a text. */
export function linksOf(text: string): string[] {
  return pieces(text).flatMap((piece) => (piece.kind === "link" ? [piece.text] : []));
}

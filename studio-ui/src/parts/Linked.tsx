import { pieces } from "./links";

/** A text with its code as code and its addresses as links, which a button cannot hold (`plain`). */
export function Linked({ text, plain = false }: { text: string; plain?: boolean }) {
  let at = 0;
  return pieces(text).map((piece) => {
    at += piece.text.length;
    if (piece.kind === "code") return <code key={at}>{piece.text}</code>;
    if (piece.kind === "text" || plain) return <span key={at}>{piece.text}</span>;
    return (
      <a key={at} href={piece.text} target="_blank" rel="noreferrer">
        {piece.text}
      </a>
    );
  });
}

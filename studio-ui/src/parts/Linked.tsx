import { pieces } from "./links";

/** A text with its addresses as links and its code as code. */
export function Linked({ text }: { text: string }) {
  let at = 0;
  return pieces(text).map((piece) => {
    at += piece.text.length;
    if (piece.kind === "code") return <code key={at}>{piece.text}</code>;
    if (piece.kind === "text") return <span key={at}>{piece.text}</span>;
    return (
      <a key={at} href={piece.text} target="_blank" rel="noreferrer">
        {piece.text}
      </a>
    );
  });
}

import { pieces } from "./links";

/** A text whose addresses are links. */
export function Linked({ text }: { text: string }) {
  let at = 0;
  return pieces(text).map((piece) => {
    at += piece.text.length;
    return piece.link ? (
      <a key={at} href={piece.link} target="_blank" rel="noreferrer">
        {piece.text}
      </a>
    ) : (
      <span key={at}>{piece.text}</span>
    );
  });
}

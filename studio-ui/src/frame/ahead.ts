/** Letters that are typed for a field which is not there yet: they wait for it, and never reach the text behind it. */
let letters = "";

/** Keeps a key that came while a dialog was on its way: its letter, if it is one. */
export function typedAhead(event: KeyboardEvent) {
  if (event.key === "Backspace") letters = letters.slice(0, -1);
  else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) letters += event.key;
}

/** What was typed ahead, once. */
export function takeTypedAhead(): string {
  const taken = letters;
  letters = "";
  return taken;
}

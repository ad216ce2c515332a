/** Names that hold the letters of a text in their order; the best come first. */
export function matches<T extends { name: string }>(items: readonly T[], text: string): T[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [...items];
  const scored: { item: T; score: number }[] = [];
  for (const item of items) {
    const score = scoreOf(item.name.toLowerCase(), wanted);
    if (score !== null) scored.push({ item, score });
  }
  return scored.sort((a, b) => a.score - b.score).map(({ item }) => item);
}

/** Small is good: a part at the start, a part anywhere, scattered letters by the gaps between them. */
function scoreOf(name: string, wanted: string): number | null {
  const whole = name.indexOf(wanted);
  if (whole >= 0) return whole;
  let at = -1;
  let gaps = 0;
  for (const letter of wanted) {
    const next = name.indexOf(letter, at + 1);
    if (next < 0) return null;
    if (at >= 0) gaps += next - at - 1;
    at = next;
  }
  return 1000 + gaps;
}

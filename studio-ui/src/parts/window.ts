/** Which rows of a long table are on screen. A browser's scroll height has an end, so very long tables are scaled. */

/** Higher elements are cut by some browsers. */
const HIGHEST = 8_000_000;

export interface Window {
  /** the height of all rows, as the scrollbar sees it */
  height: number;
  first: number;
  count: number;
  /** where the first of the rows stands */
  top: number;
}

export function windowOf(total: number, row: number, scroll: number, room: number, extra = 6): Window {
  const real = total * row;
  const fit = Math.ceil(room / row) + 1;
  if (real <= HIGHEST) {
    const first = Math.max(0, Math.floor(scroll / row) - extra);
    const count = Math.min(total - first, fit + 2 * extra);
    return { height: real, first, count: Math.max(0, count), top: first * row };
  }
  const share = Math.min(1, scroll / Math.max(1, HIGHEST - room));
  const first = Math.min(total - fit + 1, Math.round(share * (total - fit + 1)));
  return { height: HIGHEST, first, count: Math.min(fit, total - first), top: scroll };
}

/** Where to scroll so that a row is on screen; the same place if it is already. */
export function scrollTo(at: number, total: number, row: number, scroll: number, room: number): number {
  const real = total * row;
  if (real <= HIGHEST) {
    if (at * row < scroll) return at * row;
    if ((at + 1) * row > scroll + room) return (at + 1) * row - room;
    return scroll;
  }
  const seen = windowOf(total, row, scroll, room);
  if (at >= seen.first && at < seen.first + Math.floor(room / row)) return scroll;
  const fit = Math.ceil(room / row) + 1;
  return Math.min(1, at / (total - fit + 1)) * (HIGHEST - room);
}

export const PAGE = 200;

/** The pages that hold these rows. */
export function pagesOf(first: number, count: number): number[] {
  if (count <= 0) return [];
  const out: number[] = [];
  for (let page = Math.floor(first / PAGE); page * PAGE < first + count; page++) out.push(page);
  return out;
}

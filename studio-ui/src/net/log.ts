/** What a net says after a call, put to what was known of it: tokens, transitions that can fire, the log of firings. */
import type { NetChoice, NetFiring, NetState, Tokens } from "../api/schema";

/** Tokens by holder; a place that is not in it has none. */
export type Marking = Readonly<Record<string, Tokens>>;

export const NO_TOKENS: Tokens = { count: 0, tokens: [], more: 0 };

/** Firings that are kept in the log. */
export const MOST_LOGGED = 2000;

export function markingAfter(before: Marking, { changed }: NetState): Marking {
  return Object.keys(changed).length ? { ...before, ...changed } : before;
}

export function enabledIn({ enabled }: NetState): Readonly<Record<string, NetChoice>> {
  return Object.fromEntries(enabled.map((choice) => [choice.transition, choice]));
}

/** The log after a call. What the call took back leaves it; `more` firings before the listed ones are a gap. */
export function logAfter(before: readonly NetFiring[], { steps, fired, more }: NetState): NetFiring[] {
  const stays = steps - fired.length - more;
  return [...before.filter((one) => one.step <= stays), ...fired].slice(-MOST_LOGGED);
}

/** How many firings before an entry of the log are not listed. */
export function gapBefore(log: readonly NetFiring[], i: number): number {
  const step = log[i]?.step ?? 0;
  return step - 1 - (log[i - 1]?.step ?? 0);
}

export function bindingText(binding: Readonly<Record<string, string>>): string {
  return Object.entries(binding)
    .map(([name, value]) => `${name} = ${value}`)
    .join(", ");
}

export function valuesText(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}

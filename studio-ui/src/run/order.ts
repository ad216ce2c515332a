/** The order of types of a run, which gives them their colours: it stays while the rules are edited. */
import { useMemo } from "react";
import { get, typeOrder, useStudio } from "../state/store";
import { getRun, useRun } from "./state";

/** The order now, if it has all types that the run has found; else null: the rules are not read yet. */
export function orderNow(found: readonly { type: string }[]): string[] | null {
  const order = typeOrder(get());
  return found.every(({ type }) => order.includes(type)) ? order : null;
}

export function runOrder(): string[] {
  return getRun().order ?? typeOrder(get());
}

export function useRunOrder(): string[] {
  const kept = useRun((state) => state.order);
  const outline = useStudio((state) => state.check.outline);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the order follows the outline
  return useMemo(() => kept ?? typeOrder(get()), [kept, outline]);
}

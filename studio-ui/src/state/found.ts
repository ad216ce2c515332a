/** How many detections of a type the last run found, as far as its result says. */
import type { Job } from "../api/types";

export function foundOf(job: Job | null, type: string): number | null {
  if (job?.kind !== "run" || job.state !== "done") return null;
  const result = job.result as {
    counts?: Record<string, number>;
    types?: { name: string; count: number }[];
  } | null;
  if (result?.counts) return result.counts[type] ?? 0;
  return result?.types?.find((one) => one.name === type)?.count ?? null;
}

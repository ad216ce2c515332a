/** How many detections of a type the last run found, as far as its result says. */
import type { Job, RunResult } from "../api/types";

export function foundOf(job: Job | null, type: string): number | null {
  if (job?.kind !== "run" || job.state !== "done") return null;
  const result = job.result as RunResult | null;
  return result?.types?.find((one) => one.name === type)?.count ?? null;
}

/** Jobs of nets: verification, state space, random streams; each kind has one at a time. */
import { ApiError, api, ConnectionLost } from "../api/client";
import type { Job, NetJob } from "../api/types";
import { say, tell, unsavedTexts } from "../state/actions";
import { get, set, useStudio } from "../state/store";
import { texts } from "../texts";
import { textsOf } from "./actions";
import { getNet } from "./state";

export type Study = "verify" | "space" | "random";

const ENDED = new Set(["done", "failed", "cancelled"]);

export function isEnded(job: Job | undefined): boolean {
  return !job || ENDED.has(job.state);
}

export async function start(kind: Study, more: NetJob): Promise<void> {
  const { options, source } = getNet();
  const { black, first, sink_exits, rows } = options;
  try {
    const { id } = await (kind === "verify"
      ? api.startNet(kind, unsavedTexts(), { first, rows })
      : kind === "space"
        ? api.startNet(kind, textsOf(source), {
            ...(source ? { path: source, black } : { black, first, sink_exits, rows }),
            ...more,
          })
        : api.startNet(kind, unsavedTexts(), { black, first, sink_exits, ...more }));
    await ask(kind, id);
  } catch (error) {
    tell(error, texts.net.jobFailed);
  }
}

/** How a job is now; the stream of updates may have been faster. */
async function ask(kind: Study, id: string): Promise<void> {
  const job = await api.job(id);
  const now = get().netJobs[kind];
  if (now?.id === id && isEnded(now)) return;
  set(({ netJobs }) => ({ netJobs: { ...netJobs, [kind]: job } }));
}

export async function cancel(kind: Study): Promise<void> {
  const job = get().netJobs[kind];
  if (!job || isEnded(job)) return;
  try {
    await api.cancel(job.id);
    await ask(kind, job.id);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 409)) tell(error);
  }
}

let asking: ReturnType<typeof setInterval> | undefined;

/** Without a word of updates for a while the page asks. */
function follow() {
  const { netJobs } = get();
  clearInterval(asking);
  const running = Object.values(netJobs).filter((job) => !isEnded(job));
  if (!running.length) return;
  asking = setInterval(() => {
    for (const job of running)
      void ask(job.kind as Study, job.id).catch((error) => {
        if (!(error instanceof ConnectionLost)) {
          clearInterval(asking);
          tell(error);
        }
      });
  }, 2000);
}

useStudio.subscribe(
  (state) => state.netJobs,
  (now, before) => {
    follow();
    for (const kind of ["verify", "space", "random"] as const)
      if (now[kind] !== before[kind] && now[kind]?.state === "done")
        say(texts.net.studyDone(texts.net[kind]));
  },
);

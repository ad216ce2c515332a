/** The plan of what is written now: asked for when the check is done, and again when it has changed. */
import { api } from "../api/client";
import { unsavedTexts } from "./actions";
import { get, set, useStudio } from "./store";

const DELAY = 400;
let timer: ReturnType<typeof setTimeout> | undefined;
let control: AbortController | null = null;

async function load() {
  control?.abort();
  const mine = new AbortController();
  control = mine;
  try {
    const plan = await api.plan(unsavedTexts(), undefined, mine.signal);
    if (!mine.signal.aborted) set({ plan });
  } catch {
    // the plan beside the text is an extra: the view Plan says what is wrong with it
    if (!mine.signal.aborted) set({ plan: null });
  }
}

export function followPlan() {
  useStudio.subscribe(
    (state) => state.check,
    ({ state, problems, outline }) => {
      clearTimeout(timer);
      if (state !== "done") return;
      if (!outline.length || problems.some((one) => one.severity === "error")) {
        if (get().plan) set({ plan: null });
        return;
      }
      timer = setTimeout(load, DELAY);
    },
  );
}

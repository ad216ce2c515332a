/** What can be taken out of the studio, each as one file. */
import { api } from "../api/client";
import type { MenuEntry } from "../parts/MenuButton";
import { texts } from "../texts";
import { tell, textOf, unsavedTexts } from "./actions";
import { rulesOf } from "./program";
import { get, type Studio } from "./store";

/** Offers a file to the browser. */
export function download(name: string, content: Blob | string) {
  const link = document.createElement("a");
  link.download = name;
  link.href = typeof content === "string" ? content : URL.createObjectURL(content);
  link.click();
  if (typeof content !== "string") setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function exportItems(state: Studio): MenuEntry[] {
  const t = texts.export;
  const run = state.job?.kind === "run" && state.job.state === "done" ? undefined : t.noRun;
  const rules = rulesOf(state.project, state.files).length > 0;
  return [
    { id: "text", label: t.text, why: state.active ? undefined : t.noFile },
    { id: "plan", label: t.plan, why: rules ? undefined : t.noRules },
    { id: "csv", label: t.csv, why: run },
    { id: "jsonl", label: t.jsonl, why: run },
    { id: "parquet", label: t.parquet, why: run },
  ];
}

export async function exportAs(id: string): Promise<void> {
  const { active, job } = get();
  try {
    if (id === "text" && active) download(active.split("/").at(-1) ?? active, new Blob([textOf(active)]));
    else if (id === "plan") {
      const plan = await api.plan(unsavedTexts());
      download("plan.json", new Blob([`${JSON.stringify(plan, null, 2)}\n`], { type: "application/json" }));
    } else if (job && (id === "csv" || id === "jsonl" || id === "parquet")) {
      download(`detections.${id}`, api.exportUrl(job.id, "", id));
    }
  } catch (error) {
    tell(error);
  }
}

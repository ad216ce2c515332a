/** What can be taken out of the studio, each as one file. */
import { api } from "../api/client";
import type { MenuEntry } from "../parts/MenuButton";
import { texts } from "../texts";
import { tell, textOf, unsavedTexts } from "./actions";
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
  const run = state.job?.kind === "run" && state.job.state === "done";
  return [
    { id: "text", label: texts.export.text, disabled: !state.active },
    { id: "plan", label: texts.export.plan, disabled: state.files.every((file) => !file.in_program) },
    { id: "csv", label: texts.export.csv, disabled: !run },
    { id: "jsonl", label: texts.export.jsonl, disabled: !run },
    { id: "parquet", label: texts.export.parquet, disabled: !run },
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

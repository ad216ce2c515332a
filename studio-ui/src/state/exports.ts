/** What can be taken out of the studio, each as one file. */
import { ApiError, api, type ExportQuery } from "../api/client";
import type { MenuEntry } from "../parts/MenuButton";
import { texts } from "../texts";
import { say, tell, textOf, unsavedTexts } from "./actions";
import { rulesOf } from "./program";
import { get, type Studio } from "./store";

const t = texts.export;

/** Offers a file to the browser. */
export function download(name: string, content: Blob) {
  const link = document.createElement("a");
  link.download = name;
  link.href = URL.createObjectURL(content);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  say(t.done(name));
}

/** Rows of a run as a file; a refusal is told, which a link to the server would not do. */
export async function exportRows(job: string, name: string, query: ExportQuery): Promise<void> {
  try {
    download(`${name}.${query.format}`, await api.export(job, query));
  } catch (error) {
    tell(error, t.failed);
  }
}

export function exportItems(state: Studio): MenuEntry[] {
  const { job, active, files } = state;
  const run = job?.kind === "run" && job.state === "done";
  const rules = files.some((file) => file.path === active && file.kind === "rules");
  const noRun = run ? undefined : t.noRun;
  const noDrawing = active?.toLowerCase().endsWith(".epl") ? undefined : t.noDrawing;
  const noNet = state.net ? undefined : t.noNet;
  return [
    { id: "text", label: t.text, why: active ? undefined : t.noFile },
    { id: "canonical", label: t.canonical, why: !active ? t.noFile : rules ? undefined : t.notRules },
    { id: "drawing-svg", label: t.drawingSvg, why: noDrawing },
    { id: "drawing-png", label: t.drawingPng, why: noDrawing },
    { id: "drawing-model", label: t.model, why: noDrawing },
    { id: "plan", label: t.plan, why: rulesOf(state.project, files).length > 0 ? undefined : t.noRules },
    { id: "net-cpn", label: t.cpn, why: noNet },
    { id: "net-json", label: t.netJson, why: noNet },
    { id: "net-svg", label: t.netSvg, why: noNet },
    { id: "net-png", label: t.netPng, why: noNet },
    { id: "png", label: t.png, why: noRun },
    { id: "html", label: t.html, why: noRun },
    { id: "csv", label: t.csv, why: noRun },
    { id: "jsonl", label: t.jsonl, why: noRun },
    { id: "parquet", label: t.parquet, why: noRun },
  ];
}

function nameOf(path: string): string {
  return path.split("/").at(-1) ?? path;
}

async function canonical(path: string): Promise<void> {
  const { text, problems } = await api.format(path, textOf(path));
  const [first] = problems;
  if (first) {
    const place = first.span ? `${path}:${first.span.line}: ` : "";
    throw new ApiError(422, first.kind, place + first.message, first.hint, problems);
  }
  download(nameOf(path), new Blob([text]));
}

export async function exportAs(id: string): Promise<void> {
  const { active, job, about } = get();
  const project = about?.project || "timeline";
  try {
    if (id === "text" && active) download(nameOf(active), new Blob([textOf(active)]));
    else if (id === "canonical" && active) await canonical(active);
    else if (id === "plan") {
      const plan = await api.plan(unsavedTexts());
      download("plan.json", new Blob([`${JSON.stringify(plan, null, 2)}\n`], { type: "application/json" }));
    } else if (id.startsWith("drawing-")) {
      const { exportDrawing } = await import("../graph/exports");
      await exportDrawing(id);
    } else if (id.startsWith("net-")) {
      const { exportNet } = await import("../net/exports");
      await exportNet(id);
    } else if (!job) return;
    else if (id === "png") {
      const { timelinePng } = await import("../run/picture");
      download(`${project}.png`, await timelinePng(project));
    } else if (id === "html") await exportRows(job.id, project, { format: "html" });
    else if (id === "csv" || id === "jsonl" || id === "parquet")
      await exportRows(job.id, "detections", { format: id });
  } catch (error) {
    tell(error, t.failed);
  }
}

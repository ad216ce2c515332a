/** Graphical models from files: their types and their pattern are put behind the statements of an EPL file. */
import { ApiError, api } from "../api/client";
import type { Statement } from "../api/types";
import { editBetween } from "../domain/edits";
import { changeText, openFile, say, tell, textOf, unsavedTexts } from "../state/actions";
import { create } from "../state/files";
import { get } from "../state/store";
import { texts } from "../texts";
import { declared } from "./known";
import { choose, isWritable, readDrawings } from "./session";

const t = texts.graph;
/** Models of this tool, and files of MEdit4CEP. */
export const MODELS = ".pattern.json,.pattern,.domain";
const SUFFIX = /\.(pattern\.json|pattern|domain)$/i;
/** The file that the first pattern of a directory goes into. */
export const FIRST = "patterns.epl";

export function isModel(name: string): boolean {
  return SUFFIX.test(name);
}

/** What is told like a refusal of the server. */
function refusal(message: string): ApiError {
  return new ApiError(422, "model", message);
}

/** The text of a model file, as the server writes it. */
async function textOfModel(name: string, content: string): Promise<string> {
  if (!name.toLowerCase().endsWith(".json")) return (await api.modelText({ xml: content })).text;
  let model: unknown;
  try {
    model = JSON.parse(content);
  } catch (error) {
    throw refusal(t.notJson(name, error instanceof Error ? error.message : String(error)));
  }
  if (typeof model !== "object" || model === null || Array.isArray(model)) throw refusal(t.notModel(name));
  return (await api.modelText({ model })).text;
}

/** The statements that are new to the program: types that it knows already are left out. */
function fresh(statements: readonly Statement[]): Statement[] {
  const known = new Set(get().check.outline.map((one) => one.output));
  return statements.filter((one) => one.kind !== "schema" || !known.has(declared(one.text)?.name ?? ""));
}

/** The text with statements behind all others, after an empty line. */
function appended(text: string, statements: readonly Statement[]): string {
  const ends = text.includes("\r\n") ? "\r\n" : "\n";
  const body = statements.map((one) => `${one.text.replace(/\r?\n/g, ends)};${ends}`);
  const before = text.trimEnd();
  return (before ? `${before}${ends}${ends}` : "") + body.join(ends);
}

/** Puts the content of a model file into an EPL file, as one step that can be undone. */
async function insert(name: string, content: string, path: string): Promise<void> {
  const { statements } = await api.graph(path, await textOfModel(name, content), {});
  const own = await api.graph(path, textOf(path), unsavedTexts());
  const taken = new Set(own.statements.map((one) => one.id));
  const added = fresh(statements).filter((one) => one.kind !== "schema" || !taken.has(one.id));
  const twice = added.find((one) => one.kind !== "schema" && taken.has(one.id));
  if (twice) throw refusal(t.exists(twice.id));
  if (!added.length) return say(t.nothingNew(name));
  if (!isWritable()) throw refusal(t.readOnly);
  const before = textOf(path);
  const edits = editBetween(before, appended(before, added));
  if (!(await changeText(path, edits, null))) throw new Error(t.notShown);
  await readDrawings();
  const pattern = added.find((one) => one.canvas);
  if (pattern) choose(pattern.id);
  say(t.imported(name, path));
}

/** Puts model files into an EPL file: the open one, or another; the first one of a directory is made. */
export async function importModels(
  files: readonly { name: string; content: string }[],
  into?: string,
): Promise<void> {
  const { active } = get();
  const open = active?.toLowerCase().endsWith(".epl") ? active : undefined;
  const path = into ?? open ?? FIRST;
  try {
    if (!get().files.some((file) => file.path === path)) await create(path);
    if (get().active !== path || get().view !== "Graph") await openFile(path, "Graph");
    for (const { name, content } of files) await insert(name, content, path);
  } catch (error) {
    tell(error, t.notImported);
  }
}

/** Puts files that were dropped or chosen into the open EPL file. */
export async function importFiles(files: readonly File[]): Promise<void> {
  const models = files.filter((file) => isModel(file.name));
  const [other] = files.filter((file) => !isModel(file.name));
  if (other) tell(refusal(t.noModelFile(other.name)), t.notImported);
  const read = await Promise.all(
    models.map(async (file) => ({ name: file.name, content: await file.text() })),
  );
  if (read.length) await importModels(read);
}

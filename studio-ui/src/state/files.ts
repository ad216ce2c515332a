/** Making and removing files, and which of them are the program. */
import { api } from "../api/client";
import { texts } from "../texts";
import { close, goTo, isRules, leaving, loadFiles, notify, openFile, tell } from "./actions";
import { checkSoon } from "./checking";
import { rulesOf, withoutFile, withRule } from "./program";
import { changeProject, loadProject } from "./project";
import { get } from "./store";

/** Makes a file. A file of rules joins the program, if the project lists its rules one by one. */
export async function create(path: string, text = ""): Promise<void> {
  await api.write(path, text, null);
  await loadFiles();
  if (isRules(path) && get().project.program?.rules) await setInProgram(path, true);
  await goTo({ path, line: 1, column: 1 });
}

/** Puts a file of rules into the program, or takes it out. */
export async function setInProgram(path: string, inside: boolean): Promise<void> {
  const { files } = get();
  await changeProject((project) => withRule(project, files, path, inside));
  await loadFiles().catch(tell);
  checkSoon(0);
}

export function isInProgram(path: string): boolean {
  const { project, files } = get();
  return rulesOf(project, files).includes(path);
}

/** Removes a file, also from the program that names it. */
export async function remove(path: string): Promise<void> {
  const etag = get().files.find((file) => file.path === path)?.etag ?? "";
  leaving.add(path);
  try {
    await api.remove(path, etag);
  } finally {
    leaving.delete(path);
  }
  close(path);
  const { project } = get();
  if (withoutFile(project, path) !== project) await changeProject((now) => withoutFile(now, path));
  await loadFiles();
  checkSoon(0);
}

/** Copies an example into the directory and shows its first rules; in a project without rules it is the program. */
export async function openExample(name: string): Promise<void> {
  try {
    const there = get().files.filter((file) => file.path.startsWith(`${name}/`) && file.kind === "rules");
    if (there[0]) return await openFile(there[0].path);
    const { files, added, command } = await api.openExample(name);
    await Promise.all([loadFiles(), loadProject()]);
    checkSoon(0);
    const rules = files.find(isInProgram) ?? files.find(isRules);
    if (rules) await openFile(rules);
    if (!added) notify("notice", texts.files.copied(name), command ? texts.files.copiedText(command) : "");
  } catch (error) {
    tell(error);
  }
}

/** F2: a type, an attribute or a tag gets another name, in all files of the program. */
import { api } from "../api/client";
import type { Renamed, Texts } from "../api/types";
import {
  flush,
  messageOfProblem,
  open,
  replaceText,
  say,
  tell,
  textOf,
  unsavedTexts,
  withEditor,
} from "../state/actions";
import { checkSoon } from "../state/checking";
import { get, set } from "../state/store";
import { counted, texts } from "../texts";
import { applied } from "./offsets";

/** Which name is renamed: where it was asked for, and the texts as they were then. */
export interface Renaming {
  path: string;
  offset: number;
  name: string;
  kind: string;
}

function textsWith(path: string): Texts {
  return { ...unsavedTexts(), [path]: textOf(path) };
}

/** Asks which name is at a place; if one can be renamed, a dialog asks for the new one. */
export async function startRename(path: string, offset: number): Promise<void> {
  try {
    const { name, kind, problems } = await api.rename(path, textsWith(path), offset, null);
    const [first] = problems;
    if (name !== null && kind !== null) set({ renaming: { path, offset, name, kind }, dialog: "rename" });
    else say(first ? messageOfProblem(first) : texts.rename.nothing);
  } catch (error) {
    tell(error, texts.rename.failed);
  }
}

/** Renames everywhere; returns why it cannot be done, or null. */
export async function finishRename({ path, offset }: Renaming, to: string): Promise<string | null> {
  const before = textsWith(path);
  const { edits, problems } = await api.rename(path, before, offset, to);
  const [first] = problems;
  if (first) return messageOfProblem(first);
  const paths = Object.keys(edits);
  for (const other of paths) await open(other);
  flush();
  // a text that was changed meanwhile, or whose file cannot be written, keeps all others as they are, too
  const { buffers } = get();
  const changed = paths.find((one) => before[one] !== undefined && textOf(one) !== before[one]);
  if (changed) return texts.rename.changed(changed);
  const locked = paths.find((one) => !buffers[one]?.writable);
  if (locked) return texts.rename.locked(locked);
  apply(edits);
  say(texts.rename.done(counted(Object.values(edits).flat().length, "place"), counted(paths.length, "file")));
  return null;
}

function apply(edits: Renamed["edits"]) {
  for (const [path, list] of Object.entries(edits)) {
    withEditor((editor) => editor.prepare(path));
    replaceText(path, applied(textOf(path), list));
  }
  checkSoon(0);
}

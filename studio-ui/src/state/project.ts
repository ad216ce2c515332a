/** `studio.json`: which files are the program, and what else the project says of itself. */
import { ApiError, api } from "../api/client";
import type { Project } from "../api/types";
import { texts } from "../texts";
import { messageOf, notify, tell } from "./actions";
import { get, set } from "./store";

type Change = (project: Project) => Project;

/** One change or reading after the other, so that each has the ETag of the one before. */
let queue: Promise<void> = Promise.resolve();
/** Changes that are not on disk yet: made again behind every reading, and written with the next one. */
const unwritten: Change[] = [];
/** Is all that was changed on disk? */
export const allWritten = () => unwritten.length === 0;
/** Changes that the server has refused for good, as the project would be wrong with them. */
const refused = new WeakSet<Change>();

/** Reads the project. A wrong `studio.json` counts as none; Problems has what is wrong with it. */
export function loadProject(): Promise<void> {
  const done = queue.then(readProject).then(writeChanges);
  queue = done.catch(() => undefined);
  return done;
}

async function readProject(): Promise<void> {
  try {
    const { project, etag } = await api.project();
    const now = unwritten.reduce((before, change) => change(before), project);
    set({ project: now, projectEtag: etag, projectWrong: null });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 422)) throw error;
    set({ project: {}, projectEtag: "", projectWrong: messageOf(error) });
  }
}

/**
 * Changes the project, at once here and then on disk: later if there is no server, if the disk is full, or if
 * `studio.json` is wrong, which is not written over. False if the server refuses the change itself.
 */
export async function changeProject(change: Change): Promise<boolean> {
  const { project, projectWrong } = get();
  unwritten.push(change);
  if (projectWrong === null) set({ project: change(project) });
  queue = queue.then(writeChanges);
  await queue;
  return !refused.has(change);
}

async function writeChanges(): Promise<void> {
  if (!unwritten.length) return;
  try {
    try {
      await write();
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412)) throw error;
      await readProject();
      await write();
    }
  } catch (error) {
    tell(error, texts.run.notKept);
    if (isWrong(error)) await readProject().catch(tell);
  }
}

async function write(): Promise<void> {
  const { project, projectEtag, projectWrong } = get();
  if (projectWrong !== null) {
    notify("error", texts.errors.projectWrong, projectWrong);
    return;
  }
  const sent = [...unwritten];
  try {
    const { etag } = await api.writeProject(project, projectEtag);
    unwritten.splice(0, sent.length);
    set({ projectEtag: etag });
  } catch (error) {
    if (isWrong(error)) for (const change of unwritten.splice(0, sent.length)) refused.add(change);
    throw error;
  }
}

/** Would any server refuse the project? Else the change waits for a better time. */
function isWrong(error: unknown): boolean {
  return error instanceof ApiError && [400, 413, 422].includes(error.status);
}

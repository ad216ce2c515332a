/** `studio.json`: which files are the program, and what else the project says of itself. */
import { ApiError, api } from "../api/client";
import type { Project } from "../api/types";
import { texts } from "../texts";
import { messageOf, notify, tell } from "./actions";
import { get, set } from "./store";

/** One change or reading after the other, so that each has the ETag of the one before. */
let queue: Promise<void> = Promise.resolve();

/** Reads the project. A wrong `studio.json` counts as none; Problems has what is wrong with it. */
export function loadProject(): Promise<void> {
  const done = queue.then(readProject);
  queue = done.catch(() => undefined);
  return done;
}

async function readProject(): Promise<void> {
  try {
    const { project, etag } = await api.project();
    set({ project, projectEtag: etag, projectWrong: null });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 422)) throw error;
    set({ project: {}, projectEtag: "", projectWrong: messageOf(error) });
  }
}

/** Changes the project, at once here and then on disk. A wrong `studio.json` is not written over. */
export function changeProject(change: (project: Project) => Project): Promise<void> {
  const { project, projectWrong } = get();
  if (projectWrong === null) set({ project: change(project) });
  queue = queue.then(() => writeChange(change));
  return queue;
}

async function writeChange(change: (project: Project) => Project): Promise<void> {
  const { project, projectEtag, projectWrong } = get();
  if (projectWrong !== null) {
    notify("error", texts.errors.projectWrong, projectWrong);
    return;
  }
  try {
    // once more, as the project may have been read again meanwhile
    set({ project: change(project) });
    set(await written(change(project), projectEtag, change));
  } catch (error) {
    tell(error, texts.run.notKept);
    await readProject().catch(tell);
  }
}

async function written(project: Project, etag: string, change: (project: Project) => Project) {
  try {
    const answer = await api.writeProject(project, etag);
    return { projectEtag: answer.etag };
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 412)) throw error;
    const theirs = await api.project();
    const next = change(theirs.project);
    const answer = await api.writeProject(next, theirs.etag);
    return { project: next, projectEtag: answer.etag };
  }
}

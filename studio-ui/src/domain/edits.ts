/** Edits of event types: to the server, from there into the text of the open file, as one step of its history. */
import { api, ConnectionLost } from "../api/client";
import type { DomainChange, Edit, Problem, Project } from "../api/types";
import { readDrawings } from "../graph/session";
import { addWork, changeText, say, tell, textOf, unsavedTexts } from "../state/actions";
import { changeProject } from "../state/project";
import { get } from "../state/store";
import { pointsOf } from "../text/offsets";
import { texts } from "../texts";

let last: Promise<unknown> = Promise.resolve();
addWork(async () => {
  await last;
});

/** What a change is refused for; null if it was made. */
export function change(...changes: DomainChange[]): Promise<Problem[] | null> {
  const path = get().active;
  const next = last.then(() => make(path, changes));
  last = next.catch(() => {});
  return next;
}

/** The one edit that leads from a text to another. */
export function editBetween(before: string, after: string): Edit[] {
  if (before === after) return [];
  let start = 0;
  const most = Math.min(before.length, after.length);
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  // never between the two halves of a character
  if (start > 0 && /[\ud800-\udbff]/.test(before[start - 1] ?? "")) start -= 1;
  if (end > 0 && /[\udc00-\udfff]/.test(before[before.length - end] ?? "")) end -= 1;
  return [
    {
      from: pointsOf(before, start),
      to: pointsOf(before, before.length - end),
      insert: after.slice(start, after.length - end),
    },
  ];
}

async function make(path: string | null, changes: readonly DomainChange[]): Promise<Problem[] | null> {
  if (!path) return null;
  const before = textOf(path);
  let now = before;
  let edits: Edit[] = [];
  try {
    for (const one of changes) {
      const answer = await api.domain(path, now, unsavedTexts(), one);
      if (answer.text === null) return answer.problems;
      now = answer.text;
      edits = answer.edits;
    }
    if (textOf(path) !== before) return make(path, changes); // the text was edited meanwhile
    if (changes.length > 1) edits = editBetween(before, now);
    if (edits.length && !(await changeText(path, edits, null))) throw new Error(texts.graph.notShown);
    await readDrawings();
  } catch (error) {
    if (error instanceof ConnectionLost) say(texts.connection.lost);
    else tell(error, texts.domain.notChanged);
  }
  return null;
}

type Icon = NonNullable<Project["icons"]>[string];

/** The icon of a type is kept in the sidecar. */
export function setIcon(type: string, icon: Icon | null) {
  void changeProject((project) => {
    const { [type]: _, ...others } = project.icons ?? {};
    const icons = icon ? { ...others, [type]: icon } : others;
    const { icons: __, ...rest } = project;
    return { version: 1, ...rest, ...(Object.keys(icons).length && { icons }) };
  });
}

/** The rules as they were when a run began, to tell whether they are still the same. */

/** By path: the text if it is open, and the ETag of what lies on disk; `dirty`: the text is not what lies there. */
export type Snapshot = Record<string, { text: string | null; etag: string; dirty?: boolean }>;

export function differs(then: Snapshot, now: Snapshot): boolean {
  for (const path of new Set([...Object.keys(then), ...Object.keys(now)])) {
    const a = then[path];
    const b = now[path];
    if (!a || !b) return true;
    if (a.text !== null && b.text !== null) {
      if (a.text !== b.text) return true;
    } else if (a.etag !== b.etag || a.dirty || b.dirty) return true;
  }
  return false;
}

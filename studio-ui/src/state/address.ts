/** `#/PATH/VIEW/STATEMENT`: the file, the view and the definition that are shown. */
import { VIEW_NAMES, type View } from "../views";

export interface Address {
  path: string | null;
  view: View | null;
  statement: string | null;
}

function viewOf(text: string | undefined): View | null {
  return VIEW_NAMES.find((view) => view.toLowerCase() === text?.toLowerCase()) ?? null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A path may hold slashes: the view is the last or the last but one part. */
export function parseAddress(hash: string): Address {
  const parts = hash
    .replace(/^#?\/?/, "")
    .split("/")
    .filter(Boolean)
    .map(decoded);
  const last = parts.length - 1;
  const at = viewOf(parts[last - 1]) && last >= 1 ? last - 1 : viewOf(parts[last]) ? last : -1;
  if (at < 0) return { path: parts.join("/") || null, view: null, statement: null };
  return {
    path: parts.slice(0, at).join("/") || null,
    view: viewOf(parts[at]),
    statement: parts[at + 1] ?? null,
  };
}

export function formatAddress({ path, view, statement }: Address): string {
  const parts = [
    ...(path ? path.split("/") : []),
    ...(view ? [view.toLowerCase()] : []),
    ...(view && statement ? [statement] : []),
  ];
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

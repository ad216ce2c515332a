/** Event files from elsewhere: under which names they are copied into the directory, and why some cannot be. */
import type { Dropped } from "../parts/DropArea";
import { counted, texts } from "../texts";

const t = texts.run.copy;

/** A file that was dropped or chosen. */
export type Offered = Dropped;

const SUFFIX = /\.(csv|jsonl|parquet)$/i;

export function sizeText(bytes: number): string {
  if (bytes < 1000) return counted(bytes, "byte");
  const [unit, size] =
    bytes < 1 << 20 ? ["KB", 1 << 10] : bytes < 1 << 30 ? ["MB", 1 << 20] : ["GB", 1 << 30];
  const value = bytes / (size as number);
  return `${value < 10 ? value.toFixed(1).replace(".0", "") : Math.round(value)} ${unit}`;
}

/** A name that no file has yet: `rows.csv`, `rows-2.csv`, .. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  const plain = name.replace(/^\.+/, "") || "events.csv";
  const at = plain.lastIndexOf(".");
  const [stem, suffix] = at > 0 ? [plain.slice(0, at), plain.slice(at)] : [plain, ""];
  for (let n = 1; ; n++) {
    const found = n === 1 ? plain : `${stem}-${n}${suffix}`;
    if (!taken.has(found)) return found;
  }
}

/** The names under which files are copied, each another one. */
export function namesFor(offered: readonly Offered[], known: Iterable<string>): string[] {
  const taken = new Set(known);
  return offered.map(({ file }) => {
    const name = freeName(file.name, taken);
    taken.add(name);
    return name;
  });
}

/** Why a file can never be copied, whatever its name; null: it can. */
export function refusal({ file, folder }: Offered, most: number): string | null {
  if (folder) return t.folder;
  if (file.size > most) return t.large(sizeText(file.size), sizeText(most));
  return SUFFIX.test(file.name) ? null : t.suffix;
}

/** What is wrong with a name; null: nothing. */
export function nameProblem(
  name: string,
  others: readonly string[],
  known: ReadonlySet<string>,
): string | null {
  if (!name) return t.noName;
  if (!SUFFIX.test(name)) return t.suffix;
  if (known.has(name)) return t.exists;
  return others.includes(name) ? t.twice : null;
}

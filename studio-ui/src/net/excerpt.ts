/** A marked part of a text, with the lines that it stands in. Columns count code points from 1. */
export interface Excerpt {
  before: string;
  marked: string;
  after: string;
}

interface Span {
  line: number;
  column: number;
  end_line: number;
  end_column: number;
}

/** More is cut: rows of an input may be long. */
const MOST = 2000;

export function excerpt(text: string, { line, column, end_line, end_column }: Span): Excerpt | null {
  const lines = text.split(/\r\n|\n|\r/).slice(line - 1, end_line);
  if (!lines.length) return null;
  const first = [...(lines[0] ?? "")];
  const last = [...(lines.at(-1) ?? "")];
  const single = lines.length === 1;
  const before = first.slice(0, column - 1).join("");
  const after = last.slice(end_column - 1).join("");
  const marked = single
    ? first.slice(column - 1, end_column - 1).join("")
    : [first.slice(column - 1).join(""), ...lines.slice(1, -1), last.slice(0, end_column - 1).join("")].join(
        "\n",
      );
  return { before: before.slice(-MOST), marked: marked.slice(0, MOST), after: after.slice(0, MOST) };
}

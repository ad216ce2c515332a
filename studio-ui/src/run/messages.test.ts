import { expect, it } from "vitest";
import type { Problem } from "../api/types";
import { lineOf, optionsNamed, plainHint, plainMessage } from "./messages";

it("says a row once, and options as the page calls them", () => {
  expect(plainMessage("row 2: unreadable time in column `time`")).toBe("unreadable time in column `time`");
  expect(plainMessage("--until 'yesterday': expected a timestamp")).toBe(
    "Until 'yesterday': expected a timestamp",
  );
  expect(plainHint("use --time-format if times are written so")).toBe(
    "use Time format if times are written so",
  );
  expect(plainHint("write `x` (Python: x=1)")).toBe("write `x`");
  expect(plainHint("use --bad-rows skip (Python: bad_rows='skip')")).toBeNull();
  expect(plainHint(null)).toBeNull();
});

it("tells which options the messages of the server are about", () => {
  const said = (message: string, hint: string | null = null, severity: Problem["severity"] = "error") =>
    ({ message, hint, severity }) as Problem;
  const problems = [
    said("--until 'x': expected a timestamp", "write it as 2024-01-05T09:00:00Z"),
    said("--start 5 is after --until 3"),
    said("--label-column l: there is no such column"),
    said("row 2: unreadable time"),
    said("--step 3 is long", null, "warning"),
  ];
  expect(optionsNamed(problems)).toEqual({
    until: "'x': expected a timestamp; write it as 2024-01-05T09:00:00Z",
    start: "5 is after Until 3",
    label: "l: there is no such column",
  });
});

it("knows on which line a row stands", () => {
  expect([lineOf("a.csv", 2), lineOf("a.jsonl", 2), lineOf("a.parquet", 2)]).toEqual([3, 2, null]);
});

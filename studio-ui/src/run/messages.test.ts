import { expect, it } from "vitest";
import { lineOf, plainHint, plainMessage } from "./messages";

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

it("knows on which line a row stands", () => {
  expect([lineOf("a.csv", 2), lineOf("a.jsonl", 2), lineOf("a.parquet", 2)]).toEqual([3, 2, null]);
});

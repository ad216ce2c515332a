import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

const ALLOWED = new Set(["MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "0BSD"]);

it("ships nothing but what may be shipped", async () => {
  const lock = JSON.parse(await readFile(new URL("../package-lock.json", import.meta.url), "utf8"));
  const shipped = Object.entries<{ dev?: boolean; license?: string; resolved?: string }>(
    lock.packages,
  ).filter(([path, one]) => path && !one.dev);
  expect(shipped.length).toBeGreaterThan(20);
  expect(shipped.filter(([, one]) => !ALLOWED.has(one.license ?? "")).map(([path]) => path)).toEqual([]);
  expect(shipped.filter(([, one]) => one.resolved).map(([path]) => path)).toEqual([]);
});

import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { types } from "../../tools/types.mjs";
import schemas from "./schemas.json";

it("has the types of the interface as it is: npm run shapes", async () => {
  const written = await readFile(new URL("./schema.ts", import.meta.url), "utf8");
  expect(written).toBe(await types(schemas));
});

// Writes src/api/schema.ts, the shapes of the interface as types, from src/api/schemas.json, which are the schemas of
// GET /api/v1/openapi.json.
import { readFile, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";

/** What an answer looks like: members with defaults are there, objects of no shape hold anything. */
function adapted(schema) {
  if (Array.isArray(schema)) return schema.map(adapted);
  if (schema === null || typeof schema !== "object") return schema;
  const out = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, adapted(value)]));
  if (out.prefixItems) {
    out.items = out.prefixItems;
    delete out.prefixItems;
  }
  if (typeof out.$ref === "string") out.$ref = out.$ref.replace("#/components/schemas/", "#/definitions/");
  if (out.type === "object") {
    out.additionalProperties ??= !schema.properties;
    if (schema.properties) out.required = Object.keys(schema.properties);
  }
  return out;
}

export async function types(schemas) {
  const definitions = Object.fromEntries(Object.entries(schemas).map(([name, value]) => [name, adapted(value)]));
  const names = Object.keys(definitions);
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/definitions/${name}` }]));
  return compile(
    { type: "object", definitions, properties, additionalProperties: false, required: names },
    "Schemas",
    { bannerComment: "/** The shapes of the interface; `npm run shapes` makes them from schemas.json. */" },
  );
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const schemas = JSON.parse(await readFile(new URL("../src/api/schemas.json", import.meta.url), "utf8"));
  await writeFile(new URL("../src/api/schema.ts", import.meta.url), await types(schemas));
}

/** Values of detections as the table and Why show them. */
import { grouped } from "../texts";

const CUT = 2000;
/** Whole numbers whose name ends so are identities, which are not read in thousands. */
const IDENTITY = /(^|_)(id|number|code|year|label)$|(?<=[a-z])(Id|ID)$/i;

/** A value as text; long ones are cut. */
export function valueText(value: unknown, name = ""): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "bigint")
    return IDENTITY.test(name) ? String(value) : grouped(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > CUT ? `${text.slice(0, CUT)}…` : text;
}

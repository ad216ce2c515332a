/** A condition by choices: a property, a comparison, a value or a property of an earlier event. */
import type { Canvas, CanvasNode } from "../api/types";
import { texts } from "../texts";
import { attributesOf } from "./known";
import { textOfField, withOperands } from "./model";
import { COMPARISONS } from "./tools";

const t = texts.graph;
const f = t.fields;
const SIGNS = COMPARISONS.map(([, sign]) => sign);

/** The two sides of a single comparison; null if the text is none. */
export function sides(text: string): { left: string; sign: string; right: string } | null {
  const plain = text.trim();
  if (!plain) return { left: "", sign: "", right: "" };
  if (
    /['"`]/.test(plain)
      ? /\b(and|or|not|in|between|like)\b/i.test(plain.replace(/(['"`]).*?\1/g, ""))
      : /\b(and|or|not|in|between|like)\b/i.test(plain)
  )
    return null;
  const found = /^([^<>=!]+?)\s*(!=|<=|>=|<>|=|<|>)\s*([^<>=!]*)$/.exec(plain);
  if (!found) return /^[\p{L}\p{N}_$.`]+$/u.test(plain) ? { left: plain, sign: "", right: "" } : null;
  return { left: found[1] ?? "", sign: found[2] ?? "", right: found[3] ?? "" };
}

/** The properties of an event and of those that may be bound before it, each with its tag. */
function properties(canvas: Canvas, one: CanvasNode): { own: string[]; others: string[] } {
  const of = (node: CanvasNode) => {
    const tag = textOfField(node, "tag");
    return attributesOf(textOfField(node, "typeName")).map(({ name }) => (tag ? `${tag}.${name}` : name));
  };
  const before: string[] = [];
  for (const operator of canvas.nodes) {
    if (operator.kind !== "FollowedBy") continue;
    const operands = canvas.links.filter((link) => link.to === operator.id).sort((a, b) => a.order - b.order);
    const at = operands.findIndex((link) => withOperands(canvas, link.from).has(one.id));
    for (const link of at < 0 ? [] : operands.slice(0, at)) before.push(...withOperands(canvas, link.from));
  }
  const others = canvas.nodes.filter(
    (node) => before.includes(node.id) && node.kind === "Event" && node.fields.tag,
  );
  return { own: of(one), others: others.flatMap(of) };
}

export function ConditionChoices({
  canvas,
  one,
  n,
  text,
  onText,
}: {
  canvas: Canvas;
  one: CanvasNode;
  n: number;
  text: string;
  onText: (text: string) => void;
}) {
  const parts = sides(text);
  if (!parts) return null;
  const { own, others } = properties(canvas, one);
  const { left, sign, right } = parts;
  const put = (change: Partial<typeof parts>) => {
    const next = { ...parts, ...change };
    onText(`${next.left} ${next.sign} ${next.right}`.trim());
  };
  return (
    <div className="graph-choices">
      <Select name={f.property(n)} value={left} choices={own} onValue={(value) => put({ left: value })} />
      <Select name={f.operator(n)} value={sign} choices={SIGNS} onValue={(value) => put({ sign: value })} />
      <Select
        name={f.value(n)}
        value={right}
        choices={[...others, ...own.filter((name) => name !== left), t.anyValue]}
        onValue={(value) => (value === t.anyValue ? typeValue(n, text, right) : put({ right: value }))}
      />
    </div>
  );
}

/** A number or a text is typed: in the field of the condition, in the place of the value. */
function typeValue(n: number, text: string, right: string) {
  const field = document.querySelector<HTMLInputElement>(
    `.graph-fields input[aria-label="${CSS.escape(f.condition(n))}"]`,
  );
  field?.focus();
  field?.setSelectionRange(text.length - right.length, text.length);
}

function Select({
  name,
  value,
  choices,
  onValue,
}: {
  name: string;
  value: string;
  choices: readonly string[];
  onValue: (value: string) => void;
}) {
  const all = value && !choices.includes(value) ? [value, ...choices] : choices;
  return (
    <select
      aria-label={name}
      title={name}
      className="select mono"
      value={value}
      onChange={(event) => onValue(event.target.value)}
    >
      <option value="">…</option>
      {all.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}

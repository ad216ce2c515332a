/** A node of a pattern: symbol, name and tag, the rows below, the ends of links. */
import { Handle, type NodeProps, Position } from "@xyflow/react";
import { CircleAlert, TriangleAlert } from "lucide-react";
import { memo } from "react";
import { pathOf } from "../api/client";
import { Linked } from "../parts/Linked";
import { grouped, texts } from "../texts";
import { infoOf } from "./model";
import type { GraphNode, Icon, NodeData } from "./nodes";
import { KindSymbol } from "./symbols";

const t = texts.graph;

/** The icon of a type of events: a character in a colour, or an image of the project. */
export function TypeIcon({ icon }: { icon: Icon }) {
  if (icon.image) return <img className="type-icon" src={`./api/v1/files/${pathOf(icon.image)}`} alt="" />;
  return (
    <span className="type-icon" data-colour={icon.colour ?? "grey"} aria-hidden="true">
      {icon.character}
    </span>
  );
}

function Badge({ data }: { data: NodeData }) {
  const worst = data.errors.length ? data.errors : data.warnings;
  if (!worst.length) return null;
  const isError = data.errors.length > 0;
  const Mark = isError ? CircleAlert : TriangleAlert;
  return (
    <span className={`node-badge ${isError ? "is-error" : "is-warning"}`}>
      <Mark size={14} aria-hidden />
      {worst.length > 1 ? worst.length : null}
    </span>
  );
}

/** What is wrong, while the node is pointed at or has the focus. */
function Message({ data }: { data: NodeData }) {
  const all = [...data.errors, ...data.warnings];
  if (!all.length) return null;
  return (
    <div className="node-message" role="tooltip">
      {all.map((text) => (
        <p key={text}>
          <Linked text={text} />
        </p>
      ))}
    </div>
  );
}

export const NodeView = memo(function NodeView({ id, data, selected }: NodeProps<GraphNode>) {
  const isTyped = data.colour !== null;
  const className = [
    "node",
    `node-${data.kind}`,
    isTyped ? "node-typed" : "",
    selected ? "is-selected" : "",
    data.errors.length ? "has-errors" : data.warnings.length ? "has-warnings" : "",
    data.lit ? "is-lit" : "",
  ].join(" ");
  return (
    <>
      <div className={className}>
        {isTyped ? <i className="node-edge" style={{ background: data.colour ?? undefined }} /> : null}
        <div className="node-head">
          {data.icon ? <TypeIcon icon={data.icon} /> : <KindSymbol kind={data.kind} />}
          <span className="node-title" title={data.title}>
            {data.title}
          </span>
          {data.tag ? <span className="node-tag">{data.tag}</span> : null}
          {data.passed !== null ? (
            <span className="node-passed" title={t.passed(data.passed)}>
              {grouped(data.passed)}
            </span>
          ) : null}
          <Badge data={data} />
        </div>
        {data.rows.length ? (
          <ul className="node-rows">
            {data.rows.map((row, i) => (
              <li
                // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
                key={i}
                className={
                  row.row !== null && data.wrong.includes(row.row) ? "node-row is-wrong" : "node-row"
                }
                data-row={row.row ?? undefined}
                title={row.name ? `${row.name} = ${row.text}` : row.text}
              >
                {row.name !== undefined ? (
                  <>
                    <span className="node-column">{row.name}</span>
                    <span className="node-equals">=</span>
                  </>
                ) : null}
                <code>{row.text}</code>
              </li>
            ))}
          </ul>
        ) : null}
      </div>
      <Message data={data} />
      {infoOf(data.kind).most > 0 ? (
        <Handle
          type="target"
          position={Position.Left}
          className="port"
          data-testid={`in-${id}`}
          title={t.linkIn(id)}
        />
      ) : null}
      {data.kind === "ComplexEvent" ? null : (
        <Handle
          type="source"
          position={Position.Right}
          className="port"
          data-testid={`out-${id}`}
          title={t.linkOut(id)}
        />
      )}
    </>
  );
});

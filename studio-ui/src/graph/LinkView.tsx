/** A link from an operand to its operator, with its order. */
import { BaseEdge, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import { lineOf } from "./line";
import type { GraphLink } from "./nodes";

/** From the outer edge of an end to its dot. */
const PORT = 7;

export const LinkView = memo(function LinkView(props: EdgeProps<GraphLink>) {
  const { sourceX, sourceY, targetX, targetY, selected, data } = props;
  // the room around the dots belongs to them
  const { path, at } = lineOf(sourceX - PORT, sourceY, targetX + PORT, targetY);
  return (
    <>
      <BaseEdge path={path} className={selected ? "link is-selected" : "link"} interactionWidth={20} />
      {data?.numbered ? (
        <g className="link-order" transform={`translate(${at[0]} ${at[1]})`}>
          <circle r="8" />
          <text textAnchor="middle" dominantBaseline="central">
            {data.order}
          </text>
        </g>
      ) : null}
    </>
  );
});

/** A link from an operand to its operator: it turns in the room before the operator, and carries its order. */
import { BaseEdge, type EdgeProps, getSmoothStepPath } from "@xyflow/react";
import { memo } from "react";
import type { GraphLink } from "./nodes";

/** Before the operator, where the columns have room between them. */
const TURN = 30;
/** From the outer edge of an end to its dot. */
const PORT = 7;

export const LinkView = memo(function LinkView(props: EdgeProps<GraphLink>) {
  const { sourceY, targetY, sourcePosition, targetPosition, selected, data } = props;
  // the room around the dots belongs to them
  const sourceX = props.sourceX - PORT;
  const targetX = props.targetX + PORT;
  const forward = targetX - sourceX > TURN + 8;
  const [path] = getSmoothStepPath({
    sourceX,
    sourceY,
    targetX,
    targetY,
    sourcePosition,
    targetPosition,
    borderRadius: 8,
    ...(forward && { centerX: targetX - TURN }),
  });
  const x = forward ? Math.max(sourceX + 8, targetX - TURN - 10) : (sourceX + targetX) / 2;
  return (
    <>
      <BaseEdge path={path} className={selected ? "link is-selected" : "link"} interactionWidth={20} />
      {data?.numbered ? (
        <g className="link-order" transform={`translate(${x} ${sourceY})`}>
          <circle r="8" />
          <text textAnchor="middle" dominantBaseline="central">
            {data.order}
          </text>
        </g>
      ) : null}
    </>
  );
});

/** The line of a link: it turns in the room before the operator, where the columns have room between them. */
import { getSmoothStepPath, Position } from "@xyflow/react";

const TURN = 30;
/** A link leaves its node so far before it turns, where there is room for it. */
const LEAVES = 20;

export interface Line {
  path: string;
  /** where the order of the operand stands */
  at: [number, number];
}

export function lineOf(sourceX: number, sourceY: number, targetX: number, targetY: number): Line {
  const forward = targetX - sourceX > TURN + 8;
  const [path] = getSmoothStepPath({
    sourceX,
    sourceY,
    targetX,
    targetY,
    sourcePosition: Position.Right,
    targetPosition: Position.Left,
    borderRadius: 8,
    ...(forward && { centerX: targetX - TURN, offset: Math.min(LEAVES, targetX - TURN - sourceX) }),
  });
  const x = forward ? Math.max(sourceX + 8, targetX - TURN - 10) : (sourceX + targetX) / 2;
  return { path, at: [x, sourceY] };
}

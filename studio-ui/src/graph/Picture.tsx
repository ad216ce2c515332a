/** A drawing as a picture of its own (SVG), drawn from its data: colours and fonts are in it, nothing is fetched. */
import { Fragment, type ReactNode } from "react";
import { lineOf } from "./line";
import { HEAD_HEIGHT, MONO, ROW_HEIGHT, type RowText } from "./look";
import type { GraphLink, GraphNode, NodeData } from "./nodes";
import { KindSymbol } from "./symbols";

const MARGIN = 24;
/** From the edge of a node to its texts, and to its rows. */
const SIDE = 12;
const ROWS = 8;
/** The dot at the end of a link. */
const DOT = 4.5;
const TINY_MONO = MONO * (11 / 12);

/** Colours and fonts of the page, by the names of its tokens. */
export type Look = Record<
  | "back"
  | "raised"
  | "hover"
  | "ink"
  | "dim"
  | "faint"
  | "line-strong"
  | "error"
  | "warning"
  | "font"
  | "mono",
  string
>;

export interface PictureProps {
  title: string;
  nodes: readonly GraphNode[];
  links: readonly GraphLink[];
  look: Look;
  /** images of types as data, by path */
  images: ReadonlyMap<string, string>;
  /** colours of icons, by their names */
  colours: ReadonlyMap<string, string>;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

function boxOf(node: GraphNode): Box {
  return { ...node.position, width: node.width ?? 0, height: node.height ?? 0 };
}

/** A text that has so much room at most. */
function cut(text: string, room: number, character: number): string {
  const most = Math.max(1, Math.floor(room / character));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

export function Picture({ title, nodes, links, look, images, colours }: PictureProps) {
  const boxes = new Map(nodes.map((node) => [node.id, boxOf(node)]));
  const all = [...boxes.values()];
  const left = Math.min(...all.map((box) => box.x)) - MARGIN;
  const top = Math.min(...all.map((box) => box.y)) - MARGIN;
  const width = Math.max(...all.map((box) => box.x + box.width)) + MARGIN - left;
  const height = Math.max(...all.map((box) => box.y + box.height)) + MARGIN - top;
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      width={width}
      height={height}
      viewBox={`${left} ${top} ${width} ${height}`}
      role="img"
      fontFamily={look.font}
      fontSize="13"
      fill={look.ink}
    >
      <title>{title}</title>
      <rect x={left} y={top} width={width} height={height} fill={look.back} />
      {nodes.map((node) => (
        <NodePicture key={node.id} box={boxOf(node)} data={node.data} {...{ look, images, colours }} />
      ))}
      {links.map((link) => {
        const [from, to] = [boxes.get(link.source), boxes.get(link.target)];
        return from && to ? <Link key={link.id} from={from} to={to} link={link} look={look} /> : null;
      })}
    </svg>
  );
}

function Link({ from, to, link, look }: { from: Box; to: Box; link: GraphLink; look: Look }) {
  const begin: [number, number] = [from.x + from.width, from.y + from.height / 2];
  const end: [number, number] = [to.x, to.y + to.height / 2];
  const { path, at } = lineOf(begin[0] + DOT, begin[1], end[0] - DOT, end[1]);
  return (
    <>
      <path d={path} fill="none" stroke={look.faint} strokeWidth="1.5" />
      {[begin, end].map(([x, y]) => (
        <circle key={x} cx={x} cy={y} r={DOT} fill={look.raised} stroke={look.faint} strokeWidth="1.5" />
      ))}
      {link.data?.numbered ? (
        <g transform={`translate(${at[0]} ${at[1]})`}>
          <circle r="8" fill={look.back} stroke={look["line-strong"]} />
          <Text at={[0, 0]} size={10} bold middle fill={look.dim}>
            {link.data.order}
          </Text>
        </g>
      ) : null}
    </>
  );
}

interface TextProps {
  at: [number, number];
  size?: number;
  bold?: boolean;
  middle?: boolean;
  fill?: string;
  mono?: string;
  children: ReactNode;
}

/** One line of text around a height. */
function Text({ at, size = 13, bold = false, middle = false, fill, mono, children }: TextProps) {
  return (
    <text
      x={at[0]}
      y={at[1]}
      dy="0.35em"
      fontSize={size}
      fontWeight={bold ? 600 : undefined}
      textAnchor={middle ? "middle" : undefined}
      fill={fill}
      fontFamily={mono}
    >
      {children}
    </text>
  );
}

type NodeProps = { box: Box; data: NodeData } & Pick<PictureProps, "look" | "images" | "colours">;

function NodePicture({ box, data, look, images, colours }: NodeProps) {
  const { width, height } = box;
  const wrong = data.errors.length > 0;
  const ring = wrong ? look.error : data.warnings.length ? look.warning : look["line-strong"];
  const middle = HEAD_HEIGHT / 2;
  const tag = data.tag ? { width: 12 + data.tag.length * TINY_MONO, text: data.tag } : null;
  const image = data.icon?.image ? images.get(data.icon.image) : undefined;
  const titled = SIDE + (data.icon ? 16 : 14) + 6;
  return (
    <g transform={`translate(${box.x} ${box.y})`}>
      <rect {...{ width, height }} rx="6" fill={look.raised} stroke={ring} strokeWidth={wrong ? 2 : 1} />
      {data.colour ? (
        <path d={`M 4 0 A 4 4 0 0 0 0 4 V ${height - 4} A 4 4 0 0 0 4 ${height} Z`} fill={data.colour} />
      ) : null}
      {image ? (
        <image href={image} x={SIDE} y={middle - 8} width="16" height="16" />
      ) : data.icon ? (
        <>
          <rect
            {...{ x: SIDE, y: middle - 8, width: 16, height: 16, rx: 3 }}
            fill={colours.get(data.icon.colour ?? "grey") ?? look.dim}
          />
          <Text at={[SIDE + 8, middle]} size={11} bold middle fill="#ffffff">
            {data.icon.character}
          </Text>
        </>
      ) : (
        <g transform={`translate(${SIDE} ${middle - 7})`} color={look.dim}>
          <KindSymbol kind={data.kind} />
        </g>
      )}
      <Text at={[titled, middle]} bold>
        {cut(data.title, width - titled - SIDE - (tag ? tag.width + 6 : 0), 7.6)}
      </Text>
      {tag ? (
        <>
          <rect
            {...{ x: width - SIDE - tag.width, y: middle - 8, width: tag.width, height: 16, rx: 8 }}
            fill={look.hover}
          />
          <Text at={[width - SIDE - tag.width / 2, middle]} size={11} middle fill={look.dim} mono={look.mono}>
            {tag.text}
          </Text>
        </>
      ) : null}
      {data.rows.map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
        <Fragment key={i}>
          <Row
            row={row}
            at={HEAD_HEIGHT + (i + 0.5) * ROW_HEIGHT}
            room={width}
            wrong={row.row !== null && data.wrong.includes(row.row)}
            look={look}
          />
        </Fragment>
      ))}
    </g>
  );
}

/** A condition or a property as a chip; a column has its name before it. */
function Row({
  row,
  at,
  room,
  wrong,
  look,
}: {
  row: RowText;
  at: number;
  room: number;
  wrong: boolean;
  look: Look;
}) {
  const named = row.name === undefined ? 0 : 4 + row.name.length * MONO + 18;
  const left = ROWS + named;
  const text = cut(row.text, room - left - ROWS - 12, MONO);
  return (
    <>
      {row.name === undefined ? null : (
        <>
          <Text at={[ROWS + 4, at]} size={12} mono={look.mono}>
            {row.name}
          </Text>
          <Text at={[left - 14, at]} size={12} fill={look.dim}>
            =
          </Text>
        </>
      )}
      <rect
        {...{ x: left, y: at - 9, width: text.length * MONO + 12, height: 18, rx: 3 }}
        fill={look.hover}
        stroke={wrong ? look.error : undefined}
      />
      <Text at={[left + 6, at]} size={12} mono={look.mono} {...(wrong && { fill: look.error })}>
        {text}
      </Text>
    </>
  );
}

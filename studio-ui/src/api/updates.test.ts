import { expect, it } from "vitest";
import { SseParser, wait } from "./updates";

const STREAM =
  'id: a-1\n: connected\n\nid: a-2\nevent: file\ndata: {"path":\ndata: "x"}\n\n: beat\n\ndata: y\r\n\r\n';

it("reads a stream whichever way it is cut", () => {
  for (let size = 1; size <= STREAM.length; size++) {
    const parser = new SseParser();
    const found = [];
    for (let i = 0; i < STREAM.length; i += size) found.push(...parser.push(STREAM.slice(i, i + size)));
    expect(found).toEqual([
      { event: "file", data: '{"path":\n"x"}' },
      { event: "message", data: "y" },
    ]);
    expect(parser.id).toBe("a-2");
  }
});

it("waits 1, 2, 4 .. 15 s", () => {
  expect([0, 1, 2, 3, 4, 9].map(wait)).toEqual([1, 2, 4, 8, 15, 15]);
});

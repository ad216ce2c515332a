/** The compiler checks here that what the server answers (schema.ts) is what the page takes (types.ts). */
import type * as server from "./schema";
import type * as page from "./types";

type Taken = {
  about: page.About;
  files: page.FileEntry;
  problem: page.Problem;
  check: page.CheckAnswer;
  complete: page.CompleteAnswer;
  hover: page.HoverAnswer;
  definition: page.DefinitionAnswer;
  peek: page.PeekAnswer;
  job: page.Job;
  result: page.RunResult;
  timeline: page.TimelineAnswer;
  rows: page.RowsAnswer;
  why: page.WhyAnswer;
  changes: page.ChangesAnswer;
  format: page.FormatAnswer;
  graph: page.GraphAnswer;
  canvas: page.CanvasAnswer;
  domain: page.DomainAnswer;
  error: page.ErrorBody;
};

/** a detection has a time */
type Timed = server.Detection & { ticks: page.Ticks };

type Answered = {
  about: server.About;
  files: server.File;
  problem: server.Problem;
  check: server.Checked;
  complete: server.Completions;
  hover: server.Hover;
  definition: server.Places;
  peek: server.Peeked;
  job: server.Job;
  result: server.Result;
  timeline: server.Timeline;
  rows: server.Rows;
  /** a detection has a time */
  why: server.Why & { detection: { ticks: page.Ticks } };
  changes: Pick<server.Changes, "types"> & { gained: Timed[]; lost: Timed[] };
  format: server.Formatted;
  graph: server.Graph;
  canvas: server.Edited;
  domain: server.DomainChanged;
  error: server.ErrorAnswer;
};

/** Never called: each member of the one has to fit the other. */
export const agreed = (answered: Answered): Taken => answered;

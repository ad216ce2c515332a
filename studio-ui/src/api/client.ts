/** Typed calls of `/api/v1`; errors are `ApiError`, a lost connection is `ConnectionLost`. */
import { texts } from "../texts";
import type { NetChange, NetOpened, NetState, Repair, WhyNotRequest } from "./schema";
import type {
  About,
  Canvas,
  CanvasAnswer,
  ChangesAnswer,
  CheckAnswer,
  CompleteAnswer,
  DefinitionAnswer,
  DomainAnswer,
  DomainChange,
  ErrorBody,
  ExampleAnswer,
  FileEntry,
  FormatAnswer,
  GraphAnswer,
  HoverAnswer,
  Job,
  JobKind,
  NetAsked,
  NetJob,
  NetMove,
  Options,
  PeekAnswer,
  PlanAnswer,
  Problem,
  Project,
  Renamed,
  RowsAnswer,
  Texts,
  TimelineAnswer,
  WhyAnswer,
} from "./types";

const ROOT = "./api/v1/";
/** This page: a newer check of the same page overtakes an older one. */
const CLIENT = Math.random().toString(36).slice(2);

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly hint: string | null = null,
    readonly problems: Problem[] = [],
  ) {
    super(message);
  }
}

export class ConnectionLost extends Error {}

let whenLost: () => void = () => {};
/** Called whenever a request finds no server. */
export function onLost(call: () => void) {
  whenLost = call;
}

export function pathOf(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

type Query = Record<string, string | number | boolean | null | undefined | readonly string[]>;

export function url(call: string, query: Query = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") continue;
    params.set(name, Array.isArray(value) ? value.join(",") : String(value));
  }
  const search = params.toString();
  return ROOT + call + (search && `?${search}`);
}

async function ask(method: string, address: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, { method, credentials: "same-origin", cache: "no-store", ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    whenLost();
    throw new ConnectionLost(texts.connection.lost);
  }
  if (response.ok) return response;
  let body: Partial<ErrorBody> = {};
  try {
    body = (await response.json()) as ErrorBody;
  } catch {
    // an answer that is not ours: its status says enough
  }
  const error = body.error;
  throw new ApiError(
    response.status,
    error?.kind ?? "error",
    error?.message ?? texts.errors.status(response.status),
    error?.hint ?? null,
    error?.problems ?? [],
  );
}

async function get<T>(call: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return (await ask("GET", url(call, query), { signal })).json() as Promise<T>;
}

async function post<T>(call: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const headers = { "Content-Type": "application/json", "Occurs-Client": CLIENT };
  const response = await ask("POST", ROOT + call, { body: JSON.stringify(body), headers, signal });
  return response.json() as Promise<T>;
}

/** A file as it lies on disk; `error` says why its bytes are no text. */
export interface FileText {
  text: string;
  etag: string;
}

function etagOf(response: Response): string {
  return response.headers.get("ETag") ?? "";
}

export interface TimelineQuery {
  from?: number | string;
  to?: number | string;
  width: number;
  by?: string;
  types?: readonly string[];
}

export interface ExportQuery {
  format: "csv" | "jsonl" | "parquet" | "html";
  type?: string;
  from?: number | string;
  to?: number | string;
  text?: string;
}

export interface RowsQuery {
  type?: string;
  from?: number | string;
  to?: number | string;
  text?: string;
  sort?: string;
  offset?: number;
  limit?: number;
}

export const api = {
  about: () => get<About>("about"),
  /** The files, and a mark that tells projects of the same name apart. */
  async files(): Promise<{ files: FileEntry[]; mark: string }> {
    const response = await ask("GET", url("files"));
    return {
      files: (await response.json()) as FileEntry[],
      mark: response.headers.get("Occurs-Project") ?? "",
    };
  },
  async read(path: string): Promise<FileText> {
    const response = await ask("GET", url(`files/${pathOf(path)}`));
    // decoded here: `text()` would drop a byte order mark
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await response.arrayBuffer());
    return { text, etag: etagOf(response) };
  },
  /** Saves if the file is still the one with `etag`; `null`: makes a new one. Returns the new ETag. */
  async write(path: string, content: string | Blob, etag: string | null): Promise<string> {
    const type = typeof content === "string" ? "text/plain; charset=utf-8" : "application/octet-stream";
    const headers: Record<string, string> = { "Content-Type": type };
    if (etag === null) headers["If-None-Match"] = "*";
    else headers["If-Match"] = etag;
    return etagOf(await ask("PUT", url(`files/${pathOf(path)}`), { body: content, headers }));
  },
  async remove(path: string, etag: string): Promise<void> {
    await ask("DELETE", url(`files/${pathOf(path)}`), { headers: { "If-Match": etag } });
  },
  async project(): Promise<{ project: Project; etag: string }> {
    const response = await ask("GET", url("project"));
    return { project: (await response.json()) as Project, etag: etagOf(response) };
  },
  async writeProject(project: Project, etag: string): Promise<{ project: Project; etag: string }> {
    const headers: Record<string, string> = { "Content-Type": "application/json" };
    if (etag) headers["If-Match"] = etag;
    else headers["If-None-Match"] = "*";
    const response = await ask("PUT", url("project"), { body: JSON.stringify(project), headers });
    return { project: (await response.json()) as Project, etag: etagOf(response) };
  },
  check: (texts: Texts, signal?: AbortSignal) => post<CheckAnswer>("check", { texts }, signal),
  complete: (path: string, texts: Texts, offset: number, signal?: AbortSignal) =>
    post<CompleteAnswer>("complete", { path, texts, offset }, signal),
  hover: (path: string, texts: Texts, offset: number, signal?: AbortSignal) =>
    post<HoverAnswer>("hover", { path, texts, offset }, signal),
  definition: (path: string, texts: Texts, offset: number) =>
    post<DefinitionAnswer>("definition", { path, texts, offset }),
  rename: (path: string, texts: Texts, offset: number, to: string | null) =>
    post<Renamed>("rename", { path, texts, offset, to }),
  format: (path: string, text: string) => post<FormatAnswer>("format", { path, text }),
  graph: (path: string, text: string, texts: Texts, signal?: AbortSignal) =>
    post<GraphAnswer>("epl/graph", { text, path, texts }, signal),
  canvas: (path: string, text: string, texts: Texts, statement: string | null, canvas: Canvas) =>
    post<CanvasAnswer>("epl/canvas", { text, path, texts, statement, canvas }),
  domain: (path: string, text: string, texts: Texts, change: DomainChange) =>
    post<DomainAnswer>("epl/domain", { text, path, texts, change }),
  /** A pattern of a text as a graphical model. */
  model: (text: string, statement: string) => post<Record<string, unknown>>("epl/model", { text, statement }),
  /** The text of a graphical model, or of a file of MEdit4CEP. */
  modelText: (of: { model: unknown } | { xml: string }) => post<{ text: string }>("epl/model", of),
  plan: (texts: Texts, events?: string[], signal?: AbortSignal) =>
    post<PlanAnswer>("plan", events ? { texts, events } : { texts }, signal),
  peek: (events: string[] | undefined, options: Options | undefined, rows: number, signal?: AbortSignal) =>
    post<PeekAnswer>("events/peek", { events, options, rows }, signal),
  start: (kind: JobKind, texts: Texts, events?: string[], options?: Options) =>
    post<{ id: string }>("jobs", {
      kind,
      texts,
      ...(events && { events }),
      ...(options && { options }),
    }),
  openExample: (name: string) => post<ExampleAnswer>("examples", { name }),
  job: (id: string) => get<Job>(`jobs/${id}`),
  async cancel(id: string): Promise<void> {
    await ask("DELETE", url(`jobs/${id}`));
  },
  timeline: (id: string, query: TimelineQuery, signal?: AbortSignal) =>
    get<TimelineAnswer>(`jobs/${id}/timeline`, { ...query }, signal),
  rows: (id: string, query: RowsQuery, signal?: AbortSignal) =>
    get<RowsAnswer>(`jobs/${id}/rows`, { ...query }, signal),
  why: (id: string, label: string, depth?: number, signal?: AbortSignal) =>
    get<WhyAnswer>(`jobs/${id}/why/${encodeURIComponent(label)}`, { depth }, signal),
  /** Asks what was checked for a detection of a run; the answer is the result of a job. */
  askWhy: (run: string, label: string) => post<{ id: string }>(`jobs/${run}/why`, { label }),
  /** Asks why a run does not have a detection. */
  askWhyNot: (run: string, question: WhyNotRequest) => post<{ id: string }>(`jobs/${run}/why-not`, question),
  /** The texts that the repair of a reason changes. */
  repair: (id: string, reason: number) => get<Repair>(`jobs/${id}/repairs/${reason}`),
  changes: (id: string, other: string, signal?: AbortSignal) =>
    get<ChangesAnswer>(`jobs/${id}/changes/${other}`, {}, signal),
  openNet: (asked: NetAsked, signal?: AbortSignal) => post<NetOpened>("nets", asked, signal),
  editNet: (id: string, changes: NetChange[]) => post<NetOpened>(`nets/${id}/edit`, { changes }),
  startNet: (kind: Exclude<JobKind, "run">, texts: Texts, net: NetJob) =>
    post<{ id: string }>("jobs", { kind, texts, net }),
  fire: (id: string, move: NetMove) => post<NetState>(`nets/${id}/fire`, move),
  async exportNet(id: string, format: "cpn" | "net.json" | "svg", theme?: "light" | "dark"): Promise<Blob> {
    return (await ask("GET", url(`nets/${id}/export`, { format, theme }))).blob();
  },
  async closeNet(id: string): Promise<void> {
    await ask("DELETE", url(`nets/${id}`));
  },
  async export(id: string, query: ExportQuery): Promise<Blob> {
    return (await ask("GET", url(`jobs/${id}/export`, { ...query }))).blob();
  },
};

/** Times of a run: ticks as exact numbers, wall clocks in the project's zone, durations, labels of an axis. */
import { scaleLinear, scaleUtc } from "d3-scale";
import type { Project, Ticks } from "../api/types";
import { grouped } from "../texts";

/** What a tick counts: microseconds since 1970 (`timestamp`), or integers of a `unit` (null: of none). */
export interface TimeKind {
  timestamp: boolean;
  unit: string | null;
}

const MICROSECONDS: Record<string, number> = {
  us: 1,
  ms: 1e3,
  s: 1e6,
  min: 6e7,
  h: 3.6e9,
  d: 8.64e10,
  w: 6.048e11,
};
const DAY = 86_400_000;
/** Milliseconds beyond which `Date` has no days. */
const DATES = 8.64e15;
/** Ticks as an exact integer; beyond 2^53 - 1 the server writes them as text. */
export function exact(ticks: Ticks): bigint {
  return typeof ticks === "string" ? BigInt(ticks) : BigInt(Math.round(ticks));
}

/**
 * Times as offsets from an origin: numbers small enough to compute with, though ticks may be as large as 2^63.
 */
export class Clock {
  private readonly wall: Intl.DateTimeFormat | null;
  /** the zone whose clocks are shown: UTC in place of one that the browser does not know */
  readonly zone: string;

  constructor(
    readonly kind: TimeKind,
    readonly origin: bigint,
    zone: string = "UTC",
  ) {
    this.wall = kind.timestamp && zone !== "UTC" ? wallClock(zone) : null;
    this.zone = this.wall ? zone : "UTC";
  }

  /** What the numbers of an axis mean: a zone, or a unit. */
  get scale(): string {
    return this.kind.timestamp ? this.zone : (this.kind.unit ?? "ticks");
  }

  offset(ticks: Ticks): number {
    return Number(exact(ticks) - this.origin);
  }

  /** The ticks at an offset, as the server reads them. */
  ticks(offset: number): string {
    return String(this.origin + BigInt(Math.round(offset)));
  }

  /** What the zone's clocks show, in milliseconds as if it were UTC; null if no calendar reaches there. */
  private local(milliseconds: number): number | null {
    if (!(Math.abs(milliseconds) < DATES - 2 * DAY)) return null;
    return milliseconds + (this.wall ? shift(this.wall, milliseconds) : 0);
  }

  /** A time in the zone: `2013-03-08 09:56:00`, with the fraction of a second if there is one. */
  text(ticks: Ticks): string {
    const at = exact(ticks);
    if (!this.kind.timestamp) return grouped(at);
    const [milliseconds, rest] = split(at);
    const local = this.local(milliseconds);
    if (local === null) return grouped(at);
    const iso = new Date(local).toISOString();
    const fraction = iso.slice(-4, -1) + String(rest).padStart(3, "0");
    const shown = fraction.replace(/0+$/, "");
    return iso.slice(0, -5).replace("T", " ") + (shown && `.${shown}`);
  }

  /** Two times as texts, the second one without its date where that is the same. */
  between(from: Ticks, to: Ticks): [string, string] {
    const [first, last] = [this.text(from), this.text(to)];
    return [first, this.kind.timestamp && first.slice(0, 11) === last.slice(0, 11) ? last.slice(11) : last];
  }

  /** The whole of a time, for those who hover over it. */
  full(ticks: Ticks): string {
    if (this.kind.timestamp) return `${this.text(ticks)} ${this.zone} (${exact(ticks)} us since 1970)`;
    return `${exact(ticks)}${this.kind.unit ? ` ${this.kind.unit}` : ""}`;
  }

  /** The day of a time, to stand beside an axis that shows hours; empty for plain integers. */
  day(offset: number): string {
    if (!this.kind.timestamp) return this.kind.unit ?? "ticks";
    const local = this.local(split(exact(this.ticks(offset)))[0]);
    return local === null ? "" : `${new Date(local).toISOString().slice(0, 10)} ${this.zone}`;
  }

  /**
   * Where a view is: its day, or, when zoomed in, its first and last time as exactly as they differ.
   *
   * What has no room, in characters, is left out: first the date, then seconds, then the zone, but never a time.
   */
  span(range: Range, limits: Range, room = Number.POSITIVE_INFINITY): string {
    const texts = this.spans(range, limits);
    return texts.find((text) => text.length <= room) ?? texts.at(-1) ?? "";
  }

  /** The texts for a span, the longest first. */
  private spans(range: Range, limits: Range): string[] {
    const day = this.day(Math.max(0, range.from));
    const part = range.to - range.from;
    if (!this.kind.timestamp) return [day];
    const zone = ` ${this.zone}`;
    if (part > 0.5 * (limits.to - limits.from)) return [day, day.replace(zone, "")];
    const step = part > 6e7 ? 1e6 : part > 1e6 ? 1e3 : 1;
    const [from = "", to = ""] = [range.from, range.to].map((at) =>
      this.text(this.ticks(Math.floor(at / step) * step)),
    );
    const [first, last] = [from, to].map((text) => text.slice(11));
    const [start, end] = [from, to].map((text) => text.slice(11, 16));
    const dated = `${from} – ${from.slice(0, 10) === to.slice(0, 10) ? last : to}`;
    const timed = `${first} – ${last}`;
    // within a minute the seconds are all that differs
    const short = from.slice(0, 16) === to.slice(0, 16) ? timed : `${start} – ${end}`;
    return [dated + zone, timed + zone, short + zone, short];
  }

  /** A length of time in its two largest units. */
  roughly(ticks: number): string {
    return this.duration(ticks).split(" ").slice(0, 4).join(" ");
  }

  /** A length of time in the largest units that divide it: `1 h 30 min`. */
  duration(ticks: number): string {
    const unit = this.kind.timestamp ? 1 : MICROSECONDS[this.kind.unit ?? ""];
    if (unit === undefined) return `${grouped(Math.round(ticks))} ticks`;
    return durationText(ticks * unit);
  }

  /** Where an axis of `width` pixels has its marks, and what stands there. */
  axis(range: Range, width: number): AxisTick[] {
    const most = Math.max(2, Math.floor(width / 110));
    if (!this.kind.timestamp) return this.plainAxis(range, most);
    const milliseconds = Number(this.origin) / 1e3;
    const local = (offset: number) => this.local(milliseconds + offset / 1e3);
    const from = local(range.from);
    const to = local(range.to);
    if (from === null || to === null) return this.plainAxis(range, most);
    if (to - from < most) return this.secondsAxis(range, most);
    const scale = scaleUtc([new Date(from), new Date(to)], [0, 1]);
    const found = scale.ticks(most);
    const step = Math.min(
      ...found.slice(1).map((at, i) => at.getTime() - (found[i] as Date).getTime()),
      Infinity,
    );
    const out: AxisTick[] = [];
    for (const at of found) {
      const wall = at.getTime();
      // the instant at which the clocks show this: one step of correction suffices beside a change of the clocks
      let instant = wall - (from - (milliseconds + range.from / 1e3));
      for (let i = 0; i < 2; i++) instant += wall - (this.local(instant) ?? wall);
      const offset = (instant - milliseconds) * 1e3;
      if (offset < range.from || offset > range.to) continue;
      out.push({ at: offset, ...calendarLabel(at, step) });
    }
    return out;
  }

  private plainAxis(range: Range, most: number): AxisTick[] {
    const base = Number(this.origin);
    const ticks = scaleLinear([base + range.from, base + range.to], [0, 1]).ticks(most);
    return ticks.filter(Number.isInteger).map((at) => ({ at: at - base, label: grouped(at), major: false }));
  }

  /** Parts of a millisecond. */
  private secondsAxis(range: Range, most: number): AxisTick[] {
    const [start, rest] = split(this.origin + BigInt(Math.floor(range.from)));
    const base = Math.floor(range.from) - rest;
    const ticks = scaleLinear([range.from - base, range.to - base], [0, 1]).ticks(most);
    return ticks.filter(Number.isInteger).map((at) => {
      const second = (((start % 60_000) + 60_000) % 60_000) / 1e3 + at / 1e6;
      return { at: at + base, label: `:${second.toFixed(6).padStart(9, "0")}`, major: false };
    });
  }
}

export interface Range {
  from: number;
  to: number;
}

export interface AxisTick {
  at: number;
  label: string;
  /** the start of a day, a month or a year among smaller steps */
  major: boolean;
}

/** Microseconds as whole milliseconds and the rest. */
function split(ticks: bigint): [number, number] {
  const rest = ((ticks % 1000n) + 1000n) % 1000n;
  return [Number((ticks - rest) / 1000n), Number(rest)];
}

/** The zone whose clocks a project shows. */
export function zoneOf(project: Project): string {
  const zone = project.program?.options?.zone;
  return typeof zone === "string" ? zone : "UTC";
}

/** A time that the server wrote in UTC (`2013-03-08T09:56:00Z`) as the zone's clocks show it; other texts stay. */
export function zoned(text: string | number, zone: string): string {
  const found =
    typeof text === "string" ? /^(-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/.exec(text) : null;
  if (!found) return typeof text === "number" ? grouped(text) : text;
  const seconds = Date.parse(`${found[1]}Z`);
  if (Number.isNaN(seconds)) return String(text);
  const ticks = BigInt(seconds) * 1000n + BigInt((found[2] ?? "").padEnd(6, "0"));
  return new Clock({ timestamp: true, unit: null }, 0n, zone).text(String(ticks));
}

/** Does the browser know a zone? */
export function knowsZone(zone: string): boolean {
  return zone === "UTC" || wallClock(zone) !== null;
}

function wallClock(zone: string): Intl.DateTimeFormat | null {
  const parts = { year: "numeric", month: "numeric", day: "numeric" } as const;
  const time = { hour: "numeric", minute: "numeric", second: "numeric", hourCycle: "h23" } as const;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: zone, era: "short", ...parts, ...time });
  } catch {
    return null; // a zone that the browser does not know: UTC
  }
}

/** How far the zone's clocks are ahead of UTC, in milliseconds. */
function shift(format: Intl.DateTimeFormat, milliseconds: number): number {
  const part: Record<string, number> = {};
  let before = false;
  for (const { type, value } of format.formatToParts(milliseconds)) {
    if (type === "era") before = value === "BC";
    else part[type] = Number(value);
  }
  const year = before ? 1 - (part.year ?? 0) : (part.year ?? 0);
  const date = new Date(0);
  date.setUTCFullYear(year, (part.month ?? 1) - 1, part.day ?? 1);
  date.setUTCHours(part.hour ?? 0, part.minute ?? 0, part.second ?? 0);
  return date.getTime() - Math.floor(milliseconds / 1000) * 1000;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** What stands at a time (wall clock) on an axis whose marks are `step` milliseconds apart. */
function calendarLabel(at: Date, step: number): { label: string; major: boolean } {
  const iso = at.toISOString();
  const month = MONTHS[at.getUTCMonth()] ?? "";
  const midnight = at.getTime() % DAY === 0;
  if (midnight && at.getUTCDate() === 1 && at.getUTCMonth() === 0 && step > DAY)
    return { label: String(at.getUTCFullYear()), major: step < 300 * DAY };
  if (step >= 28 * DAY) return { label: month, major: false };
  if (midnight) return { label: `${at.getUTCDate()} ${month}`, major: step < DAY };
  if (step >= 60_000) return { label: iso.slice(11, 16), major: false };
  if (step >= 1000) return { label: iso.slice(11, 19), major: false };
  return { label: iso.slice(11, 23), major: false };
}

export function durationText(microseconds: number): string {
  let left = Math.round(Math.abs(microseconds));
  const parts: string[] = [];
  for (const unit of ["d", "h", "min", "s", "ms", "us"]) {
    const size = MICROSECONDS[unit] as number;
    if (left >= size) {
      parts.push(`${grouped(Math.floor(left / size))} ${unit}`);
      left %= size;
    }
  }
  return (microseconds < 0 ? "-" : "") + (parts.join(" ") || "0 s");
}

/** Seconds that a run has taken: `0.4 s`, `12 s`, `3 min 20 s`. */
export function elapsedText(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  return durationText(Math.round(seconds) * 1e6);
}

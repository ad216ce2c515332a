import { expect, test } from "vitest";
import { grouped } from "../texts";
import { Clock, durationText, elapsedText, exact, knowsZone, zoned, zoneOf } from "./time";

const stamp = { timestamp: true, unit: "us" };
const us = (iso: string) => Date.parse(iso) * 1000;

test("digits stand in groups, fractions and texts do not", () => {
  expect(grouped(1234567)).toBe("1\u202f234\u202f567");
  expect(grouped(-1234.5)).toBe("-1\u202f234.5");
  expect(grouped("9223372036854775807")).toBe("9\u202f223\u202f372\u202f036\u202f854\u202f775\u202f807");
  expect(grouped(999)).toBe("999");
  expect(grouped("1e21")).toBe("1e21");
});

test("ticks beyond 2^53 stay exact", () => {
  const clock = new Clock({ timestamp: false, unit: null }, exact("9007199254740993"));
  expect(clock.offset("9007199254740995")).toBe(2);
  expect(clock.ticks(4)).toBe("9007199254740997");
});

test("times in a zone, with the fraction if there is one", () => {
  const at = us("2013-03-08T09:56:00Z");
  expect(new Clock(stamp, 0n).text(at)).toBe("2013-03-08 09:56:00");
  expect(new Clock(stamp, 0n, "America/New_York").text(at)).toBe("2013-03-08 04:56:00");
  expect(new Clock(stamp, 0n).text(at + 120)).toBe("2013-03-08 09:56:00.00012");
  expect(new Clock(stamp, 0n).text(-1)).toBe("1969-12-31 23:59:59.999999");
  expect(new Clock(stamp, 0n, "No/Where").text(0)).toBe("1970-01-01 00:00:00");
  expect(new Clock(stamp, 0n).text("9223372036854775807")).toContain("\u202f");
});

test("an axis has its marks at whole hours of the zone, also where clocks change", () => {
  const clock = new Clock(stamp, BigInt(us("2024-10-26T20:00:00Z")), "Europe/Berlin");
  const ticks = clock.axis({ from: 0, to: 12 * 3600e6 }, 700);
  const shown = ticks.map((tick) => tick.label);
  expect(shown[0]).toBe("27 Oct");
  expect(ticks[0]?.major).toBe(true);
  // summer time ends: midnight is 22:00 UTC, six in the morning 05:00 UTC
  expect(ticks[0]?.at).toBe(2 * 3600e6);
  const six = ticks.find((tick) => tick.label === "06:00");
  expect(six?.at).toBe(9 * 3600e6);
});

test("axes from years to microseconds have at most as many marks as have room", () => {
  const clock = new Clock(stamp, BigInt(us("2024-01-01T00:00:00Z")));
  for (let span = 10; span < 1e15; span *= 7) {
    const ticks = clock.axis({ from: 1, to: 1 + span }, 1100);
    expect(ticks.length).toBeGreaterThan(0);
    expect(ticks.length).toBeLessThan(22);
    for (const tick of ticks) expect(tick.label).not.toMatch(/NaN|undefined/);
    expect(new Set(ticks.map((tick) => tick.at)).size).toBe(ticks.length);
  }
});

test("an axis of integers has whole numbers only", () => {
  const clock = new Clock({ timestamp: false, unit: "min" }, 1n);
  const ticks = clock.axis({ from: 0, to: 3 }, 2000);
  expect(ticks.map((tick) => tick.label)).toEqual(["1", "2", "3", "4"]);
  expect(ticks.map((tick) => tick.at)).toEqual([0, 1, 2, 3]);
});

test("durations", () => {
  expect(durationText(5.4e9)).toBe("1 h 30 min");
  expect(durationText(0)).toBe("0 s");
  expect(new Clock({ timestamp: false, unit: "min" }, 0n).duration(90)).toBe("1 h 30 min");
  expect(new Clock({ timestamp: false, unit: null }, 0n).duration(1500)).toBe("1\u202f500 ticks");
  expect(elapsedText(420)).toBe("0.4 s");
  expect(elapsedText(200_000)).toBe("3 min 20 s");
});

test("a zone that the browser does not know is UTC, and says so", () => {
  expect(new Clock(stamp, 0n, "No/Where").zone).toBe("UTC");
  expect(new Clock(stamp, 0n, "No/Where").day(0)).toBe("1970-01-01 UTC");
  expect(new Clock(stamp, 0n, "Europe/Berlin").scale).toBe("Europe/Berlin");
  expect(new Clock({ timestamp: false, unit: "min" }, 0n, "Europe/Berlin").scale).toBe("min");
  expect([knowsZone("Europe/Berlin"), knowsZone("UTC"), knowsZone("No/Where")]).toEqual([true, true, false]);
  expect(zoneOf({})).toBe("UTC");
  expect(zoneOf({ program: { options: { zone: "Asia/Tokyo" } } })).toBe("Asia/Tokyo");
});

test("times that the server wrote are shown in the zone, other texts as they are", () => {
  expect(zoned("2013-03-08T09:56:00Z", "America/New_York")).toBe("2013-03-08 04:56:00");
  expect(zoned("2013-03-08T09:56:00.25Z", "UTC")).toBe("2013-03-08 09:56:00.25");
  expect(zoned("1900-01-01T00:00:00.000001Z", "UTC")).toBe("1900-01-01 00:00:00.000001");
  expect(zoned(12345, "Asia/Tokyo")).toBe("12\u202f345");
  expect(zoned("soon", "Asia/Tokyo")).toBe("soon");
});

test("a zoomed view says where it is, lengths are in two units", () => {
  const clock = new Clock(stamp, BigInt(us("2013-03-08T14:58:19Z")));
  const limits = { from: 0, to: 86400e6 };
  expect(clock.span(limits, limits)).toBe("2013-03-08 UTC");
  expect(clock.span({ from: 0, to: 3600e6 }, limits)).toBe("2013-03-08 14:58:19 – 15:58:19 UTC");
  expect(clock.span({ from: 869e3, to: 875e3 }, limits)).toBe("2013-03-08 14:58:19.869 – 14:58:19.875 UTC");
  expect(clock.span({ from: 36000e6, to: 39600e6 }, limits)).toBe("2013-03-09 00:58:19 – 01:58:19 UTC");
  // without room: the date goes first, then seconds, then the zone, and both times stay
  const hour = { from: 0, to: 3600e6 };
  expect([34, 33, 22, 16, 5].map((room) => clock.span(hour, limits, room))).toEqual([
    "2013-03-08 14:58:19 – 15:58:19 UTC",
    "14:58:19 – 15:58:19 UTC",
    "14:58 – 15:58 UTC",
    "14:58 – 15:58",
    "14:58 – 15:58",
  ]);
  expect(clock.span({ from: 0, to: 20e6 }, limits, 10)).toBe("14:58:19 – 14:58:39");
  expect(clock.span(limits, limits, 12)).toBe("2013-03-08");
  expect(clock.roughly(26_825_470_852)).toBe("7 h 27 min");
  expect(new Clock({ timestamp: false, unit: null }, 0n).roughly(1234)).toBe("1\u202f234 ticks");
});

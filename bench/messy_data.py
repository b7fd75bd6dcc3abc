"""Rows for `bench messy`: departures with their schedule, weather, aircraft and destination, as an export has them.

Numbers and words side by side, with dependencies that run from the calendar to the delays, and missing cells that have
a structure: gusts are reported where the wind is strong, a station that is down misses its whole block, canceled
departures lack all that comes after, and aircraft that no register knows lack theirs. In all 7.5 % of the cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

#: As many as the table of departures that this one is made after.
ROWS = 336_776

WEATHER = ["temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib"]
PLANE = ["plane_year", "plane_type", "manufacturer", "engines", "seats", "engine"]
FLOWN = ["dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"]
PLACE = ["dest_lat", "dest_lon", "dest_alt", "dest_zone"]


def departures(rows: int = ROWS, seed: int = 0) -> pd.DataFrame:
    """So many rows of 36 columns; the same for the same seed."""
    rng = np.random.default_rng(seed)
    table: dict[str, NDArray] = {}
    table |= calendar(rng, rows)
    table |= routes(rng, table)
    table |= weather(rng, table)
    table |= planes(rng, table)
    table |= flights(rng, table)
    frame = pd.DataFrame(table)
    lost = {name: frame[name].mask(cells) for name, cells in missing(rng, frame).items() if cells.any()}
    return frame.assign(**lost)


### columns, each after those that it depends on


def calendar(rng: np.random.Generator, n: int) -> dict[str, NDArray]:
    month = rng.integers(1, 13, n)
    hour = rng.choice(np.arange(5, 24), n, p=shares(np.r_[2, 8, 7, 8, 6, 5, 5, 5, 6, 6, 7, 7, 7, 6, 5, 4, 3, 2, 1]))
    return {
        "month": month.astype(str).astype(object),
        "day": rng.integers(1, 29, n),
        "weekday": rng.choice(words("Mon Tue Wed Thu Fri Sat Sun"), n, p=shares(np.r_[15, 15, 15, 15, 15, 11, 14])),
        "hour": hour,
        "minute": rng.choice(np.arange(0, 60, 5), n, p=shares(np.r_[12, 3, 4, 6, 4, 5, 9, 4, 4, 6, 5, 12])),
        "sched_dep_time": hour * 100.0 + rng.integers(0, 60, n),
    }


def routes(rng: np.random.Generator, table: dict[str, NDArray]) -> dict[str, NDArray]:
    n = len(table["hour"])
    origin = rng.choice(3, n, p=[0.36, 0.33, 0.31])
    carrier = draw(rng, rng.dirichlet(np.full(16, 0.4), size=3), origin)
    dest = draw(rng, rng.dirichlet(np.full(40, 0.15), size=(3, 16)), origin, carrier)
    distance = rng.gamma(3, 350, 40)[dest] + 15 * origin
    return {
        "origin": words("EWR JFK LGA")[origin],
        "carrier": np.array([f"C{k:02}" for k in range(16)], object)[carrier],
        "alliance": words("north south east west")[np.array([0, 1, 2, 3] * 4)[carrier]],
        "dest": np.array([f"D{k:02}" for k in range(40)], object)[dest],
        "distance": np.round(distance),
        "sched_arr_time": np.round((table["sched_dep_time"] + distance / 5 + rng.normal(0, 12, n)) % 2400),
        "dest_lat": np.round(25 + 22 * rng.random(40), 2)[dest],
        "dest_lon": np.round(-distance / 20 - 72, 2),
        "dest_alt": np.round(rng.gamma(1, 900, 40))[dest],
        "dest_zone": words("east central mountain pacific")[np.digitize(distance, [700, 1300, 1900])],
    }


def weather(rng: np.random.Generator, table: dict[str, NDArray]) -> dict[str, NDArray]:
    n, season = len(table["hour"]), -np.cos(2 * np.pi * (table["month"].astype(int) - 1) / 12)
    temp = 55 + 22 * season + 4 * np.sin((table["hour"] - 9) / 4) + rng.normal(0, 7, n)
    dewp = temp - rng.gamma(2, 6, n)
    humid = np.clip(100 - 2.4 * (temp - dewp) + rng.normal(0, 3, n), 12, 100)
    pressure = 1017 - 3 * season + rng.normal(0, 7, n)
    wind = np.clip(rng.gamma(3, 3.2, n) + np.maximum(0, 1012 - pressure) / 2, 0, 45)
    rain = (rng.random(n) < 0.02 + 0.25 * (humid > 85) * (pressure < 1012)) * rng.gamma(0.8, 0.08, n)
    return {
        "temp": np.round(temp, 2),
        "dewp": np.round(dewp, 2),
        "humid": np.round(humid, 2),
        "wind_dir": 10.0 * rng.integers(0, 36, n),
        "wind_speed": np.round(wind, 1),
        "wind_gust": np.round(wind * 1.2 + rng.gamma(2, 2.5, n), 1),
        "precip": np.round(rain, 2),
        "pressure": np.round(pressure, 1),
        "visib": np.where(rain > 0.02, np.round(rng.uniform(0.5, 9, n), 1), np.where(humid > 92, 7.0, 10.0)),
    }


def planes(rng: np.random.Generator, table: dict[str, NDArray]) -> dict[str, NDArray]:
    carrier, n = codes(table["carrier"]), len(table["hour"])
    model = draw(rng, rng.dirichlet(np.full(12, 0.3), size=(16, 2)), carrier, table["distance"] > 900)
    jet = model >= 2
    return {
        "plane_year": np.round(2003 - 6.0 * (carrier % 3) + rng.normal(0, 5, n)).clip(1965, 2013),
        "plane_type": words("wing-multi wing-single rotor")[np.where(jet, 0, 1 + model)],
        "manufacturer": np.array([f"maker {k}" for k in range(7)], object)[np.arange(12) % 7][model],
        "engines": np.where(jet, 2.0 + (model == 11), 1.0).astype(int).astype(str).astype(object),
        "seats": np.round(np.r_[4, 6, 55, 80, 95, 140, 149, 178, 182, 200, 260, 379][model] + rng.normal(0, 3, n)),
        "engine": words("turbofan turbojet piston")[np.where(jet, (model > 3).astype(int), 2)],
    }


def flights(rng: np.random.Generator, table: dict[str, NDArray]) -> dict[str, NDArray]:
    n, carrier = len(table["hour"]), codes(table["carrier"])
    bad = 1.2 * (table["visib"] < 9) + 0.06 * (table["hour"] - 5) + 0.5 * (table["wind_speed"] > 20)
    late = rng.random(n) < 1 / (1 + np.exp(2.2 - bad - np.linspace(-0.7, 0.7, 16)[carrier]))
    delay = np.where(late, rng.gamma(1.1, 38, n), rng.normal(-4, 4, n))
    air = table["distance"] / 7.4 + 18 + rng.normal(0, 5, n) + 0.4 * (table["wind_speed"] - 10)
    arrival = delay + rng.normal(-6, 13, n) + 0.3 * (air - table["distance"] / 7.4 - 18)
    dep_time = (table["sched_dep_time"] + delay) % 2400
    return {
        "dep_delay": np.round(delay),
        "dep_time": np.round(dep_time),
        "arr_delay": np.round(arrival),
        "arr_time": np.round((table["sched_arr_time"] + arrival) % 2400),
        "air_time": np.round(air),
    }


### cells that are missing


def missing(rng: np.random.Generator, frame: pd.DataFrame) -> dict[str, NDArray[np.bool_]]:
    n = len(frame)
    cells = {name: np.zeros(n, np.bool_) for name in frame}

    def without(columns: list[str], rows: NDArray[np.bool_]) -> None:
        for name in columns:
            cells[name] |= rows

    wind, zone = frame["wind_speed"].to_numpy(), frame["dest_zone"].to_numpy()
    without(["wind_gust"], rng.random(n) < 1 / (1 + np.exp((wind - 13) / 1.5)))
    without(["pressure"], rng.random(n) < np.where(wind > 16, 0.2, 0.1))
    without(WEATHER, rng.random(n) < 0.02)
    without(PLANE, rng.random(n) < np.where(codes(frame["carrier"].to_numpy()) < 4, 0.4, 0.18))
    without(["plane_year"], rng.random(n) < 0.02)
    without(FLOWN, rng.random(n) < np.where(frame["visib"] < 9, 0.09, 0.03))
    without(["arr_time", "arr_delay", "air_time"], rng.random(n) < 0.004)
    without(PLACE, rng.random(n) < np.where(zone == "east", 0.08, 0.03))
    return cells


### small tools


def draw(rng: np.random.Generator, p: Numbers, *given: NDArray) -> NDArray[np.int64]:
    """A state for each row, by the probabilities that its parents choose."""
    below = np.cumsum(p, axis=-1)[tuple(np.asarray(g).astype(int) for g in given)]
    return np.minimum((rng.random(len(below))[:, None] > below).sum(axis=1), p.shape[-1] - 1)


def codes(values: NDArray) -> NDArray[np.int64]:
    return np.unique(values.astype(str), return_inverse=True)[1]


def words(text: str) -> NDArray:
    return np.array(text.split(), object)


def shares(weights: NDArray) -> Numbers:
    return weights / weights.sum()

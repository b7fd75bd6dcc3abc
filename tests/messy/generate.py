"""Write the three messy tables that ship: ``python -m tests.messy.generate``.

Only ``random.Random.random`` is used, whose numbers are the same in every version of Python.
"""

from __future__ import annotations

import csv
import io
import math
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

DATA = Path(__file__).parents[2] / "src" / "bayeslearn" / "data"


class Luck:
    """Draws from one seed."""

    def __init__(self, seed):
        self.random = Random(seed).random

    def pick(self, values, sample_weight=None):
        sample_weight = sample_weight or [1] * len(values)
        u = self.random() * sum(sample_weight)
        for value, weight in zip(values, sample_weight, strict=True):
            u -= weight
            if u < 0:
                return value
        return values[-1]

    def normal(self, mean=0.0, sd=1.0):
        return mean + sd * math.sqrt(-2 * math.log(1 - self.random())) * math.cos(2 * math.pi * self.random())

    def whole(self, low, high):
        return low + int(self.random() * (high - low + 1))

    def maybe(self, p):
        return self.random() < p


### flights joined with weather


CARRIERS = {"UA": 4, "B6": 4, "EV": 4, "DL": 3, "AA": 2, "MQ": 1}
DESTINATIONS = {"BOS": 200, "ORD": 740, "ATL": 760, "MCO": 950, "FLL": 1070, "LAX": 2470, "SFO": 2580}


def flights(n=400):
    luck, start = Luck(19), datetime(2013, 1, 1)  # noqa: DTZ001 - the file has no time zone
    rows = []
    for i in range(n):
        scheduled = start + timedelta(hours=luck.whole(0, 8759))
        hour = luck.whole(5, 22)
        scheduled = scheduled.replace(hour=hour)
        carrier, dest = luck.pick(list(CARRIERS), list(CARRIERS.values())), luck.pick(list(DESTINATIONS))
        rain = luck.maybe(0.07)
        delay = luck.normal(-4, 5) + (60 * luck.random() ** 2 if luck.maybe(0.03 * (hour - 4)) else 0) + 25 * rain
        canceled = luck.maybe(0.03 + 0.15 * rain)
        weather = not luck.maybe(0.04)
        temp = 55 - 28 * math.cos(2 * math.pi * scheduled.timetuple().tm_yday / 365) + luck.normal(0, 6)
        distance = DESTINATIONS[dest] + luck.whole(-30, 30)
        air = distance / 7.6 + luck.normal(20, 6)
        arrival = delay + luck.normal(-3, 8)
        plane = luck.maybe(0.88)
        rows.append({
            "id": 100000 + 7 * i + luck.whole(0, 6),
            "year": 2013,
            "month": scheduled.month,
            "day": scheduled.day,
            "time_hour": scheduled.strftime("%Y-%m-%dT%H:00:00Z"),
            "dep_time": "NA" if canceled else int(hour * 100 + max(0, min(59, delay + 30))),
            "dep_delay": "NA" if canceled else round(delay),
            "arr_delay": "NA" if canceled or luck.maybe(0.01) else round(arrival),
            "late": "N/A" if canceled else "yes" if arrival > 15 else "no",
            "carrier": carrier,
            "flight": luck.whole(1, 5999),
            "tailnum": "" if luck.maybe(0.01) else f"N{luck.whole(100, 999)}{carrier}",
            "origin": luck.pick(["EWR", "JFK", "LGA"], [6, 3, 3] if carrier == "UA" else [3, 4, 4]),
            "dest": dest,
            "air_time": "NA" if canceled else round(air),
            "distance": distance,
            "temp": f"{temp:.2f}" if weather else "NA",
            "humid": f"{min(100, 55 + 30 * rain + luck.normal(0, 14)):.2f}" if weather else "NA",
            "wind_speed": f"{max(0, luck.normal(10, 5)) * 1.15078:.5f}" if weather else "NA",
            "precip": (f"{0.01 * luck.whole(1, 40):.2f}" if rain else "0") if weather else "NA",
            "visib": (f"{luck.random() * 9:.2f}" if rain or luck.maybe(0.1) else "10") if weather else "NA",
            "plane_year": luck.whole(1990, 2013) if plane else "NA",
            "seats": (999 if luck.maybe(0.02) else luck.pick([55, 140, 149, 178, 200])) if plane else "NA",
            "engine": luck.pick(["Turbo-fan", "Turbo-jet"], [5, 1]) if plane else "-",
            "speed": luck.whole(90, 130) if luck.maybe(0.005) else "NA",
        })  # fmt: skip
    return rows


### a list of rentals


AREAS = {"Ybor City": (27.96, -82.44), "Hyde Park": (27.94, -82.47), "Château Élan": (27.99, -82.58)}
ADJECTIVES = ("Sunny", "Cozy", "Quiet", "Charming", "Bright, airy", 'The "Blue"', "Modern")
PLACES = ("bungalow near the river", "studio with pool", "room in a family house", "loft, walk to everything")


def rentals(n=300):
    luck, rows = Luck(20), []
    for _ in range(n):
        area = luck.pick(list(AREAS), [3, 4, 2])
        whole_home = luck.maybe(0.7)
        price = math.exp(luck.normal(5.2 + 0.5 * whole_home - 0.4 * (area == "Ybor City"), 0.5))
        reviews = int(luck.random() ** 3 * 200)
        since = datetime(2010, 1, 1) + timedelta(days=luck.whole(0, 4000))  # noqa: DTZ001
        last = datetime(2023, 1, 1) + timedelta(days=luck.whole(0, 300))  # noqa: DTZ001
        superhost = luck.maybe(0.5 if reviews > 20 else 0.2)
        rows.append({
            "id": int(10**7 + luck.random() * 10**8),
            "listing_url": f"https://example.org/rooms/{int(luck.random() * 10**8)}",
            "name": f"{luck.pick(ADJECTIVES)} {luck.pick(PLACES)}, {area} no. {luck.whole(1, 9999)}",
            "host_id": int(10**5 + luck.random() * 10**6),
            "host_since": since.strftime("%d/%m/%Y"),
            "host_response_rate": "N/A" if luck.maybe(0.08) else f"{min(100, round(luck.normal(94, 9)))}%",
            "Superhost": "t" if superhost else "f",
            "neighbourhood": area,
            "latitude": f"{AREAS[area][0] + luck.normal(0, 0.01):.5f}",
            "longitude": f"{AREAS[area][1] + luck.normal(0, 0.01):.5f}",
            "room_type": "Entire home/apt" if whole_home else "Private room",
            "accommodates": luck.whole(1, 4) + 2 * whole_home,
            "bathrooms": luck.pick(["1 bath", "1.5 baths", "2 baths", ""], [5, 1, 3, 1]),
            "price": f"${price:,.2f}",
            "cleaning_fee": "" if luck.maybe(0.3) else f"{20 + 100 * luck.random():.2f} €".replace(".", ","),
            "minimum_nights": luck.pick([1, 2, 3, 7, 30], [5, 4, 2, 1, 1]),
            "number_of_reviews": reviews,
            "last_review": last.strftime("%Y-%m-%d") if reviews else "",
            "review_score": f"{min(5, luck.normal(4.6 + 0.2 * superhost, 0.25)):.2f}" if reviews else "",
            "license": "exempt" if luck.maybe(0.004) else "",
        })  # fmt: skip
    return rows


### a survey


SCALE = ("strongly disagree", "disagree", "neither", "agree", "strongly agree")
COMMENTS = (
    "The staff were friendly and the room was clean",
    "I had to wait far too long",
    "No complaints at all really",
    "Would come again, but the parking is a problem",
    "Please bring back the old menu, we all miss it",
)


def survey(n=240, questions=30):
    luck, rows = Luck(21), []
    for i in range(n):
        age = luck.whole(18, 84)
        mood = luck.normal(0.02 * (age - 50), 1)
        day = datetime(2024, 1, 1) + timedelta(days=luck.whole(0, 300))  # noqa: DTZ001
        row = {
            "respondent": f"{int(luck.random() * 16**8):08x}-{int(luck.random() * 16**4):04x}",
            "wave": 3,
            "date": day.strftime("%m/%d/%Y"),
            "gender": luck.pick(["female", "male", "other", "Prefer not to say"], [10, 10, 1, 1]),
            "age": "unknown" if luck.maybe(0.03) else age,
            "income": "" if luck.maybe(0.15) else f"{int(math.exp(luck.normal(10.5 + 0.1 * mood, 0.4)) / 100) * 100:,}",
            "children": luck.pick([0, 1, 2, 3, 99], [5, 3, 3, 1, 0.4]),
            "share_saved": f"{max(0, luck.normal(8, 6)):.1f} %",
            "owns_home": luck.pick(["Yes", "No", "yes"], [4, 5, 1]),
            "weight": f"{0.5 + luck.random():.3f}",
        }
        for q in range(1, questions + 1):
            level = max(0, min(4, round(2 + 0.9 * mood * (-1) ** q + luck.normal(0, 0.5))))
            number = 1 + level
            missing = luck.maybe(0.029)
            if q <= 20:
                row[f"q{q}"] = "" if missing else SCALE[level]
            else:
                row[f"q{q}"] = "N/A" if missing else number
        row["comments"] = f"{luck.pick(COMMENTS)}; visit {i}, table {luck.whole(1, 40)}" if luck.maybe(0.6) else ""
        row["internal"] = ""
        rows.append(row)
    return rows


def text(rows):
    """The table as CSV."""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


TABLES = {"flights": flights, "rentals": rentals, "survey": survey}

if __name__ == "__main__":
    for name, make in TABLES.items():
        (DATA / f"{name}.csv").write_text(text(make()), encoding="utf-8")

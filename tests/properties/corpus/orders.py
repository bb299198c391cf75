"""Orders of a shop that never was: code of many shapes for edits_property_test.py."""

from __future__ import annotations

import logging
import os.path as paths
from collections import OrderedDict, defaultdict
from typing import (
    Any,
    Callable,  # of a price
)

try:
    import fastjson as json
except ImportError:
    import json

LOG = logging.getLogger(__name__)
ZONES = {"DE": 1, "FR": 2, **{"CH": 3}}  # by country
LIMITS = (
    10,  # small
    20,
    -1,
)
NAMES = ["one", 'two', "th" "ree"]


def traced(label):
    def around(function):
        return function

    return around


class Cart(dict):
    """What somebody wants to buy.

        Indented text stays as it is.
    """

    currency = "EUR"
    rates: dict[str, float] = {}

    def __init__(self, owner, *, limit=10, **options: Any) -> None:
        super().__init__(**options)
        self.owner, self.limit = owner, limit  # both at once
        self.lines = []

    @property
    def total(self):
        return sum(line.price * line.count for line in self.lines if not line.free)

    # A comment above the decorators.
    @traced("add")
    # one between them
    @staticmethod
    def add(cart, line, times=1):
        if times < 1 or line is None:
            raise ValueError(f"{line!r} times {times}: {times + 1:>{4}}") from None
        elif times > cart.limit:
            LOG.warning(
                "%s of %s",  # counted
                times,
                line,
            )
        else:
            cart.lines.extend([line] * times)
        return cart

    async def ship(self, carrier, *stops):
        async with carrier.book(self.owner, stops=stops) as ticket:
            result = await carrier.send(ticket, [*stops, self.owner])
        return (await result.wait())[0], ticket


def price(line, rate=lambda x: x * 2 + 1, /, *, zone: str | None = None) -> float:
    # What a line costs.
    base = line.price if line.price is not None else 0.0
    if (found := ZONES.get(zone)) and not line.free: base += -found ** 2
    for step, (low, high) in enumerate(zip(LIMITS[:-1], LIMITS[1:])):
        if low <= base < high:
            break
        base -= (step % 3) << 1
    else:
        base = max(base, *LIMITS)
    text = '''a text
  of two lines''' % ()
    return rate(base)(text) if callable(rate(base)) else rate(base)


def report(orders, out=None):
    rows = OrderedDict(); seen = set()
    by_zone = defaultdict(list)
    try:
        for order in orders:
            key = (order.zone, order.owner)
            if key in seen: continue  # once is enough
            seen.add(key)
            by_zone[order.zone].append({"who": order.owner, "what": [x.name for x in order.lines], })
            rows[key] = \
                order.total
    except (KeyError, AttributeError) as error:
        LOG.error("no report: %s", error)
        raise
    finally:
        seen.clear()
    with open(paths.join("a", "b"), "w") as file, \
            LOG.lock:
        print(*rows, sep=", ", file=out or file)
    while rows and (yield rows.popitem()):
        # nothing to do
        pass
    assert not rows, f"{len(rows)} left"
    return {zone: sorted(values, key=lambda v: (v["who"], -len(v["what"]))) for zone, values in by_zone.items()}


def route(parcel):
    match parcel:
        case {"zone": zone, **rest} if zone in ZONES:
            return zone, rest
        case [first, *others]:
            return first
        case _:
            del parcel.cache[0:2]
    global NAMES
    NAMES += [parcel.name]
    return not parcel.open or (parcel.weight + 1) * 2 > LIMITS[0]


class Depot:
    class Shelf: width = 1; height = 2

    def count(self, *kinds): return sum(self.shelves[kind] for kind in kinds)  # quick

    def find(self, name):
        def matches(shelf):
            return shelf.name == name and shelf.items

        found = [shelf for shelf in self.shelves if matches(shelf)] or None
        return (
            found
            # the first one
            and found[0]
        )


if __name__ == "__main__":
    print(json.dumps({"total": Cart("me", limit=3).total}))

"""The table of `drystone bench --motion`: a line for each figure, with the bound that it keeps."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from drystone.bench.motion import carried, joined, linked, struck


class Figure(NamedTuple):
    """One row of the table."""

    name: str  # what is measured, and its unit
    before: str  # as it was in version 0.1
    bound: float  # it holds if it is not above that
    measure: Callable[[], float]


HALF, HUNDREDTH = 1 / 240, 0.01

FIGURES: tuple[Figure, ...] = (
    Figure("chain 20 x 50 g, ball 50 g, 10 s: gap [mm]", "101", 0.01,
           partial(joined.chain_gap, 20, 0.05)),
    Figure("chain 5 x 50 g, ball 20 kg, 10 s: gap [mm]", "31", 0.01,
           partial(joined.chain_gap, 5, 20.0)),
    Figure("chain 5 x 50 g, ball 50 kg, 10 s: gap [mm]", "44", 0.01,
           partial(joined.chain_gap, 5, 50.0)),
    Figure("chain 5 x 50 g, ball 20 kg, 10 s: energy lost [%]", "69", 0.1,
           partial(joined.chain_loss, 5, 20.0, HALF)),
    Figure("the same with 50 kg, 0.01 s: energy lost [%]", "", 0.1,
           partial(joined.chain_loss, 5, 50.0, HUNDREDTH)),
    Figure("link of 1e-5 kg in a chain: off after 1 s [mm]", "360", 1.0, joined.light_link),
    Figure("160 pairs of rods joined beside them: gain", "1e8", 1e-9, joined.rods_gain),
    Figure("bridge of 10 planks, box of 1080 kg: gain in a step [J]", "29500", 1e-6,
           partial(joined.bridge_gain, 10, 0.3)),
    Figure("bridge of 30 planks: gain in a step [J]", "40", 1e-6,
           partial(joined.bridge_gain, 30, None)),
    Figure("undamped SpringDamper, 5 s: amplitude lost [%]", "38", 0.1, joined.spring_loss),
    Figure("joint.force of a pendulum, steps of 5e-4 s: RMS [N]", "0.019", 0.005,
           joined.force_error),
    Figure("300 off-centre hits: direction [degrees]", "6.1", 0.1, struck.direction_error),
    Figure("300 hits of any solids: angular momentum", "0.19", 1e-9, struck.momentum_error),
    Figure("1000 head-on impacts: restitution", "0.02", 1e-9, struck.restitution_error),
    Figure("cradle of 20, gaps, 1/1000 s: energy lost [%]", "94", 1.0,
           partial(struck.cradle_loss, 1e-3)),
    Figure("cradle of 20, gaps, 1/240 s: energy lost [%]", "", 1.0,
           partial(struck.cradle_loss, HALF)),
    Figure("the same hung up, 2 s of 1/1000 s: lost [%]", "", 1.0,
           partial(struck.cradle_loss, 1e-3, True)),
    Figure("turntable, 20 s of 1/240 s: creep [mm]", "80", 8.0,
           partial(carried.turntable_creep, HALF)),
    Figure("turntable, 20 s of 0.01 s: creep [mm]", "", 8.0,
           partial(carried.turntable_creep, HUNDREDTH)),
    Figure("Euler's disk, 2 s of 1/240 s: energy [%]", "falls flat", 5.0,
           partial(carried.disk_loss, HALF)),
    Figure("Euler's disk, 2 s of 0.01 s: energy [%]", "falls flat", 5.0,
           partial(carried.disk_loss, HUNDREDTH)),
    Figure("arm on a pin, 4 s of 1/240 s: energy lost [%]", "", 1.0,
           partial(carried.pin_loss, HALF)),
    Figure("arm on a pin, 4 s of 0.01 s: energy lost [%]", "46", 1.0,
           partial(carried.pin_loss, HUNDREDTH)),
    Figure("washer, half a turn a second, 2 s of 1/240 s: overlap [mm]", "40", 10.0,
           partial(carried.washer_overlap, 0.5, HALF)),
    Figure("box over seams of boxes: rise [mm]", "80", 0.05,
           partial(carried.seam_rise, False, HALF)),
    Figure("box over seams of a Compound: rise [mm]", "80", 0.05,
           partial(carried.seam_rise, True, HALF)),
    Figure("chain-net 8 x 8, 1/240 s: links lost", "some", 0.0, partial(linked.net_lost, HALF)),
    Figure("chain-net 8 x 8, 0.01 s: links lost", "some", 0.0, partial(linked.net_lost, HUNDREDTH)),
    Figure("wrecking-ball, 1/240 s: links lost", "some", 0.0, partial(linked.ball_lost, HALF)),
    Figure("wrecking-ball, 0.01 s: links lost", "some", 0.0, partial(linked.ball_lost, HUNDREDTH)),
)  # fmt: skip


def motion_rows(figures: tuple[Figure, ...] = FIGURES) -> Iterator[dict]:
    """Measure one after the other: what, its figure, its bound, whether it holds."""
    for figure in figures:
        value = figure.measure()
        yield {
            "what": figure.name,
            "before": figure.before,
            "figure": value,
            "bound": figure.bound,
            "holds": bool(value <= figure.bound),
        }

"""Figures of motion keep their bounds, and the table says so."""

import pytest

from drystone.bench.motion.figures import FIGURES, Figure, motion_rows

QUICK = ("SpringDamper", "turntable", "Euler", "seams", "1e-5 kg", "gaps", "joint.force")


def marks(figure):
    return [] if any(word in figure.name for word in QUICK) else [pytest.mark.slow]


@pytest.mark.parametrize(
    "figure",
    [pytest.param(figure, marks=marks(figure)) for figure in FIGURES],
    ids=lambda figure: figure.name,
)
def test_it_keeps_its_bound(figure):
    assert figure.measure() <= figure.bound


def test_the_table_says_what_does_not_hold():
    rows = list(motion_rows((Figure("a", "", 1.0, lambda: 2.0), Figure("b", "", 1.0, lambda: 1.0))))
    assert [row["holds"] for row in rows] == [False, True]
    assert [row["figure"] for row in rows] == [2.0, 1.0]


def test_names_are_different():
    assert len({figure.name for figure in FIGURES}) == len(FIGURES)

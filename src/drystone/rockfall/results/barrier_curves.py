"""What a barrier of another height or capacity would have stopped, from the recorded crossings.

A crossing has the height of the centre of mass over the foot and the energy of translation before
the barrier acts. Of each run its first crossing of a barrier counts. A net of height H and capacity
C there would have stopped it if its height is at most H and its energy at most C. That holds for
any H and C, for what comes to a barrier first does not depend on the barrier.
"""

from typing import NamedTuple

import numpy as np

from drystone.rockfall.run.part_files import write_whole

HEIGHTS = (2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0)  # [m] of nets that are sold
CAPACITIES = (
    100.0,
    250.0,
    500.0,
    1000.0,
    1500.0,
    2000.0,
    3000.0,
    5000.0,
    8500.0,
)  # [kJ] EAD 340059
FILE = "barrier_design.csv"


class Passages(NamedTuple):
    """First crossings of one barrier, one a run."""

    run: np.ndarray  # (n,)
    height: np.ndarray  # (n,) of the centre of mass over the foot [m]
    energy: np.ndarray  # (n,) of translation [J]
    along: np.ndarray  # (n,) distance from the first point of the line [m]


def passages_of(crossings: dict, mass: dict, number: int, line: np.ndarray) -> Passages:
    """Of barrier `number` along the world line (k, 2); `mass` {"run", "mass_kg"} of all runs."""
    here = np.flatnonzero(crossings["barrier"] == number)
    here = here[np.lexsort((crossings["t_s"][here], crossings["run"][here]))]
    run, first = np.unique(crossings["run"][here], return_index=True)
    rows = here[first]
    m = mass["mass_kg"][np.searchsorted(mass["run"], run)]
    speed = sum(crossings[f"v{axis}_m_s"][rows] ** 2 for axis in "xyz")
    x = np.column_stack([crossings["x_m"][rows], crossings["y_m"][rows]])
    return Passages(run, crossings["height_m"][rows], 0.5 * m * speed, along_line(x, line))


def along_line(x: np.ndarray, line: np.ndarray) -> np.ndarray:
    """(n,) distance from the first point of a line to where it is nearest to x (n, 2) [m]."""
    best, place, before = np.full(len(x), np.inf), np.zeros(len(x)), 0.0
    for p, q in zip(line[:-1], line[1:], strict=True):
        step = q - p
        length = float(np.hypot(*step))
        if length == 0.0:
            continue
        share = np.clip((x - p) @ step / length**2, 0.0, 1.0)
        away = np.linalg.norm(x - p - share[:, None] * step, axis=1)
        place = np.where(away < best, before + share * length, place)
        best, before = np.minimum(away, best), before + length
    return place


def stopped_share(passages: Passages, height: float, capacity: float) -> float:
    """Share of the runs that reach it that a net of that height [m] and capacity [J] stops."""
    if len(passages.run) == 0:
        return np.nan
    return float(np.mean((passages.height <= height) & (passages.energy <= capacity)))


def stopped_table(passages: Passages, heights=HEIGHTS, capacities=CAPACITIES) -> np.ndarray:
    """(heights, capacities) shares; capacities in kJ."""
    return np.array([[stopped_share(passages, h, 1e3 * c) for c in capacities] for h in heights])


def in_series(crossings: dict, first: int, second: int) -> dict[str, int]:
    """What two barriers one after the other did, in runs: of those that reached the first. Of the
    second only what came after that counts: who came from there has not got past the first."""
    run, barrier, time = (crossings[key] for key in ("run", "barrier", "t_s"))
    stopped = crossings["outcome"].astype(str) == "stopped"
    came = {}
    for r, t in zip(run[barrier == first].tolist(), time[barrier == first], strict=True):
        came[r] = min(t, came.get(r, np.inf))
    later = time > np.array([came.get(r, np.inf) for r in run.tolist()])
    reached = set(came)
    held = set(run[(barrier == first) & stopped].tolist())
    behind = (reached - held) & set(run[(barrier == second) & later].tolist())
    caught = behind & set(run[(barrier == second) & later & stopped].tolist())
    return {
        "reached the first": len(reached),
        "stopped by the first": len(held),
        "got past it and reached the second": len(behind),
        "stopped by the second": len(caught),
        "got past both": len(behind - caught),
    }


def write_design_table(folder, tables: dict[str, np.ndarray]) -> None:
    """barrier_design.csv: a row for each barrier, height and capacity."""
    rows = ["barrier,height_m,capacity_kJ,share_stopped"]
    for name, shares in tables.items():
        quoted = '"' + name.replace('"', '""') + '"'
        for h, row in zip(HEIGHTS, shares, strict=True):
            rows += [f"{quoted},{h:g},{c:g},{x:.6g}" for c, x in zip(CAPACITIES, row, strict=True)]
    write_whole(folder / FILE, ("\n".join(rows) + "\n").encode())

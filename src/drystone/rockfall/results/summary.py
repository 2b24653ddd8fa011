"""Statistics of a study: runs, barriers and check lines, with bands; as JSON and as CSV.

Percentiles are over runs, of the largest value of each run at a barrier or line, since two
crossings by the same rock are not two observations. Runs that did not come to rest (they left the
terrain, or their time was up) are censored: their run-out is only known to be larger than what is
seen of it, and their reach angle to be smaller.
"""

import csv
import io
import json
from pathlib import Path

import numpy as np

from drystone.rockfall.engine.records import AT_REST, OUTCOMES, OVERTOPPED, REASONS
from drystone.rockfall.results.cell_statistics import PERCENTS
from drystone.rockfall.results.energy_line import line_angle
from drystone.rockfall.results.percentiles import (
    censored_estimate,
    largest_per_run,
    summarise,
)
from drystone.rockfall.results.summary_schema import Statistics, read_json
from drystone.rockfall.results.tables import read_table
from drystone.rockfall.run.part_files import write_whole
from drystone.rockfall.study.barrier_design import CHOSEN, design_table, verify_row
from drystone.rockfall.study.schema import ROCK_DENSITY

NAME = "statistics.json"
KJ = 1e-3  # from J
LEAST_SHARES = {"p1": 0.01, "p5": 0.05, "p10": 0.10, "median": 0.50}  # small angles reach far


def summarise_study(
    folder: Path, runs: int, seed: int, barriers: list[dict], lines: list[dict], case=None
):
    """All statistics of the tables in `folder`.

    barriers, lines   [{"name": ..., more}] in the order of their numbers in the tables
    case              DesignCase of the study, if it has one
    """
    table = read_table(folder, "runs")
    parts = {}
    for key in ("source", "rock"):
        names = np.unique(table[key]).tolist() if key in table else []
        if len(names) > 1:
            parts[f"by_{key}"] = {
                name: _part(table, table[key] == name, folder, lines, seed) for name in names
            }
    return parts | {
        "runs": summarise_runs(table, runs, seed),
        "barriers": summarise_barriers(
            read_table(folder, "crossings"), barriers, table, runs, seed, case
        ),
        "lines": summarise_lines(read_table(folder, "lines"), lines, table, runs, seed, case),
    }


def _part(table: dict, rows: np.ndarray, folder: Path, lines: list[dict], seed: int) -> dict:
    """Figures of the runs of one source or rock group, and how many of them crossed each line."""
    own = {name: column[rows] for name, column in table.items()}
    entry = summarise_runs(own, int(rows.sum()), seed)
    crossed = read_table(folder, "lines", ["run", "line"])
    mine = np.isin(crossed["run"], own["run"])
    entry["crossed"] = {
        line["name"]: _runs_of(crossed, mine & (crossed["line"] == k))
        for k, line in enumerate(lines)
    }
    return entry


def summarise_runs(table: dict, runs: int, seed: int) -> dict:
    start = np.column_stack([table[f"start_{axis}_m"] for axis in "xyz"])
    end = np.column_stack([table[f"end_{axis}_m"] for axis in "xyz"])
    angle = line_angle(start, end)
    reasons, counts = np.unique(table["reason"].astype(str), return_counts=True)
    rested = np.isin(table["reason"].astype(str), [REASONS[k] for k in AT_REST])
    low = {name: _least(angle, rested, share, runs, seed) for name, share in LEAST_SHARES.items()}
    apart = {}
    for name in ("translational", "rotational"):
        if f"max_{name}_energy_J" in table:
            values = table[f"max_{name}_energy_J"] * KJ
            apart[f"max_{name}_energy_kJ"] = summarise(values, runs, seed)
    return apart | {
        "count": runs,
        "reasons": dict(zip(reasons.tolist(), counts.tolist(), strict=True)),
        "at_rest": int(rested.sum()),
        "not_at_rest": int((~rested).sum()),
        "runout_m": summarise(np.hypot(*(end - start)[:, :2].T), runs, seed, rested),
        "drop_m": summarise(start[:, 2] - end[:, 2], runs, seed, rested),
        "duration_s": summarise(table["duration_s"], runs, seed, rested),
        "mass_kg": summarise(table["mass_kg"], runs, seed),
        "max_speed_m_s": summarise(table["max_speed_m_s"], runs, seed),
        "max_energy_kJ": summarise(table["max_energy_J"] * KJ, runs, seed),
        "max_height_m": summarise(table["max_height_m"], runs, seed),
        "reach_angle_deg": low
        | {
            "min": smallest(angle, rested),
            "mean": float(angle[rested].mean()) if rested.any() else np.nan,
        },
    }


def smallest(angle: np.ndarray, rested: np.ndarray) -> float:
    """Of the runs at rest: where the others end there may be no ground, and they go on."""
    return float(angle[rested].min()) if rested.any() else np.nan


def _least(angle, rested, share: float, runs: int, seed: int) -> dict:
    """A low percentile of angles, those of runs that did not come to rest being upper bounds."""
    found = censored_estimate(-angle, rested, 1.0 - share, runs, seed)
    low, high = -found.high, -found.low
    return found.as_dict() | {"value": -found.value, "low": low, "high": high}


def summarise_barriers(
    table: dict, barriers: list[dict], ends: dict, runs: int, seed: int, case=None
) -> list[dict]:
    """For each barrier: how many runs came, what it did to them, and what it had to bear."""
    outcome = table["outcome"].astype(str)
    entries = []
    for number, barrier in enumerate(barriers):
        here = table["barrier"] == number
        counts = {name: _runs_of(table, here & (outcome == name)) for name in OUTCOMES}
        if barrier["kind"] == "crossing":  # it is hit by whoever does not fly over it
            counts["hit"] = _runs_of(table, here & (outcome != OUTCOMES[OVERTOPPED]))
        reached = _runs_of(table, here)
        entries.append(
            barrier
            | {"reached": reached, "share_reached": reached / runs}
            | counts
            | {"share_stopped": counts["stopped"] / reached if reached else np.nan}
            | _at_place(table, here, ends, runs, seed, case)
            | {"taken_kJ": summarise(_largest(table, here, "taken_J") * KJ, runs, seed)}
        )
        if case is not None and case.energy_factor is not None and barrier["kind"] == "crossing":
            entry = entries[-1]
            entry["verification"] = verify_row(
                entry["design"][CHOSEN], barrier["capacity_kJ"], barrier["height_m_nominal"], case,
                barrier.get("service_kJ"),
            )  # fmt: skip
    return entries


def summarise_lines(
    table: dict, lines: list[dict], ends: dict, runs: int, seed: int, case=None
) -> list[dict]:
    """For each check line: how many runs crossed it, and how; with the shadow angle from it."""
    entries = []
    for number, line in enumerate(lines):
        here = table["line"] == number
        crossed = _runs_of(table, here)
        angle = _shadow_angles(table, here, ends)
        angle, rested = angle
        shadow = {
            name: _least(angle, rested, share, runs, seed) for name, share in LEAST_SHARES.items()
        }
        entries.append(
            line
            | {"crossed": crossed, "share_crossed": crossed / runs}
            | _at_place(table, here, ends, runs, seed, case)
            | {"shadow_angle_deg": shadow | {"min": smallest(angle, rested)}}
        )
    return entries


def _runs_of(table: dict, rows: np.ndarray) -> int:
    return len(np.unique(table["run"][rows]))


def _largest(table: dict, rows: np.ndarray, column: str) -> np.ndarray:
    return largest_per_run(table["run"][rows], table[column][rows])


def _at_place(table: dict, rows: np.ndarray, ends: dict, runs: int, seed: int, case) -> dict:
    every = np.sqrt(sum(table[f"v{axis}_m_s"][rows] ** 2 for axis in "xyz"))
    speed = largest_per_run(table["run"][rows], every)
    height = _largest(table, rows, "height_m")
    at = np.searchsorted(ends["run"], np.unique(table["run"][rows]))
    mass = ends["mass_kg"][at]
    volume = ends["volume_m3"][at] if "volume_m3" in ends else mass / ROCK_DENSITY
    energy = _largest(table, rows, "energy_J")
    return {
        "speed_m_s": summarise(speed, runs, seed),
        "energy_kJ": summarise(energy * KJ, runs, seed),
        "height_m": summarise(height, runs, seed),
        "design": design_table(speed, height, mass, runs, seed, case, volume, energy),
    }


def _shadow_angles(table: dict, rows: np.ndarray, ends: dict) -> tuple[np.ndarray, np.ndarray]:
    """From the ground below the first crossing of each run to the ground below its end [degrees];
    and which of the runs came to rest."""
    run, first = np.unique(table["run"][rows], return_index=True)
    place = np.column_stack([table[f"{axis}_m"][rows][first] for axis in "xyz"])
    height = table["height_m"][rows][first]
    place[:, 2] -= np.where(np.isfinite(height), height, 0.0)
    at = np.searchsorted(ends["run"], run)
    end = np.column_stack([ends[f"end_{axis}_m"][at] for axis in "xyz"])
    rest = ends["end_height_m"][at] if "end_height_m" in ends else np.zeros(len(at))
    end[:, 2] -= np.where(np.isfinite(rest), rest, 0.0)
    apart = np.hypot(*(end - place)[:, :2].T) > 0.0  # one that stopped on the line has no angle
    rested = np.isin(ends["reason"][at].astype(str), [REASONS[k] for k in AT_REST])
    return line_angle(place, end)[apart], rested[apart]


def write_summary(folder: Path, summary: dict) -> None:
    """statistics.json, and barriers.csv and check_lines.csv for spreadsheets."""
    folder = Path(folder)
    write_whole(folder / NAME, json.dumps(_plain(summary), indent=1, allow_nan=False).encode())
    for key, file in (("barriers", "barriers.csv"), ("lines", "check_lines.csv")):
        if summary[key]:
            write_whole(folder / file, table_text(summary[key]).encode())


def read_summary(folder: Path) -> dict:
    return read_json(Path(folder) / NAME, Statistics)


def table_text(entries: list[dict]) -> str:
    """CSV of entries; percentiles become columns such as energy_kJ_p95, _low and _high."""
    rows = [_flat(entry) for entry in entries]
    text = io.StringIO()
    columns = dict.fromkeys(key for row in rows for key in row)
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _flat(entry: dict) -> dict:
    row = {}
    for key, value in entry.items():
        if not isinstance(value, dict):
            row[key] = value
            continue
        for name, part in value.items():
            if isinstance(part, dict) and "value" not in part:  # design values
                row |= {f"{key}_{name}_{figure}": x for figure, x in part.items()}
            elif isinstance(part, dict):
                row[f"{key}_{name}"] = part["value"]
                row[f"{key}_{name}_low"], row[f"{key}_{name}_high"] = part["low"], part["high"]
                row[f"{key}_{name}_enough"] = part["enough"]
            else:
                row[f"{key}_{name}"] = part
    return row


def _plain(value):
    """JSON has no NaN and no infinity: none of them becomes null."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def verdicts(summary: dict) -> list[str]:
    """One sentence for each figure that a design leans on: enough runs or not."""
    said = []
    for kind, key in (("barrier", "barriers"), ("check line", "lines")):
        for entry in summary[key]:
            for quantity in ("energy_kJ", "height_m"):
                for name in ("p95", "p99"):
                    words = f"{100 * PERCENTS[name]:.0f} % of {quantity.replace('_', ' [')}]"
                    said.append(
                        f"{kind} {entry['name']}, {words}: {entry[quantity][name]['statement']}."
                    )
    for name in ("p95", "p99"):
        text = summary["runs"]["runout_m"][name]["statement"]
        said.append(f"run-out, {100 * PERCENTS[name]:.0f} %: {text}.")
    return said

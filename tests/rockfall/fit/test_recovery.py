"""Values with which the engine rolled deposits lie in the region of a fit as often as it says.

It rolls 38,000 rocks, 100 s of CPU for 100 fits, and is run when asked for:

    DRYSTONE_FITS=100 pytest -s tests/rockfall/fit/test_recovery.py
"""

import os

import numpy as np
import pytest
from scipy import stats

from drystone.rockfall.fit.fit import fit_trials
from drystone.rockfall.fit.likelihood import holds
from drystone.rockfall.fit.trials import Roller, run_trials
from drystone.rockfall.study.study import Study

FITS = int(os.environ.get("DRYSTONE_FITS", "0"))
SEEN = 100  # deposits of each fit
CELL, ROWS, COLUMNS = 5.0, 141, 41


def cliff_study(folder):
    """Blocks that fall from a cliff of 20 m on a slope of 35 degrees, which ends in a trough."""
    y = CELL * np.arange(ROWS)[::-1]  # northern row first
    slope = np.tan(np.radians(35.0)) * np.clip(y - 450.0, 0.0, 200.0)
    z = slope + np.where(y > 650.0, 20.0, 0.0) + 0.1 * np.clip(200.0 - y, 0.0, None)
    rng = np.random.default_rng(4)
    heights = z[:, None] + rng.uniform(0.0, 0.2, (ROWS, COLUMNS))
    head = f"ncols {COLUMNS}\nnrows {ROWS}\nxllcorner 0\nyllcorner 0\ncellsize {CELL:g}\n"
    (folder / "t.asc").write_text(
        head + "\n".join(" ".join(f"{h:.3f}" for h in row) for row in heights)
    )
    table = {
        "terrain": {"file": "t.asc", "crs": "local"},
        "materials": {"default": "talus", "classes": {"talus": {
            "restitution": 0.3, "friction": 0.5, "rolling": 0.1}}},
        "rocks": [{"name": "block", "shape": "chamfered", "density_kg_m3": 2700,
                   "axes_m": [{"uniform": [0.8, 1.4]}, {"uniform": [0.7, 1.1]},
                              {"uniform": [0.5, 0.9]}]}],
        "sources": [{"name": "edge", "line": [[90, 660], [110, 660]], "height_m": 0.5,
                     "velocity_m_s": [0, -1.5, 0]}],
        "runs": {"count": 200},
        "options": {"max_time": 90.0},
    }  # fmt: skip
    return Study.from_table(table, folder)


@pytest.mark.skipif(not FITS, reason="takes minutes; DRYSTONE_FITS=100 runs it")
def test_values_that_rolled_the_deposits_lie_in_the_region(tmp_path):
    """85 of 100 at least: 90 % are meant, and 1.65 standard deviations of 100 draws are 5."""
    study = cliff_study(tmp_path)
    library = run_trials(study, tmp_path / "fit", None, 200, 120, workers=1)
    rng, inside = np.random.default_rng(7), 0
    starts = np.array([study.sample(k)[1].position[:2] for k in range(200)])
    for k in range(FITS):
        share = rng.uniform(0.15, 0.85, len(library.names))
        truth = library.low + share * (library.high - library.low)
        other = Roller(study.with_runs(seed=1000 + k), library.names, SEEN + 40)
        ends, _ = other.trial(truth, 1)
        deposits = ends[np.isfinite(ends[:, 0])][:SEEN]
        assert len(deposits) == SEEN, (k, truth, len(deposits))
        fit = fit_trials(library, starts, deposits, seed=k)
        inside += holds(fit.emulator, fit.observed, fit.region, truth)
        print(f"{inside} of {k + 1} have the truth in their 90 % region", flush=True)
    assert stats.binom.cdf(inside, FITS, 0.9) > 0.05
    assert FITS < 100 or inside >= 0.85 * FITS

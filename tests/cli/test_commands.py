"""The command line: what it prints where, how it ends, what it says when input is wrong."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from drystone.cli import app
from drystone.cli.console import Debug

runner = CliRunner()


def test_scenes_lists_every_scene():
    from drystone.scenes import SCENES

    result = runner.invoke(app, ["scenes"])
    assert result.exit_code == 0
    assert all(name in result.stdout for name in SCENES)


def test_scenes_shows_the_options_of_one():
    result = runner.invoke(app, ["scenes", "arch"])
    assert "thickness_percent=12" in result.stdout and "Milankovitch" in result.stdout


def test_run_prints_a_summary_and_what_to_do_next():
    result = runner.invoke(app, ["run", "box-stack", "--seconds", "0.1", "--set", "count=2"])
    assert result.exit_code == 0, result.output
    for word in ("kinetic energy", "worst penetration", "worst residual", "time per stage"):
        assert word in result.stdout
    assert result.stderr.strip().splitlines()[-1].startswith("Next: drystone")


def test_run_writes_json(tmp_path):
    path = tmp_path / "summary.json"
    result = runner.invoke(
        app, ["run", "box-stack", "--seconds", "0.5", "--dt", "0.01", "--json", str(path)]
    )
    assert result.exit_code == 0, result.output
    figures = json.loads(path.read_text())
    assert figures["steps"] == 50 and figures["bodies"] == 10
    assert figures["steps_not_converged"] < 50 and figures["worst_penetration_mm"] < 0.1
    assert figures["potential_end_J"] == pytest.approx(figures["potential_start_J"], rel=1e-5)


def test_recording_replays_bit_for_bit(tmp_path):
    path = tmp_path / "run.h5"
    result = runner.invoke(
        app, ["run", "box-stack", "--seconds", "0.1", "--set", "count=3", "--record", str(path)]
    )
    assert result.exit_code == 0, result.output
    result = runner.invoke(app, ["replay", str(path), "--verify"])
    assert result.exit_code == 0, result.output
    assert "24 steps run again, all bit for bit as recorded" in result.stdout
    result = runner.invoke(app, ["info", str(path)])
    assert "3 bodies" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "wal"], "Did you mean 'wall'"),
        (["run", "box-stack", "--set", "cuont=3"], "Did you mean 'count'"),
        (["run", "box-stack", "--set", "count"], "must be KEY=VALUE"),
        (["run", "box-stack", "--set", "count=x"], "count is 'x'"),
        (["run", "box-stack", "--solver", "nsg"], "Did you mean 'nsgs'"),
        (["run", "box-stack", "--dt", "-1"], "dt is -1"),
        (["run", "box-stack", "--seconds", "-1"], "--seconds is -1, must be >= 0"),
        (["run", "box-stack", "--seconds", "nan"], "--seconds is nan, must be a finite number"),
        (["run", "box-stack", "--seconds", "inf"], "--seconds is inf, must be a finite number"),
        (["run", "box-stack", "--set", "ccd=maybe"], "ccd is 'maybe'"),
        (["run", "chess-drop", "--set", "count=-3"], "count is -3, must be an integer from 1 to"),
        (["run", "chess-drop", "--set", "count=1000000000000"], "an integer from 1 to 1000000"),
        (["run", "chess-drop", "--set", "lean_deg=inf"], "lean_deg is inf"),
        (["run", "chess-drop", "--set", "seed=-1"], "seed is -1, must be an integer >= 0"),
        (["run", "chess-drop", "--seed", "-4"], "seed is -4, must be an integer >= 0"),
        (["run", "loop", "--set", "slope_deg=0"], "slope_deg is 0, must be a number from 1 to 89"),
        (["run", "four-bar", "--set", "crank=9"], "four-bar cannot be built with crank=9"),
        (["run", "box-stack", "--seed", "3"], "draws no random numbers"),
        (["run", "box-stack", "--threads", "9999"], "--threads is 9999"),
        (["replay", "nowhere.h5"], "nowhere.h5"),
        (["bench", "--scenes", "S77"], "S77"),
        (["bench", "--scenes", ""], "--scenes '': no such scene"),
        (["bench", "--mesh", "--repeat", "3", "--solver", "pgs"], "ignore --repeat, --solver;"),
        (["bench", "--mesh", "--shots", "24"], "bench --mesh would ignore --shots"),
        (["bench", "--shots", "24", "--json", "a.json"], "bench --shots would ignore --json"),
        (["bench", "--orderings", "--scale", "0.1"], "bench --orderings would ignore --scale"),
        (["bench", "--siconos", "there", "--peers"], "bench --siconos would ignore --peers"),
        (["bench", "--plot", "a.png"], "bench without --mesh would ignore --plot"),
    ],
)
def test_wrong_input_gets_one_sentence_and_exit_2(arguments, message):
    result = runner.invoke(app, arguments)
    assert result.exit_code == 2
    assert message in result.stderr.replace("\n", " ")
    assert "Traceback" not in result.output


def test_debug_shows_the_traceback(monkeypatch):
    monkeypatch.setattr(Debug, "on", False)  # and so it is again afterwards
    result = runner.invoke(app, ["--debug", "run", "wal"])
    assert result.exit_code == 1 and result.exception is not None


def test_picture_is_written(tmp_path):
    pytest.importorskip("pyvista")
    path = tmp_path / "stack.png"
    result = runner.invoke(
        app, ["run", "box-stack", "--seconds", "0.05", "--set", "count=2", "--picture", str(path)]
    )
    assert result.exit_code == 0, result.output
    assert path.read_bytes().startswith(b"\x89PNG")


def test_help_does_not_wait_for_numba():
    """--help must be instant, so it may import neither Numba nor SciPy."""
    code = (
        "import sys; from typer.testing import CliRunner; from drystone.cli import app; "
        "assert CliRunner().invoke(app, ['run', '--help']).exit_code == 0; "
        "sys.exit(any(name in sys.modules for name in ('numba', 'scipy', 'h5py')))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


@pytest.mark.slow
def test_a_run_does_not_wait_for_what_it_does_not_use():
    """SciPy's matrices take a tenth of a warm start, and HDF5 another."""
    code = (
        "import sys; from typer.testing import CliRunner; from drystone.cli import app; "
        "run = ['run', 'box-stack', '--seconds', '0.01', '--set', 'count=2']; "
        "assert CliRunner().invoke(app, run).exit_code == 0; "
        "print(*({'scipy.sparse', 'h5py'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], timeout=600, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_who_closes_stdout_gets_no_traceback():
    code = "from drystone.cli import app; app(['solvers'])"
    shell = f'exec {sys.executable} -c "{code}" >&-'
    done = subprocess.run(["/bin/sh", "-c", shell], timeout=120, stderr=subprocess.PIPE)
    assert done.returncode == 0 and b"Traceback" not in done.stderr

"""drystone fuzz: odd arguments, random worlds and damaged files; each must end well."""

from drystone.bench.fuzz.case import Outcome
from drystone.bench.fuzz.families import FAMILIES
from drystone.bench.fuzz.runner import Tally, fuzz
from drystone.errors import InputError
from drystone.model.checks import choice

SECONDS = 60.0  # if neither a number of cases nor of seconds is given


def run_fuzz(
    only: list[str], seed: int, cases: int | None, seconds: float | None, case: int | None,
    jobs: int, screen, results,
) -> int:  # fmt: skip
    """Print findings as they come and the table; returns how many findings there were."""
    families = [choice("--only", name, FAMILIES) for name in only] or list(FAMILIES)
    if case is not None and len(families) != 1:
        raise InputError("--case is the number of a case of one family; name it with --only.")
    if cases is None and seconds is None and case is None:
        seconds = SECONDS
    tally = Tally()
    with screen.status("fuzzing") as status:
        for family, told in fuzz(families, seed, cases, seconds, case, jobs):
            if tally.add(family, told) or (told.is_finding and case is not None):
                results.print(_finding(family, seed, told), markup=False, soft_wrap=True)
            done = sum(row["cases"] for row in tally.rows.values())
            status.update(f"{family}: {done} cases, {tally.findings} findings")
    for line in tally.table():
        results.print(line, markup=False, soft_wrap=True)
    return tally.findings


def _finding(family: str, seed: int, outcome: Outcome) -> str:
    again = f"drystone fuzz --only {family} --seed {seed} --case {outcome.number}"
    return f"{outcome.kind}: {outcome.text}\n    again: {again}"

"""Design values of a barrier after UNI 11211-4, with its partial factors, and their verification.

From the runs that reach a line: v_t and h_t, the 95 % percentiles of velocity and of the height of
the centre of mass (a choice of 99 % is possible; UNI 11211-4:2018 and ONR 24810:2021 take the one
or the other as characteristic values: Marchelli 2022, GEAM 166), and the mass m of the design
block. Then

    v_d = v_t γ_Tr γ_Dp             γ_Dp   quality of the topographic survey   1.02 or 1.10
    h_d = h_t γ_Tr γ_Dp             γ_Tr   reliability of the simulation       1.02 or 1.10
    m_d = m γ_Vol γ_γ               γ_Vol  precision of the block survey       1.02 or 1.10
    E_d = m_d v_d² / 2              γ_γ    unit weight of the rock             1.0 at least

and the barrier is verified if E_d < E_barrier / γ_E, H_tot >= h_d + f_min with f_min half the mean
size of the block (its radius, for a round one) but at least 0.5 m, and D_A >= D_d. The values of
the factors and the verifications are those of the standard as Rocscience's UNI 11211-4 design page
for RocFall gives them. That page was seen in part: what γ_E is for the energy levels MEL and SEL,
and how D_d follows from the elongation of the tested net, stand in the standard itself and have to
be given. That the two factors on the runs multiply velocity and height, and the two on the block
its mass, follows from what they are for. Compare with the standard before signing.

ONR 24810 multiplies the percentiles of energy and height themselves by factors of the consequence
class. Its percentile and its factors stand in the standard, and the study gives them: percentile,
action_factor and height_factor.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.model.checks import (
    choice,
    float_array,
    integer,
    not_negative,
    number,
    of_kind,
    positive,
    within,
)
from drystone.model.signatures import public
from drystone.rockfall.results.percentiles import Estimate, estimate

SOURCE = "UNI 11211-4, factors as in Rocscience's UNI 11211-4 design page for RocFall"
GOOD, POOR = 1.02, 1.10
SURVEY = {"high": GOOD, "low": POOR}  # γ_Dp and γ_Vol: high or low quality
SIMULATION = {"back-analysis": GOOD, "literature": POOR}  # γ_Tr
LEAST_FREE_BORDER = 0.5  # f_min [m]
SHARES = (0.95, 0.99)
ONR = "ONR 24810"
ROCK_DENSITY = 2670.0  # [kg/m³] the common assumption, where only the mass of a block is known


@public
@dataclass(frozen=True)
class DesignFactors:
    """What is known of the site, in the words of the standard."""

    topography: str = "low"  # "high" or "low" quality of the survey of the slope
    block_survey: str = "low"  # "high" or "low" precision of that of the design block
    simulation: str = "literature"  # parameters from "back-analysis" or from "literature"
    unit_weight: float = 1.0  # γ_γ
    percentile: float = 0.95

    def __post_init__(self) -> None:
        choice("topography", self.topography, SURVEY)
        choice("block_survey", self.block_survey, SURVEY)
        choice("simulation", self.simulation, SIMULATION)
        within("unit_weight", self.unit_weight, 1.0)
        if number("percentile", self.percentile) not in SHARES:
            raise InputError(f"percentile is {self.percentile:g}, must be 0.95 or 0.99.")

    @property
    def motion(self) -> float:
        """γ_Tr γ_Dp, on velocity and height."""
        return SIMULATION[self.simulation] * SURVEY[self.topography]

    @property
    def mass(self) -> float:
        """γ_Vol γ_γ, on the mass of the design block."""
        return SURVEY[self.block_survey] * self.unit_weight


@dataclass(frozen=True)
class DesignValues:
    """What a barrier on a line has to withstand."""

    velocity: float  # v_d [m/s]
    height: float  # h_d [m]
    mass: float  # m_d [kg]
    energy: float  # E_d [J]
    velocity_estimate: Estimate  # v_t, with its band
    height_estimate: Estimate
    factors: DesignFactors

    @property
    def enough(self) -> bool:
        """Whether there were enough runs for both percentiles."""
        return self.velocity_estimate.enough and self.height_estimate.enough


@public
def design_values(
    speed: ArrayLike,
    height: ArrayLike,
    mass: float,
    runs: int,
    factors: DesignFactors | None = None,
    seed: int = 0,
) -> DesignValues:
    """Design values of a line.

    speed, height   (n,) largest of each run that reached the line [m/s, m]
    mass            of the design block [kg]
    runs            all runs, with those that did not reach the line
    """
    factors = DesignFactors() if factors is None else factors
    of_kind("factors", factors, DesignFactors, "DesignFactors, or None")
    mass = positive("mass of the design block", mass, "kg")
    runs, seed = integer("runs", runs, 1), integer("seed", seed, 0)
    speed, height = float_array("speed", speed), float_array("height", height)
    v = estimate(speed, factors.percentile, runs, seed)
    h = estimate(height, factors.percentile, runs, seed)
    v_d, h_d, m_d = v.value * factors.motion, h.value * factors.motion, mass * factors.mass
    return DesignValues(v_d, h_d, m_d, 0.5 * m_d * v_d**2, v, h, factors)


KNOWLEDGE = {  # both ends of what the factors allow
    "good": DesignFactors("high", "high", "back-analysis"),
    "poor": DesignFactors("low", "low", "literature"),
}
CHOSEN = "study"  # the row of what the study itself says
FIGURES = ("v_m_s", "h_m", "m_kg", "E_kJ")


@dataclass(frozen=True)
class DesignCase:
    """What a study says about the design of its barriers."""

    factors: DesignFactors
    block: float | None = None  # mass of the design block [kg]; None: the heaviest rock that came
    energy_factor: float | None = None  # γ_E; None: nothing is verified
    free_border: float = LEAST_FREE_BORDER  # the least f_min [m]
    service_factor: float | None = None  # γ_E for the energy level SEL
    standard: str | None = None  # None: UNI 11211-4
    action_factor: float | None = None  # of ONR 24810, on the energy
    height_factor: float | None = None  # and on the height


def block_border(volume: float, least: float = LEAST_FREE_BORDER) -> float:
    """f_min of a block [m]: half its mean size, that of a sphere of its volume [m³]."""
    return max(least, float((0.75 * volume / np.pi) ** (1.0 / 3.0)))


def design_table(
    speed, height, mass, runs: int, seed: int = 0, case: DesignCase | None = None,
    volume=None, energy=None,
) -> dict[str, dict]:  # fmt: skip
    """Design values of a line for good and for poor knowledge of the site, and as the study says.

    The design block is the heaviest rock that reached the line, `mass` (n,) [kg], or that of
    the study. With its `volume` (n,) [m³] each row has its free border; with the `energy` (n,) [J]
    of each run there is a row for ONR 24810, if the study asks for it.
    """
    rows = KNOWLEDGE if case is None else KNOWLEDGE | {CHOSEN: case.factors}
    if len(mass) == 0:
        return {name: dict.fromkeys(FIGURES, np.nan) for name in rows}
    heaviest = int(np.argmax(mass))
    block = float(mass[heaviest]) if case is None or case.block is None else case.block
    size = block / ROCK_DENSITY
    if volume is not None and np.isfinite(volume[heaviest]):
        size = float(volume[heaviest]) * block / float(mass[heaviest])
    least = LEAST_FREE_BORDER if case is None else case.free_border
    table = {}
    for name, factors in rows.items():
        found = design_values(speed, height, block, runs, factors, seed)
        figures = (found.velocity, found.height, found.mass, found.energy * 1e-3)
        table[name] = dict(zip(FIGURES, figures, strict=True))
        table[name]["free_border_m"] = block_border(size * found.mass / block, least)
    if case is not None and case.standard == ONR and energy is not None:
        table[CHOSEN] = _onr_row(speed, height, energy, block, runs, seed, case)
        table[CHOSEN]["free_border_m"] = block_border(size, least)
    return table


def _onr_row(speed, height, energy, block: float, runs: int, seed: int, case: DesignCase) -> dict:
    """Characteristic values of ONR 24810 times the factors of the study."""
    share = case.factors.percentile
    e = estimate(energy, share, runs, seed).value * (case.action_factor or 1.0)
    h = estimate(height, share, runs, seed).value * (case.height_factor or 1.0)
    v = estimate(speed, share, runs, seed).value
    return {"v_m_s": v, "h_m": h, "m_kg": block, "E_kJ": e * 1e-3}


def verify_row(
    row: dict, energy_kj: float, height: float, case: DesignCase, service_kj: float | None = None
) -> dict:
    """Whether a barrier of these energy levels and height withstands the values of a row.

    energy_kj   the maximum energy level (MEL); service_kj the service level (SEL), if it is known
    """
    border = row.get("free_border_m", case.free_border)
    allowed, needed = energy_kj / case.energy_factor, row["h_m"] + border
    found = {
        "allowed_E_kJ": allowed,
        "needed_h_m": needed,
        "energy_ok": bool(row["E_kJ"] < allowed),
        "height_ok": bool(height >= needed),
    }
    if service_kj is not None and case.service_factor is not None:
        found["allowed_service_kJ"] = service_kj / case.service_factor
        found["service_ok"] = bool(row["E_kJ"] < found["allowed_service_kJ"])
    return found


@dataclass(frozen=True)
class Verification:
    """Each condition with both of its sides; None where what it needs was not given."""

    energy_ok: bool
    height_ok: bool
    distance_ok: bool | None
    allowed_energy: float  # E_barrier / γ_E [J]
    needed_height: float  # h_d + f_min [m]

    @property
    def ok(self) -> bool:
        return self.energy_ok and self.height_ok and self.distance_ok is not False


@public
def verify_barrier(
    values: DesignValues,
    energy: float,
    height: float,
    energy_factor: float,
    free_border: float | None = None,
    distance: float | None = None,
    design_elongation: float | None = None,
) -> Verification:
    """Whether a barrier of energy level `energy` [J] and nominal `height` [m] is enough.

    energy_factor      γ_E of the standard for the energy level used, MEL or SEL
    free_border        f_min [m]; None: half the block, of common density, and at least 0.5 m
    distance           D_A, from the barrier to what it protects [m]
    design_elongation  D_d, after the standard [m]
    """
    of_kind("values", values, DesignValues, "what design_values() returns")
    energy, height = not_negative("energy", energy), not_negative("height", height)
    energy_factor = within("energy_factor", energy_factor, 1.0)
    if free_border is None:
        free_border = block_border(values.mass / ROCK_DENSITY)
    free_border = within("free_border [m]", free_border, LEAST_FREE_BORDER)
    if distance is not None:
        distance = not_negative("distance", distance)
    if design_elongation is not None:
        design_elongation = not_negative("design_elongation", design_elongation)
    allowed, needed = energy / energy_factor, values.height + free_border
    known = distance is not None and design_elongation is not None
    return Verification(
        energy_ok=bool(values.energy < allowed),
        height_ok=bool(height >= needed),
        distance_ok=bool(distance >= design_elongation) if known else None,
        allowed_energy=float(allowed),
        needed_height=float(np.float64(needed)),
    )

"""What a solver refuses before it starts."""

from drystone.errors import UnsupportedFeature


def refuse_elliptic(problem, name: str) -> None:
    """For solvers that know one friction coefficient per contact: no ellipse, no wrong answer."""
    if problem.friction_2 is not None:
        raise UnsupportedFeature(
            f"solver {name!r} knows friction that is the same in all directions; this problem has "
            f"elliptic friction (friction_2). Use solver 'prox'."
        )

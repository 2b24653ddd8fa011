"""What a solver cannot honour, said before it starts."""

from drystone.errors import UnsupportedFeature


def refuse_elliptic(problem, name: str) -> None:
    """Raise if the friction of `problem` differs between the tangents."""
    if problem.friction_2 is not None:
        raise UnsupportedFeature(f"{name} has no elliptic friction (friction_2).")

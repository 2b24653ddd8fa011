"""Plots beside the scene: energies, residual, contacts, time per stage."""

from typing import Any

import numpy as np

COLOURS = ("#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#9c755f")


class Plots:
    """Four small charts over the last steps."""

    def __init__(self, gui: Any) -> None:
        self._energy = _chart(gui, "energy [J]", ("kinetic", "potential"))
        self._residual = _chart(gui, "log10 residual [m/s]", ("residual",))
        self._contacts = _chart(gui, "contacts", ("contacts",))
        self._stages = gui.add_markdown("")

    def update(self, history: Any) -> None:
        """history   (time, kinetic, potential, residual, contacts, seconds of stages) each"""
        if len(history) < 2:
            return
        rows = list(history)
        time, kinetic, potential, residual, contacts = (
            np.array([row[k] for row in rows], float) for k in range(5)
        )
        self._energy.data = (time, kinetic, potential)
        self._residual.data = (time, np.log10(np.maximum(residual, 1e-16)))
        self._contacts.data = (time, contacts)
        spent: dict[str, float] = {}
        for row in rows[-30:]:
            for name, seconds in row[5].items():
                spent[name] = spent.get(name, 0.0) + seconds
        total = sum(spent.values()) or 1.0
        lines = [
            f"{name} {100 * x / total:.0f} %" for name, x in spent.items() if x > 0.005 * total
        ]
        self._stages.content = "time per stage: " + ", ".join(lines)


def _chart(gui: Any, title: str, names: tuple[str, ...]) -> Any:
    start = np.array([0.0, 1.0])
    series: list = [{"label": "t [s]"}]
    series += [{"label": n, "stroke": c} for n, c in zip(names, COLOURS, strict=False)]
    return gui.add_uplot(
        (start, *(np.zeros(2) for _ in names)),
        tuple(series),
        title=title,
        scales={"x": {"time": False, "auto": True}, "y": {"auto": True}},
        axes=({}, {"size": 64}),  # [pixels] for labels: a wall has millions of joules
        legend={"show": len(names) > 1},
        aspect=2.2,
    )

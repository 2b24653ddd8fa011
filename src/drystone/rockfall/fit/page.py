"""The page of a back-analysis: best values, their region, and how the deposits compare."""

import base64
import io
from html import escape

import numpy as np

from drystone.rockfall.fit.observations import in_frame
from drystone.rockfall.report.html_frame import html_page
from drystone.rockfall.report.html_parts import bullets, section, table
from drystone.rockfall.report.plot_style import new_figure

LIMITS = (
    "Values are those of this model, for rocks like those of the study; they are no properties of "
    "the ground by themselves.",
    "A wide region means that the deposits do not tell the values apart: give fewer materials to "
    "fit, more deposits, or passage heights.",
    "A value at the end of its range says that the model wants more than the range has.",
)


def fit_page(study, fit, library, deposits: np.ndarray) -> str:
    region = fit.region
    rows = [
        [name, f"{best:.3f}", f"{low:.3f}", f"{high:.3f}"]
        for name, best, low, high in zip(
            fit.names, region.best, region.low, region.high, strict=True
        )
    ]
    lines = (f", {len(seen)} heights at {name}" for name, (seen, _) in (fit.heights or {}).items())
    words = (
        f"{fit.deposits} observed deposits{''.join(lines)}, {len(library.ends)} trials of "
        f"{len(library.ends[0])} rocks; {fit.seconds:.0f} s, {fit.cpu:.0f} s of CPU here. "
        f"Held-out deposits: p = {fit.held_out:.2f}."
    )
    doubt = f"<p class='alarm'>{escape(fit.doubt)}</p>" if fit.doubt else ""
    body = section(
        "Fitted values",
        f"{doubt}<p>{escape(words)}</p>"
        + table(["value", "best", "90 % region from", "to"], rows)
        + _image(_draw_region(fit)),
    )
    body += section("Observed and simulated run-out", _image(_draw_runouts(fit, library, deposits)))
    for name, (seen, told) in (fit.heights or {}).items():
        heading = f"Observed and simulated passage heights at {name}"
        body += section(heading, _image(_draw_shares(seen, told, "passage height [m]")))
    body += section("What to make of it", bullets(list(LIMITS)))
    return html_page(f"{study.title}: back-analysis", body)


def _draw_region(fit):
    k = len(fit.names)
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)][:6] or [(0, 0)]
    figure = new_figure((3.6 * min(len(pairs), 3), 3.2 * -(-len(pairs) // 3)))
    panels = np.atleast_1d(figure.subplots(-(-len(pairs) // 3), min(len(pairs), 3))).ravel()
    for panel, (i, j) in zip(panels, pairs, strict=False):
        panel.plot(
            *fit.region.points[:, [i, j]].T, ".", color="tab:blue", markersize=1.5, alpha=0.4
        )
        panel.plot(fit.region.best[i], fit.region.best[j], "+", color="black", markersize=10)
        panel.set_xlabel(fit.names[i], fontsize=8)
        panel.set_ylabel(fit.names[j], fontsize=8)
        panel.set_xlim(fit.emulator.low[i], fit.emulator.high[i])
        panel.set_ylim(fit.emulator.low[j], fit.emulator.high[j])
    return figure


def _draw_runouts(fit, library, deposits):
    ends = library.ends[fit.nearest]
    ends = ends[np.isfinite(ends[:, 0])]
    seen, _ = in_frame(deposits, fit.frame.start, fit.frame.along)
    told, _ = in_frame(ends, fit.frame.start, fit.frame.along)
    return _draw_shares(seen, told, "run-out [m]")


def _draw_shares(seen, told, quantity: str):
    """Cumulative shares of what was seen and of what a trial tells, and how far they are apart."""
    figure = new_figure((9, 3.4))
    left, right = figure.subplots(1, 2)
    for values, name, colour in ((seen, "observed", "black"), (told, "simulated", "tab:orange")):
        left.plot(np.sort(values), (np.arange(len(values)) + 1) / len(values), label=name,
                  color=colour)  # fmt: skip
    left.set_xlabel(quantity)
    left.set_ylabel("share below")
    left.legend(fontsize=8)
    shares = np.linspace(0.02, 0.98, 49)
    right.plot(shares, np.quantile(told, shares) - np.quantile(seen, shares), color="tab:orange")
    right.axhline(0.0, color="black", linewidth=0.6)
    right.set_xlabel("share")
    right.set_ylabel("simulated minus observed [m]")
    figure.suptitle("Simulated: the trial nearest to the best values", fontsize=9)
    return figure


def _image(figure) -> str:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110, metadata={"Software": None})
    return (
        f'<img alt="" src="data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}">'
    )

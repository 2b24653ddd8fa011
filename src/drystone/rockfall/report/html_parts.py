"""Small pieces of the report's HTML: sections, tables, figures, numbers."""

import base64
import json
from html import escape

LINE = 110  # characters of a line of JSON
NAME = 16  # characters of a name that keeps to its line
COLUMNS = ["", "mean", "median", "90 %", "95 %", "99 %", "largest"]
STAR = "<p class='note'>* not enough runs for this figure, see “Enough runs?”.</p>"


def section(heading: str, body: str) -> str:
    return f"<section><h2>{escape(heading)}</h2>\n{body}</section>"


def image(images: dict[str, bytes], name: str) -> str:
    if name not in images:
        return ""
    data = base64.b64encode(images[name]).decode()
    text = escape(name.replace("_", " "))
    return f'<img alt="{text}" src="data:image/png;base64,{data}">'


def tabs(panels: dict[str, str], group: str) -> str:
    """One panel at a time, chosen by a row of buttons; without any script."""
    parts = []
    for number, (name, body) in enumerate(panels.items()):
        chosen = " checked" if number == 0 else ""
        label, key = escape(name.replace("_", " ")), f"{group}{number}"
        parts.append(
            f'<input type="radio" name="{group}" id="{key}"{chosen}>'
            f'<label for="{key}">{label}</label><div>{body}</div>'
        )
    return f'<div class="tabs">{"".join(parts)}</div>'


def bullets(lines: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def table(heading: list[str], rows: list[list[str]], kind: str = "figures") -> str:
    """kind   "figures": no number is broken over two lines; "text": words may be"""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in heading) if any(heading) else ""
    body = "".join("<tr>" + "".join(_cell(cell, kind) for cell in row) + "</tr>" for row in rows)
    top = f"<tr>{top}</tr>" if top else ""
    return f'<div class="wide"><table class="{kind}">{top}{body}</table></div>'


def _cell(text: str, kind: str) -> str:
    """A name may be long, and takes two lines where the table would else be cut off on paper."""
    name = kind == "figures" and len(text) > NAME and any(c.isalpha() for c in text)
    return f'<td class="words">{escape(text)}</td>' if name else f"<td>{escape(text)}</td>"


def compact_json(value, indent: str = "") -> str:
    """JSON with whatever fits on a line on one: a list of points takes a page otherwise."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= LINE or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        rows = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {compact_json(entry, inner)}"
            for key, entry in value.items()
        ]
    else:
        rows = [inner + compact_json(entry, inner) for entry in value]
    left, right = "{}" if isinstance(value, dict) else "[]"
    return f"{left}\n" + ",\n".join(rows) + f"\n{indent}{right}"


def number(value) -> str:
    """Four digits, thousands written out; a dash for nothing."""
    if value is None:
        return "–"
    if value != 0.0 and 1e4 <= abs(value) < 1e7:
        return f"{value:,.0f}".replace(",", "\u202f")
    return f"{value:.4g}"


def largest(entry: dict) -> str:
    """The largest value; of a run that went on it is only known to be larger."""
    return f"> {number(entry['max'])}" if entry.get("max_open") else number(entry["max"])


def with_band(entry: dict) -> str:
    if entry["value"] is None:
        return f"> {number(entry['low'])}" if entry.get("low") is not None else "–"
    mark = "" if entry["enough"] else " *"
    high = "…" if entry["high"] is None else number(entry["high"])
    return f"{number(entry['value'])} ({number(entry['low'])} – {high}){mark}"


def percentile_rows(entries: dict, names: dict[str, str]) -> list[list[str]]:
    rows = []
    for key, heading in names.items():
        if key in entries:
            entry = entries[key]
            bands = [with_band(entry[name]) for name in ("median", "p90", "p95", "p99")]
            rows.append([heading, number(entry["mean"]), *bands, largest(entry)])
    return rows

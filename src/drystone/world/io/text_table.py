"""Rows of figures as plain text, which reads as well in a file as on a screen."""


def text_table(rows: list[dict], columns) -> str:
    """One line per row under a heading; columns without any value are left out.

    columns   (heading, key, format) each; the first is aligned to the left
    """
    shown = [column for column in columns if any(row.get(column[1]) is not None for row in rows)]
    cells = [[heading for heading, _, _ in shown]]
    for row in rows:
        cells.append(["" if row.get(k) is None else form.format(row[k]) for _, k, form in shown])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for line in cells:
        first = f"{line[0]:<{widths[0]}}"
        rest = [f"{cell:>{width}}" for cell, width in zip(line[1:], widths[1:], strict=True)]
        lines.append("  ".join(["", first, *rest]))
    return "\n".join(lines)

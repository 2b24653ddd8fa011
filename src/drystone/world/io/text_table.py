"""Tables as plain text, made by rich, which read as well in a file as on a screen."""

from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDEST = 10_000  # columns of text: no table is wrapped


def text_table(rows: list[dict], columns) -> str:
    """One line per row under a heading; columns without any value are left out.

    columns   (heading, key, format) each; the first is aligned to the left
    """
    shown = [column for column in columns if any(row.get(column[1]) is not None for row in rows)]
    table = Table(box=None, padding=(0, 0, 0, 2), header_style=None)
    for k, (heading, _, _) in enumerate(shown):
        table.add_column(Text(heading), justify="right" if k else "left", no_wrap=True)
    for row in rows:
        cells = ["" if row.get(key) is None else form.format(row[key]) for _, key, form in shown]
        table.add_row(*map(Text, cells))
    console = Console(file=StringIO(), width=WIDEST, color_system=None)
    console.print(table)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())

"""Griffe extension: our docstrings as Markdown.

Docstrings are written for the reader of the source: lists of arguments stand in two columns, and
the meaning of a field behind a # on its line. Here the first become tables, the second docstrings.
"""

import re

import griffe

COLUMNS = re.compile(r"^(\S(?:.*?\S)?)  +(\S.*)$")


class Docstrings(griffe.Extension):
    """Rewrites docstrings as they are collected."""

    def on_attribute_instance(self, *, attr, **_):
        comment = _comment(attr)
        if attr.docstring is None and comment:
            attr.docstring = griffe.Docstring(comment, parent=attr)

    def on_instance(self, *, obj, **_):
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """`text` with its paragraphs in two columns as tables."""
    return "\n\n".join(map(_paragraph, re.split(r"\n\s*\n", text)))


def _paragraph(text: str) -> str:
    rows: list[list[str]] = []
    for line in text.splitlines():
        found = COLUMNS.match(line)
        if found:
            rows.append([found[1], found[2]])
        elif rows and line.startswith("  "):
            rows[-1][1] += " " + line.strip()
        else:
            return text  # plain text, or a formula
    lines = [f"| `{name}` | {meaning.replace('|', chr(92) + '|')} |" for name, meaning in rows]
    return "\n".join(["| | |", "|---|---|", *lines])


def _comment(attribute) -> str:
    """What stands behind the # on the line of an attribute."""
    if attribute.lineno is None:
        return ""
    line = attribute.lines_collection[attribute.filepath][attribute.lineno - 1]
    return line.partition("  # ")[2].strip()

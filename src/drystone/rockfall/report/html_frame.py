"""The frame of the HTML pages: reports, comparisons of scenarios, fits."""

from html import escape

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.45 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; }}
h1 {{ border-bottom: 2px solid #222; }}
h2 {{ border-bottom: 1px solid #bbb; margin-top: 2.5rem; }}
img {{ max-width: 100%; display: block; margin: .5rem 0; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; margin: .5rem 0; }}
th, td {{ border: 1px solid #ccc; padding: .2rem .45rem; text-align: left; font-size: .82rem;
  vertical-align: top; }}
th {{ background: #f2f2f2; }}
table.figures td {{ white-space: nowrap; }}
table.figures td.words {{ white-space: normal; overflow-wrap: anywhere; min-width: 7rem; }}
.title {{ display: grid; grid-template-columns: 3fr 2fr; gap: 1rem; margin: 1rem 0 1.5rem; }}
table.block {{ width: 100%; align-self: start; }}
table.block th {{ text-align: left; width: 9rem; }}
table.block td {{ height: 1.25rem; }}
table.code td {{ overflow-wrap: anywhere; font-size: .75rem; }}
table.code td:first-child {{ overflow-wrap: normal; white-space: nowrap; }}
table.digests td:first-child {{ overflow-wrap: anywhere; white-space: normal; }}
table.digests td:last-child {{ overflow-wrap: normal; white-space: nowrap;
  font-family: monospace; }}
pre {{ background: #f7f7f7; padding: .5rem; font-size: .72rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }}
.note {{ color: #555; font-size: .85rem; }}
.alarm {{ border-left: 5px solid #c00000; background: #fdf0f0; padding: .5rem .8rem; }}
.warning {{ border-left: 5px solid #e07b00; background: #fdf6ec; padding: .3rem .8rem;
  margin: .4rem 0; }}
.tabs {{ display: flex; flex-wrap: wrap; }}
.tabs input {{ position: absolute; opacity: 0; }}
.tabs label {{ order: 1; padding: .2rem .6rem; margin: 0 .3rem .3rem 0; border: 1px solid #bbb;
  border-radius: .3rem; cursor: pointer; font-size: .85rem; }}
.tabs input:checked + label {{ background: #222; color: #fff; }}
.tabs input:focus-visible + label {{ outline: 2px solid #06c; }}
.tabs div {{ order: 2; width: 100%; display: none; }}
.tabs input:checked + label + div {{ display: block; }}
@page {{ size: A4; margin: 16mm 14mm 18mm;
  @bottom-left {{ content: "{footer}"; font: 7pt sans-serif; color: #555; }}
  @bottom-right {{ content: counter(page) " / " counter(pages); font: 7pt sans-serif;
    color: #555; }} }}
@media print {{
  body {{ font-size: 9.5pt; margin: 0; max-width: none; padding: 0; }}
  th, td {{ font-size: 7pt; padding: .1rem .25rem; }}
  table.code td, pre {{ font-size: 6.5pt; }}
  .tabs {{ display: block; }}
  .tabs label {{ display: none; }}
  .tabs div {{ display: block; }}
  .wide {{ overflow: visible; }}
  img, table, h2, h3, .warning, .alarm {{ break-inside: avoid; }}
  h2, h3 {{ break-after: avoid; }}
  img {{ max-height: 120mm; }}
}}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def html_page(title: str, body: str, revision: str = "") -> str:
    """A whole page; printed, each sheet has title and revision at its foot, and its number."""
    footer = ", ".join(filter(None, (title, revision)))
    return PAGE.format(title=escape(title), body=body, footer=_css_string(footer))


def _css_string(text: str) -> str:
    """Text between the quotes of a style sheet: no letter of it can end them."""
    return "".join(c if c.isascii() and c.isalnum() else f"\\{ord(c):06x}" for c in text)

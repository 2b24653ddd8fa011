"""The frame of the HTML report; {title} and {body} are filled in."""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; }}
h1 {{ border-bottom: 2px solid #222; }}
h2 {{ border-bottom: 1px solid #bbb; margin-top: 2.5rem; }}
img {{ max-width: 100%; display: block; margin: .5rem 0; }}
table {{ border-collapse: collapse; margin: .5rem 0; }}
th, td {{ border: 1px solid #ccc; padding: .2rem .5rem; text-align: left; font-size: .9rem;
  overflow-wrap: anywhere; }}
th {{ background: #f2f2f2; }}
pre {{ background: #f7f7f7; padding: .5rem; overflow-x: auto; font-size: .8rem; }}
.tabs {{ display: flex; flex-wrap: wrap; }}
.tabs input {{ position: absolute; opacity: 0; }}
.tabs label {{ order: 1; padding: .2rem .6rem; margin: 0 .3rem .3rem 0; border: 1px solid #bbb;
  border-radius: .3rem; cursor: pointer; }}
.tabs input:checked + label {{ background: #222; color: #fff; }}
.tabs input:focus-visible + label {{ outline: 2px solid #06c; }}
.tabs div {{ order: 2; width: 100%; display: none; }}
.tabs input:checked + label + div {{ display: block; }}
@media print {{ .tabs div {{ display: block; }} section {{ break-inside: avoid-page; }} }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""

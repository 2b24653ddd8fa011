"""Notebooks: worlds and recordings show themselves, and nothing warns."""

import pytest

import drystone as ds

CELLS = (
    "import drystone as ds\n"
    "world = ds.World()\n"
    "world.add_fixed(ds.Plane())\n"
    "world.add_body(ds.Box(1, 1, 1), position=(0, 0, 2), name='crate')\n"
    "world",
    "with ds.record(world, 'fall.h5'):\n    world.run(0.2, progress=True)",
    "ds.Recording('fall.h5')",
    "world.contacts()",
    "world.problem()",
    "world.view(port=0, block=False).stop()",
)


@pytest.mark.slow
def test_an_executed_notebook_shows_the_scene_and_does_not_warn(tmp_path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("viser")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(book, timeout=500, resources=resources, kernel_name="python3").execute()
    outputs = [cell.outputs for cell in book.cells]
    said = "".join(
        o.get("text", "") + str(o.get("data", {}).get("text/plain", ""))
        for out in outputs
        for o in out
    )
    assert "48/48 steps" in said and "viser" not in said
    assert "Warning" not in said and "warn" not in said.lower()
    world, replay = (_html(outputs[k]) for k in (0, 2))
    for shown in (world, replay):
        assert shown.startswith("<iframe") and "http://" not in shown and "https://" not in shown
    for out in outputs[3:5]:
        text = out[-1]["data"]["text/plain"]
        assert text.count("\n") < 12, text


def _html(outputs):
    return next(o["data"]["text/html"] for o in outputs if "text/html" in o.get("data", {}))


def test_tables_and_problems_print_a_few_lines():
    world = ds.World()
    world.add_fixed(ds.Plane())
    for k in range(5):
        world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.5 + k), name=f"box {k}")
    world.step()
    for thing in (world.contacts(), world.problem(), world):
        assert repr(thing).count("\n") < 12 and len(repr(thing)) < 1000
    assert "20 contacts" in repr(world.contacts()) and "20 contacts" in repr(world.problem())

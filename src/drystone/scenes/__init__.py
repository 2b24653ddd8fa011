"""Named scenes, shared by tests, benchmarks and demos; each family of them is one file."""

from drystone.errors import InputError
from drystone.model.checks import did_you_mean, shown
from drystone.scenes import (
    arches,
    chains,
    chess,
    dominoes,
    impacts,
    jointed_figures,
    linkages,
    loop,
    mechanism,
    peg_in_hole,
    piles,
    pushed_rectangle,
    skate,
    slopes,
    snakes,
    spinning,
    stacks,
    thin_shells,
    tori,
    tray,
    vehicle,
    walls,
)
from drystone.scenes.scene import Scene

SCENES: dict[str, Scene] = {
    scene.name: scene
    for module in (
        walls,
        arches,
        stacks,
        dominoes,
        piles,
        tray,
        slopes,
        skate,
        impacts,
        spinning,
        chains,
        snakes,
        linkages,
        jointed_figures,
        pushed_rectangle,
        vehicle,
        chess,
        thin_shells,
        tori,
        peg_in_hole,
        loop,
        mechanism,
    )
    for scene in module.SCENES
}


def find_scene(name: str) -> Scene:
    """The scene called `name`, or an error that guesses what was meant."""
    if name in SCENES:
        return SCENES[name]
    raise InputError(f"There is no scene {shown(name)}. {did_you_mean(name, SCENES)}")

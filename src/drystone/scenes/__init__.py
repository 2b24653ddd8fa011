"""Named scenes, shared by tests, benchmarks and demos; each family of them is one file."""

from drystone.errors import InputError
from drystone.inputs import did_you_mean
from drystone.scenes import (
    arches,
    chains,
    chess,
    dominoes,
    figures,
    fits,
    impacts,
    linkages,
    loop,
    mechanism,
    piles,
    pointer,
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
        figures,
        pointer,
        vehicle,
        chess,
        thin_shells,
        tori,
        fits,
        loop,
        mechanism,
    )
    for scene in module.SCENES
}


def find_scene(name: str) -> Scene:
    """The scene called `name`, or an error that guesses what was meant."""
    if name in SCENES:
        return SCENES[name]
    raise InputError(f"There is no scene {name!r}. {did_you_mean(name, SCENES)}")

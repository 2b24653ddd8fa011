"""Drystone: rigid bodies that touch. Hard contact, dry friction, impacts, joints.

    import drystone as ds

    wood = ds.Material(density=700, friction=0.5)
    world = ds.World()
    world.add_fixed(ds.Plane(), wood)
    crate = world.add_body(ds.Box(1, 1, 1), wood, position=(0, 0, 2), name="crate")
    world.run(2.0)
"""

from importlib import import_module

# Names are fetched when they are first used: Numba takes half a second to import, and
# `drystone --help` should not wait for it.
_HOME = {
    "Body": "body",
    "FixedBody": "body",
    "World": "world",
    "Material": "materials",
    "Plane": "shapes",
    "Sphere": "shapes",
    "Box": "shapes",
    "Capsule": "shapes",
    "Cylinder": "shapes",
    "ConvexHull": "shapes",
    "Compound": "shapes",
    "Disc": "shapes",
    "Polygon": "shapes",
    "Segment": "shapes",
    "Terrain": "shapes",
    "Mesh": "shapes",
    "check_mesh": "shapes",
    "Ball": "joints.ball",
    "SwingTwist": "joints.swing_twist",
    "Cylindrical": "joints.cylindrical",
    "Distance": "joints.distance",
    "Fixed": "joints.fixed",
    "Hinge": "joints.hinge",
    "Planar": "joints.planar",
    "Slider": "joints.slider",
    "SpringDamper": "joints.spring",
    "Universal": "joints.universal",
    "Motor": "joints.drives",
    "Spring": "elements.spring",
    "Damper": "elements.damper",
    "Drag": "elements.drag",
    "Attractor": "elements.attractor",
    "Repulsor": "elements.attractor",
    "Force": "elements.function",
    "ForceState": "elements.function",
    "Servo": "joints.drives",
    "ContactTable": "measure",
    "Energy": "measure",
    "Momentum": "measure",
    "Finding": "check",
    "ContactProblem": "problem",
    "MatrixProblem": "matrix_problem",
    "SolveInfo": "problem",
    "residual": "problem",
    "solve": "solving",
    "SOLVERS": "solvers",
    "record": "recorder",
    "Recorder": "recorder",
    "Recording": "recording",
    "Replay": "recording",
    "replay": "recording",
    "DrystoneError": "errors",
    "InputError": "errors",
    "NotConvergedWarning": "errors",
    "SimulationError": "errors",
    "UnsupportedFeature": "errors",
}

# Parts of the library that stand for themselves, under their own name.
_MODULES = ("lcp", "rockfall")

__all__ = sorted((*_HOME, *_MODULES))


def __getattr__(name: str):
    if name in _MODULES:
        return import_module(f"drystone.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'drystone' has no attribute {name!r}")
    value = getattr(import_module(f"drystone.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_HOME, *_MODULES})

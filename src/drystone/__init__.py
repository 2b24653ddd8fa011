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
    "Body": "world.body",
    "FixedBody": "world.body",
    "World": "world.world",
    "Material": "model.materials",
    "Plane": "shapes",
    "Sphere": "shapes",
    "Box": "shapes",
    "Capsule": "shapes",
    "Cylinder": "shapes",
    "Cone": "shapes",
    "ConvexHull": "shapes",
    "Compound": "shapes",
    "Disc": "shapes",
    "Polygon": "shapes",
    "Segment": "shapes",
    "Terrain": "shapes",
    "Mesh": "shapes",
    "check_mesh": "shapes",
    "Ball": "constraints.joints.ball",
    "SwingTwist": "constraints.joints.swing_twist",
    "Cylindrical": "constraints.joints.cylindrical",
    "Distance": "constraints.joints.distance",
    "Fixed": "constraints.joints.fixed",
    "Hinge": "constraints.joints.hinge",
    "Planar": "constraints.joints.planar",
    "Slider": "constraints.joints.slider",
    "SpringDamper": "constraints.joints.spring_damper",
    "Universal": "constraints.joints.universal",
    "Motor": "constraints.joints.drives",
    "Spring": "forces.spring",
    "Damper": "forces.damper",
    "Drag": "forces.drag",
    "Attractor": "forces.attractor",
    "Repulsor": "forces.attractor",
    "Force": "forces.user_force",
    "ForceState": "forces.user_force",
    "Servo": "constraints.joints.drives",
    "ContactTable": "world.observables",
    "Energy": "world.observables",
    "Momentum": "world.observables",
    "Finding": "world.check.world",
    "ContactProblem": "constraints.problem",
    "MatrixProblem": "constraints.matrix_problem",
    "SolveInfo": "constraints.problem",
    "residual": "constraints.residual",
    "solve": "solvers.dispatch",
    "SOLVERS": "solvers",
    "record": "world.io.recorder",
    "Recorder": "world.io.recorder",
    "Recording": "world.io.recording",
    "Replay": "world.io.replay",
    "replay": "world.io.replay",
    "DrystoneError": "errors",
    "InputError": "errors",
    "NotConvergedWarning": "errors",
    "SimulationError": "errors",
    "UnsupportedFeature": "errors",
}

# Parts of the library that stand for themselves, under their own name.
_MODULES = {"lcp": "solvers.lcp", "rockfall": "rockfall"}

__all__ = sorted((*_HOME, *_MODULES))


def __getattr__(name: str):
    if name in _MODULES:
        return import_module(f"drystone.{_MODULES[name]}")
    if name not in _HOME:
        raise AttributeError(f"module 'drystone' has no attribute {name!r}")
    value = getattr(import_module(f"drystone.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_HOME, *_MODULES})

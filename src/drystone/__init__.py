"""Drystone: rigid bodies that touch. Hard contact, dry friction, impacts, joints.

import drystone as ds

wood = ds.Material(density=700, friction=0.5)
world = ds.World()
world.add_fixed(ds.Plane(), wood)
crate = world.add_body(ds.Box(1, 1, 1), wood, position=(0, 0, 2), name="crate")
world.run(2.0)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names, for type checkers and editors
    from drystone import rockfall as rockfall
    from drystone.constraints.joints.ball import Ball as Ball
    from drystone.constraints.joints.coupling import Coupling as Coupling
    from drystone.constraints.joints.cylindrical import Cylindrical as Cylindrical
    from drystone.constraints.joints.distance import Distance as Distance
    from drystone.constraints.joints.drives import Motor as Motor
    from drystone.constraints.joints.drives import Servo as Servo
    from drystone.constraints.joints.fixed import Fixed as Fixed
    from drystone.constraints.joints.gear import Gear as Gear
    from drystone.constraints.joints.hinge import Hinge as Hinge
    from drystone.constraints.joints.planar import Planar as Planar
    from drystone.constraints.joints.rack import Rack as Rack
    from drystone.constraints.joints.slider import Slider as Slider
    from drystone.constraints.joints.spring_damper import SpringDamper as SpringDamper
    from drystone.constraints.joints.swing_twist import SwingTwist as SwingTwist
    from drystone.constraints.joints.universal import Universal as Universal
    from drystone.constraints.matrix_problem import MatrixProblem as MatrixProblem
    from drystone.constraints.problem import ContactProblem as ContactProblem
    from drystone.constraints.problem import SolveInfo as SolveInfo
    from drystone.constraints.residual import residual as residual
    from drystone.errors import DrystoneError as DrystoneError
    from drystone.errors import InputError as InputError
    from drystone.errors import NotConvergedWarning as NotConvergedWarning
    from drystone.errors import SimulationError as SimulationError
    from drystone.errors import UnsupportedFeature as UnsupportedFeature
    from drystone.forces.attractor import Attractor as Attractor
    from drystone.forces.attractor import Repulsor as Repulsor
    from drystone.forces.damper import Damper as Damper
    from drystone.forces.drag import Drag as Drag
    from drystone.forces.spring import Spring as Spring
    from drystone.forces.user_force import Force as Force
    from drystone.forces.user_force import ForceState as ForceState
    from drystone.model.materials import Material as Material
    from drystone.shapes import Box as Box
    from drystone.shapes import Capsule as Capsule
    from drystone.shapes import Compound as Compound
    from drystone.shapes import Cone as Cone
    from drystone.shapes import ConvexHull as ConvexHull
    from drystone.shapes import Cylinder as Cylinder
    from drystone.shapes import Disc as Disc
    from drystone.shapes import Mesh as Mesh
    from drystone.shapes import Plane as Plane
    from drystone.shapes import Polygon as Polygon
    from drystone.shapes import Segment as Segment
    from drystone.shapes import Sphere as Sphere
    from drystone.shapes import Terrain as Terrain
    from drystone.shapes import check_mesh as check_mesh
    from drystone.solvers import SOLVERS as SOLVERS
    from drystone.solvers import lcp as lcp
    from drystone.solvers.dispatch import solve as solve
    from drystone.solvers.penalty.options import Penalty as Penalty
    from drystone.world.batch import Batch as Batch
    from drystone.world.body import Body as Body
    from drystone.world.body import FixedBody as FixedBody
    from drystone.world.character.character import Character as Character
    from drystone.world.character.clips.clip import Clip as Clip
    from drystone.world.character.feedforward import feedforward as feedforward
    from drystone.world.character.figure import Bone as Bone
    from drystone.world.character.figure import Figure as Figure
    from drystone.world.character.gains import Gains as Gains
    from drystone.world.character.inverse_dynamics import inverse_dynamics as inverse_dynamics
    from drystone.world.character.motion import Motion as Motion
    from drystone.world.character.run import CharacterRun as CharacterRun
    from drystone.world.character.run import Disturbance as Disturbance
    from drystone.world.character.run import run_character as run_character
    from drystone.world.character.standing import Fall as Fall
    from drystone.world.character.torques import Torques as Torques
    from drystone.world.check.world import Finding as Finding
    from drystone.world.interaction import Dragging as Dragging
    from drystone.world.io.recorder import Recorder as Recorder
    from drystone.world.io.recorder import record as record
    from drystone.world.io.recording import Recording as Recording
    from drystone.world.io.replay import Replay as Replay
    from drystone.world.io.replay import replay as replay
    from drystone.world.io.snapshot import Snapshot as Snapshot
    from drystone.world.observables import ContactTable as ContactTable
    from drystone.world.observables import Energy as Energy
    from drystone.world.observables import Momentum as Momentum
    from drystone.world.queries.distance import ClosestPoints as ClosestPoints
    from drystone.world.queries.rays import RayHit as RayHit
    from drystone.world.queries.rays import RayHits as RayHits
    from drystone.world.robots.description import Actuator as Actuator
    from drystone.world.robots.description import Link as Link
    from drystone.world.robots.description import LinkShape as LinkShape
    from drystone.world.robots.description import Loop as Loop
    from drystone.world.robots.description import RobotJoint as RobotJoint
    from drystone.world.robots.placed import PlacedRobot as PlacedRobot
    from drystone.world.robots.robot import Robot as Robot
    from drystone.world.view.replay_viewer import ReplayViewer as ReplayViewer
    from drystone.world.view.viewer import Viewer as Viewer
    from drystone.world.world import World as World

__version__: str  # fetched from the installed package when it is asked for

# Names are fetched when they are first used: Numba takes half a second to import, and
# `drystone --help` should not wait for it.
_HOME = {
    "Body": "world.body",
    "FixedBody": "world.body",
    "World": "world.world",
    "Batch": "world.batch",
    "Snapshot": "world.io.snapshot",
    "ClosestPoints": "world.queries.distance",
    "RayHit": "world.queries.rays",
    "RayHits": "world.queries.rays",
    "Robot": "world.robots.robot",
    "PlacedRobot": "world.robots.placed",
    "Link": "world.robots.description",
    "LinkShape": "world.robots.description",
    "RobotJoint": "world.robots.description",
    "Actuator": "world.robots.description",
    "Loop": "world.robots.description",
    "Clip": "world.character.clips.clip",
    "Bone": "world.character.figure",
    "Figure": "world.character.figure",
    "Motion": "world.character.motion",
    "Torques": "world.character.torques",
    "inverse_dynamics": "world.character.inverse_dynamics",
    "feedforward": "world.character.feedforward",
    "Gains": "world.character.gains",
    "Character": "world.character.character",
    "Fall": "world.character.standing",
    "Disturbance": "world.character.run",
    "CharacterRun": "world.character.run",
    "run_character": "world.character.run",
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
    "Gear": "constraints.joints.gear",
    "Rack": "constraints.joints.rack",
    "Coupling": "constraints.joints.coupling",
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
    "Penalty": "solvers.penalty.options",
    "SOLVERS": "solvers",
    "record": "world.io.recorder",
    "Recorder": "world.io.recorder",
    "Recording": "world.io.recording",
    "Replay": "world.io.replay",
    "replay": "world.io.replay",
    "Dragging": "world.interaction",
    "Viewer": "world.view.viewer",
    "ReplayViewer": "world.view.replay_viewer",
    "DrystoneError": "errors",
    "InputError": "errors",
    "NotConvergedWarning": "errors",
    "SimulationError": "errors",
    "UnsupportedFeature": "errors",
}

# Parts of the library that stand for themselves, under their own name.
_MODULES = {"lcp": "solvers.lcp", "rockfall": "rockfall"}

__all__ = sorted((*_HOME, *_MODULES))


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("drystone")
    if name in _MODULES:
        return import_module(f"drystone.{_MODULES[name]}")
    if name not in _HOME:
        raise AttributeError(f"module 'drystone' has no attribute {name!r}.{_guess(name)}")
    value = getattr(import_module(f"drystone.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def _guess(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, __all__, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES, "__version__"})

"""MJCF through MuJoCo's own compiler: defaults, includes, units and frames are its business.

A body with several joints becomes a chain of links without mass between them; a joint that is not
at the origin of its body moves the frame of the link there, so that a link's frame is its joint's.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from drystone.errors import InputError
from drystone.jit.vec import quaternion_product
from drystone.model.reading_apart import Limits, limits_of, read_apart
from drystone.model.rotation import rotation_matrices
from drystone.shapes import Box, Capsule, ConvexHull, Cylinder, Mesh, Sphere
from drystone.world.robots.description import Actuator, Link, LinkShape, Loop, RobotJoint
from drystone.world.robots.robot import GRAVITY, Robot
from drystone.world.robots.xml_files import read_xml

# Of the compiler, beyond what the files of a model need: a few words ask for a million copies of
# a body, or for a picture of 10 GB.
SPARE = Limits(memory=512 << 20, seconds=8)
FOLDERS = ("meshdir", "texturedir", "assetdir")  # attributes of <compiler>
MOST_TEXTS = 100  # a file and what it includes; MuJoCo refuses one that includes itself

KINDS = ("free", "ball", "prismatic", "revolute")  # mjtJoint


def read_mjcf(path: Path, meshes: str) -> Robot:
    """The robot of an MJCF file."""
    try:
        import mujoco
    except ImportError:
        raise InputError(
            f"{path.name}: MJCF is read by MuJoCo's compiler; pip install 'drystone[mjcf]'."
        ) from None
    script = Path(__file__).with_name("mujoco_process.py")
    limits = limits_of(SPARE, _bytes_of(path))
    with read_apart(script, path, limits, f"{path.name}: MuJoCo says") as out:
        model = mujoco.MjModel.from_binary_path(str(out))
    return _Reader(model, path.name, meshes).robot(path.stem)


def _bytes_of(path: Path) -> int:
    """Of the file, of those that it includes, and of the meshes and pictures that they name."""
    folder, texts, names, folders = path.parent, [path], set(), {path.parent}
    for text in texts:  # which grows
        for element in read_xml(text).iter():
            folders |= {folder / word for key in FOLDERS if (word := element.get(key))}
            name = element.get("file", "")
            if element.tag != "include":
                names.add(name)
            elif folder / name not in texts and len(texts) < MOST_TEXTS:
                texts.append(folder / name)
    named = {file for name in names for at in folders if os.path.isfile(file := at / name)}
    return sum(file.stat().st_size for file in named.union(texts))


class _Reader:
    """One compiled model. Positions of links are kept as the offset of their frame in the body."""

    def __init__(self, model, file: str, meshes: str) -> None:
        import mujoco

        self.m, self.mj, self.file, self.meshes = model, mujoco, file, meshes
        self.ignored: list[str] = []
        self.links: list[Link] = []
        self.joints: list[RobotJoint] = []
        self.offset = np.zeros((model.nbody, 3))  # of the link's frame in the body's
        self.link_name = [self.name("body", b) or f"body{b}" for b in range(model.nbody)]

    def name(self, kind: str, i: int) -> str:
        mj, m = self.mj, self.m
        wanted = {
            "body": mj.mjtObj.mjOBJ_BODY, "joint": mj.mjtObj.mjOBJ_JOINT,
            "geom": mj.mjtObj.mjOBJ_GEOM, "actuator": mj.mjtObj.mjOBJ_ACTUATOR,
            "equality": mj.mjtObj.mjOBJ_EQUALITY, "key": mj.mjtObj.mjOBJ_KEY,
        }[kind]  # fmt: skip
        return mj.mj_id2name(m, wanted, i) or ""

    def robot(self, name: str) -> Robot:
        m = self.m
        if m.nbody < 2:
            raise InputError(f"{self.file}: it has no body beside the world.")
        for b in range(1, m.nbody):
            self.body(b)
        self.report()
        keys = {self.name("key", k) or f"key{k}": np.array(m.key_qpos[k]) for k in range(m.nkey)}
        try:
            robot = Robot(
                self.links, self.joints, self.actuators(), self.loops(), name=name, keyframes=keys,
                ignored=self.ignored,
            )  # fmt: skip
            robot._zero = robot._coordinates(np.array(m.qpos0))
            return robot
        except InputError as error:
            raise InputError(f"{self.file}: {error}") from None

    def body(self, b: int) -> None:
        """The links and joints of body `b`: one of each, or a chain."""
        m, name = self.m, self.link_name[b]
        above = int(m.body_parentid[b])
        parent = None if above == 0 else self.link_name[above]
        # The body in the axes of its parent's link.
        at, turned = m.body_pos[b] - self.offset[above], tuple(m.body_quat[b])
        count, first = int(m.body_jntnum[b]), int(m.body_jntadr[b])
        if count == 0:
            self.joints.append(RobotJoint(f"{name} fixed", "fixed", name, parent, at, turned))
        moved = np.zeros(3)  # of the frame so far, in the body's axes
        for k in range(count):
            j, last = first + k, k == count - 1
            child = name if last else f"{name} joint{k}"
            kind, anchor = KINDS[m.jnt_type[j]], np.array(m.jnt_pos[j])
            if kind == "free":
                at, turned = np.zeros(3), (1.0, 0.0, 0.0, 0.0)
            else:
                at = at + rotation_matrices(np.array(turned)) @ (anchor - moved)
                moved = anchor
            self.joint(j, kind, child, parent, at, turned)
            if not last:
                self.links.append(Link(child))
            parent, at, turned = child, np.zeros(3), (1.0, 0.0, 0.0, 0.0)
        self.offset[b] = moved
        self.links.append(self.link(b, moved))

    def joint(self, j: int, kind: str, child: str, parent, at, turned) -> None:
        m, d = self.m, int(self.m.jnt_dofadr[j])
        name = self.name("joint", j) or f"joint{j}"
        given: dict = {
            "damping": float(m.dof_damping[d]), "friction": float(m.dof_frictionloss[d]),
            "armature": float(m.dof_armature[d]),
        }  # fmt: skip
        if kind in ("revolute", "prismatic"):
            given["axis"] = tuple(m.jnt_axis[j])
            if m.jnt_limited[j]:
                given["limits"] = tuple(float(x) for x in m.jnt_range[j])
            q = int(m.jnt_qposadr[j])
            given["stiffness"] = float(np.ravel(m.jnt_stiffness[j])[0])
            given["rest"] = float(m.qpos_spring[q])
            at, turned = _shifted(kind, at, turned, given["axis"], -float(m.qpos0[q]))
        else:
            if m.jnt_limited[j]:
                self.ignored.append(f"joint {name}: the limit of a {kind} joint is not honoured")
            if np.ravel(m.jnt_stiffness[j])[0] > 0.0:
                self.ignored.append(f"joint {name}: the spring of a {kind} joint is not honoured")
        self.joints.append(RobotJoint(name, kind, child, parent, at, turned, **given))

    def link(self, b: int, moved) -> Link:
        m = self.m
        axes = rotation_matrices(np.array(m.body_iquat[b]))
        inertia = axes @ np.diag(m.body_inertia[b]) @ axes.T
        first, count = int(m.body_geomadr[b]), int(m.body_geomnum[b])
        shapes = [s for g in range(first, first + count) if (s := self.shape(g, moved))]
        touches = [s for s in shapes if s.collide]
        if any(_surface(s) != _surface(touches[0]) for s in touches):
            self.ignored.append(
                f"geoms of body {self.link_name[b]} differ in friction: that of the first counts"
            )
        centre = np.array(m.body_ipos[b]) - moved
        return Link(self.link_name[b], float(m.body_mass[b]), centre, inertia, shapes)

    def shape(self, g: int, moved) -> LinkShape | None:
        m, mj = self.m, self.mj
        name = self.name("geom", g) or f"geom{g}"
        size, kind = m.geom_size[g], int(m.geom_type[g])
        forms = mj.mjtGeom
        shape: Any
        if kind == forms.mjGEOM_SPHERE:
            shape = Sphere(float(size[0]))
        elif kind == forms.mjGEOM_CAPSULE:
            shape = Capsule(float(size[0]), float(2 * size[1]))
        elif kind == forms.mjGEOM_CYLINDER:
            shape = Cylinder(float(size[0]), float(2 * size[1]))
        elif kind == forms.mjGEOM_BOX:
            shape = Box(*(float(2 * x) for x in size))
        elif kind == forms.mjGEOM_MESH:
            shape = self.mesh(int(m.geom_dataid[g]), name)
        else:
            word = forms(kind).name.removeprefix("mjGEOM_").lower()
            self.ignored.append(f"geom {name}: a {word} on a link is no shape that is read")
            return None
        collide = bool(m.geom_contype[g] or m.geom_conaffinity[g])
        at, rubs = np.array(m.geom_pos[g]) - moved, m.geom_condim[g]
        slides, spins, rolls = (float(x) for x in m.geom_friction[g])
        return LinkShape(
            shape, at, tuple(m.geom_quat[g]), slides if rubs > 1 else 0.0, collide, name,
            rolling_friction=rolls if rubs > 4 else 0.0,
            spinning_friction=spins if rubs > 3 else 0.0,
        )  # fmt: skip

    def mesh(self, i: int, name: str):
        m = self.m
        lo, count = int(m.mesh_vertadr[i]), int(m.mesh_vertnum[i])
        vertices = np.array(m.mesh_vert[lo : lo + count], np.float64)
        if self.meshes == "exact":
            first, faces = int(m.mesh_faceadr[i]), int(m.mesh_facenum[i])
            return Mesh(vertices, np.array(m.mesh_face[first : first + faces], np.int64))
        return ConvexHull(vertices)

    def actuators(self) -> list[Actuator]:
        """Motors, velocity and position servos at one joint; others are reported."""
        m, mj, found = self.m, self.mj, []
        for i in range(m.nu):
            name = self.name("actuator", i) or f"actuator{i}"
            gain, bias = m.actuator_gainprm[i], m.actuator_biasprm[i]
            fixed = m.actuator_gaintype[i] == mj.mjtGain.mjGAIN_FIXED
            affine = m.actuator_biastype[i] == mj.mjtBias.mjBIAS_AFFINE
            at_joint = m.actuator_trntype[i] == mj.mjtTrn.mjTRN_JOINT
            gear, j = float(m.actuator_gear[i, 0]), int(m.actuator_trnid[i, 0])
            plain = m.actuator_dyntype[i] == mj.mjtDyn.mjDYN_NONE
            single = at_joint and KINDS[m.jnt_type[j]] in ("revolute", "prismatic")
            if not (fixed and plain and single):
                self.ignored.append(f"actuator {name}: this kind of actuator is not honoured")
                continue
            limit = float(np.abs(m.actuator_forcerange[i]).max())
            limit = limit * abs(gear) if m.actuator_forcelimited[i] else 0.0
            if m.actuator_ctrllimited[i] and not affine:
                command = float(np.abs(m.actuator_ctrlrange[i]).max())
                limit = command * abs(float(gain[0]) * gear)
            given: dict = {"max_force": limit or None}
            if affine and bias[1] != 0.0 and gear == 1.0:
                given |= {"kind": "position", "stiffness": -float(bias[1])}
                given["damping"] = max(-float(bias[2]), 0.0)
            elif affine and (bias[2] != 0.0 or gear != 1.0):
                self.ignored.append(f"actuator {name}: a servo of this form is not honoured")
                continue
            else:
                given["gear"] = float(gain[0]) * gear
            found.append(Actuator(name, self.name("joint", j) or f"joint{j}", **given))
        return found

    def loops(self) -> list[Loop]:
        """Points held together; other equality constraints are reported."""
        m, mj, found = self.m, self.mj, []
        for i in range(m.neq):
            name = self.name("equality", i) or f"equality{i}"
            bodies = m.eq_objtype[i] == mj.mjtObj.mjOBJ_BODY
            if m.eq_type[i] != mj.mjtEq.mjEQ_CONNECT or not bodies:
                self.ignored.append(f"equality {name}: only connect between bodies is honoured")
                continue
            a, b = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
            points = m.eq_data[i, :3] - self.offset[a], m.eq_data[i, 3:6] - self.offset[b]
            names = [None if x == 0 else self.link_name[x] for x in (a, b)]
            found.append(Loop(name, names[0], names[1], points[0], points[1]))
        return found

    def report(self) -> None:
        """What a model has beside."""
        m = self.m
        for g in range(int(m.body_geomnum[0])):
            name = self.name("geom", int(m.body_geomadr[0]) + g) or f"geom{g}"
            self.ignored.append(f"geom {name} belongs to the world: add it by add_fixed()")
        counts = {
            "tendon": m.ntendon, "flex": m.nflex, "skin": m.nskin, "sensor": m.nsensor,
            "contact pair": m.npair, "contact exclusion": m.nexclude,
        }  # fmt: skip
        for word, count in counts.items():
            if count:
                self.ignored.append(f"{count} {word}(s) are not read")
        off = bool(m.opt.disableflags & int(self.mj.mjtDisableBit.mjDSBL_GRAVITY))
        gravity = tuple(0.0 if off else float(x) for x in m.opt.gravity)
        if gravity != GRAVITY:
            self.ignored.append(
                f"gravity of <option>, {gravity} m/s², is that of the world: World(gravity=...)"
            )
        if m.opt.density > 0.0 or m.opt.viscosity > 0.0:
            self.ignored.append("the fluid of <option> is not honoured")
        if np.any(m.body_gravcomp > 0.0):
            self.ignored.append("gravcomp of bodies is not honoured")


def _surface(shape: LinkShape) -> tuple[float, float, float]:
    return shape.friction, shape.rolling_friction, shape.spinning_friction


def _shifted(kind: str, at, turned, axis, back: float):
    """The frame of a joint such that its coordinate is zero where MuJoCo's is (`ref`)."""
    if back == 0.0:
        return at, turned
    if kind == "prismatic":
        return at + rotation_matrices(np.array(turned)) @ np.array(axis) * back, turned
    half = 0.5 * back
    rotation = (np.cos(half), *(np.sin(half) * np.array(axis)))
    return at, quaternion_product(turned, rotation)

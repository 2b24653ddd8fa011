"""Files that are right, for cases to read and to damage: made anew in every process."""

import json
import zipfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import drystone as ds
from drystone.bench.fuzz.building_calls import CORNERS, FACES
from drystone.world.character.clips.walking import walk_on_the_spot


def small_world() -> ds.World:
    """A box and a sphere on a plane, a mesh on a terrain, a joint, a force, an excluded pair."""
    world = ds.World(dt=0.01, sleeping=False)
    wood = ds.Material(density=700, friction=0.4, restitution=0.1, name="wood")
    world.add_fixed(ds.Plane(offset=-1.0), wood, name="ground")
    world.add_fixed(ds.Terrain.from_grid(np.zeros((3, 3)), 2.0, (-2, -2)), name="terrain")
    box = world.add_body(ds.Box(1, 1, 1), wood, position=(0, 0, 0.5), name="box")
    ball = world.add_body(ds.Sphere(0.3), wood, position=(0, 0, 1.3), name="ball")
    world.add_body(ds.Mesh(CORNERS, FACES), position=(1, 1, 0.001), name="mesh")
    world.add_body(ds.ConvexHull(CORNERS), position=(-1, 1, 0.001), name="hull")
    world.add_joint(ds.Hinge(box, None, (0, 0, 0.5), (0, 0, 1), limits=(-1, 1)))
    world.add_force(ds.Spring(box, ball, 10.0))
    world.exclude(box, ball)
    return world


def write_small_files(folder: Path) -> dict[str, Path]:
    """One file of each kind that the library reads by itself."""
    world = small_world()
    world.step()
    files = {
        "world": folder / "world.h5",
        "problem": folder / "problem.h5",
        "recording": folder / "recording.h5",
        "stl": folder / "mesh.stl",
        "lcp": folder / "lcp.dat",
        "mlcp": folder / "mlcp.dat",
        "asc": folder / "terrain.asc",
        "bvh": folder / "clip.bvh",
        "motion": folder / "motion.txt",
        "asf": folder / "leg.asf",
        "amc": folder / "leg_01.amc",
        "torques": folder / "torques.h5",
        "urdf": folder / "robot.urdf",
        "mjcf": folder / "robot.xml",
    }
    _write_clips(files)
    world.problem().save(files["problem"])
    world.save(files["world"])
    with ds.record(world, files["recording"], every=2):
        for k in range(6):
            world.step()
            world["ball"].velocity = (0.1 * k, 0, 0)
    files["stl"].write_text(stl_text())
    files["urdf"].write_text(URDF.replace("MESH", str(files["stl"])))
    files["mjcf"].write_text(MJCF)
    files["lcp"].write_text("2\n0 2 2 2 2\n2 1\n1 2\n-1 -1\n")
    files["mlcp"].write_text("1 0\n1 1\n0 1 2\n0 1\n0 2 2 2 2\n2 1\n1 2\n-1 -1\n")
    files["asc"].write_text(asc_text(np.arange(12.0).reshape(3, 4)))
    return files


# A skeleton as those of the CMU motion capture database; tests read it too.
ASF = """# made by hand
:version 1.10
:name VICON
:units
  mass 1.0
  length 0.45
  angle deg
:documentation
   a leg
:root
   order TX TY TZ RX RY RZ
   axis XYZ
   position 0 0 0
   orientation 0 0 0
:bonedata
  begin
     id 1
     name lhipjoint
     direction 1 -1 0
     length 3
     axis 0 0 0  XYZ
  end
  begin
     id 2
     name lfemur
     direction 0.34202 -0.939693 0
     length 15
     axis 10 -30 20  XYZ
    dof rx ry rz
    limits (-160.0 20.0)
           (-70.0 70.0)
           (-60.0 70.0)
  end
  begin
     id 3
     name ltibia
     direction 0.34202 -0.939693 0
     length 12
     axis 0 0 20   XYZ
    dof rx
    limits (-10.0, 170.0)
  end
:hierarchy
  begin
    root lhipjoint
    lhipjoint lfemur
    lfemur ltibia
  end
"""
AMC = ":FULLY-SPECIFIED\n:DEGREES\n" + "".join(
    f"{k}\nroot 0 1{k} 2 10 0 -5\nlfemur 4{k} -5 6\nltibia 2{k}\n" for k in range(1, 10)
)
URDF = """<robot name="r"><link name="a"><inertial><mass value="2"/><origin xyz="0 0 .1"/>
<inertia ixx="1" iyy="2" izz="2.5" ixy=".1"/></inertial>
<collision><geometry><box size="1 2 3"/></geometry></collision></link>
<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<collision><geometry><mesh filename="MESH" scale="1 1 2"/></geometry></collision></link>
<link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<collision><geometry><cylinder radius=".1" length=".5"/></geometry></collision></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 1" rpy="1 0 0"/>
<axis xyz="0 0 2"/><limit lower="-1" upper="2" effort="5" velocity="3"/>
<dynamics damping=".1" friction=".2"/></joint>
<joint name="k" type="prismatic"><parent link="b"/><child link="c"/><limit lower="0" upper="1"/>
<mimic joint="j" multiplier="-2" offset=".5"/></joint></robot>
"""
MJCF = """<mujoco model="m"><compiler angle="radian"/><option timestep="0.01"/>
<asset><mesh name="solid" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
<worldbody><geom type="plane" size="1 1 1"/>
<body name="trunk" pos="0 0 1"><freejoint/><geom type="box" size=".2 .1 .1" mass="3"/>
<body name="leg" pos="0 0 -.2"><joint name="hip" axis="0 1 0" range="-1 1" damping=".1"/>
<joint name="slide" type="slide" axis="0 0 1" stiffness="5"/>
<geom type="capsule" fromto="0 0 0 0 0 -.3" size=".05" mass="1"/>
<body name="foot" pos="0 0 -.3"><joint name="ankle" type="ball"/>
<geom type="mesh" mesh="solid" mass=".5"/></body></body></body></worldbody>
<actuator><motor joint="hip" gear="20" ctrllimited="true" ctrlrange="-1 1"/>
<position joint="slide" kp="30"/></actuator>
<keyframe><key name="home" qpos="0 0 1 1 0 0 0 0.1 0 1 0 0 0"/></keyframe></mujoco>
"""


def write_figures(folder: Path) -> tuple[Path, Path]:
    """A world and a recording with a robot and a character."""
    world = ds.World(dt=1 / 60, sleeping=False)
    world.add_fixed(ds.Plane())
    links = [ds.Link(name, 1.0, (0, 0, -0.5), (0.1, 0.1, 0.01)) for name in ("arm", "hand")]
    joints = [
        ds.RobotJoint("shoulder", "revolute", "arm", None, (3, 0, 2), axis=(0, 1, 0)),
        ds.RobotJoint("wrist", "ball", "hand", "arm", (0, 0, -1)),
    ]
    motor = ds.Actuator("motor", "shoulder", "position", stiffness=10.0, damping=1.0)
    placed = world.add_robot(ds.Robot(links, joints, [motor], name="one"))
    clip = walk_on_the_spot(0.1)
    world.add_character(ds.Figure.from_clip(clip), clip)
    with ds.record(world, folder / "figures-recording.h5", every=2):
        for k in range(4):
            placed.control = [0.1 * k]
            world.step()
    world.save(folder / "figures.h5")
    return folder / "figures.h5", folder / "figures-recording.h5"


def _write_clips(files: dict[str, Path]) -> None:
    """Clips in all formats, and the torques that one takes."""
    clip = walk_on_the_spot(0.1)
    clip.save(files["bvh"])
    row = [0.03, 0, 0.9, 0] + [1, 0, 0, 0] * 4 + [-0.5] + [1, 0, 0, 0] * 2 + [1.0]
    row += [1, 0, 0, 0] + [-0.5] + [1, 0, 0, 0] * 2 + [1.0]
    files["motion"].write_text(json.dumps({"Loop": "wrap", "Frames": [row] * 9}))
    files["asf"].write_text(ASF)
    files["amc"].write_text(AMC)
    ds.inverse_dynamics(ds.Figure.from_clip(clip), clip, 60.0).save(files["torques"])


def stl_text() -> str:
    lines = ["solid tetrahedron"]
    for face in FACES:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += ["vertex " + " ".join(map(str, CORNERS[corner])) for corner in face]
        lines += ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid"]) + "\n"


def asc_text(heights: np.ndarray) -> str:
    rows, columns = heights.shape
    head = (f"ncols {columns}\nnrows {rows}\nxllcorner 2600000\nyllcorner 1200000\n"
            f"cellsize 2\nNODATA_value -9999\n")  # fmt: skip
    return head + "\n".join(" ".join(f"{z:g}" for z in row) for row in heights) + "\n"


def write_mesh_files(folder: Path) -> list[Path]:
    """The tetrahedron in the formats that meshes come in, and in an archive."""
    import trimesh  # slow to import

    mesh = trimesh.Trimesh(CORNERS, FACES, process=False)
    paths = [folder / f"solid.{kind}" for kind in ("stl", "obj", "ply", "off", "glb")]
    for path in paths:
        data: Any = mesh.export(file_type=path.suffix[1:])
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    text = folder / "text.stl"
    text.write_text(stl_text())
    archive = folder / "solid.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mesh.stl", stl_text())
    return [*paths, text, archive]


def write_problem_files(folder: Path) -> list[Path]:
    """Two contacts as FCLIB and Siconos write them."""
    matrix, q, mu = 2.0 * np.eye(6), np.tile((-1.0, 0.1, 0.0), 2), np.array([0.5, 0.7])
    fclib = folder / "problem.hdf5"
    with h5py.File(fclib, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = np.array([3], np.int32)
        vectors, part = group.create_group("vectors"), group.create_group("W")
        vectors["q"], vectors["mu"] = q, mu
        for key, number in (("m", 6), ("n", 6), ("nz", -2), ("nzmax", 6)):
            part[key] = np.array([number], np.int32)
        part["p"], part["i"] = np.arange(7, dtype=np.int32), np.arange(6, dtype=np.int32)
        part["x"] = matrix.diagonal()
    siconos = folder / "problem.dat"
    dense = f"0\n6\n6\n6\t6\n{_words(matrix)}\n"
    siconos.write_text(f"3\n2\n{dense}{_words(q)}\n{_words(mu)}\n")
    return [fclib, siconos]


def _words(values: Any) -> str:
    return " ".join(f"{value:.17e}" for value in np.ravel(values))

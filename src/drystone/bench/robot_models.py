"""Robots of the benchmark as MJCF, which both engines read: an arm, a quadruped, a humanoid.

All have servos that hold a pose, and touch the ground alone. The solver of MuJoCo is its default.
"""

HEAD = """<mujoco model="{name}"><option timestep="{dt}"/><default>
<geom contype="1" conaffinity="0" friction="0.8 0.005 0.0001" density="800"/>
<joint damping="0.5" armature="0.01"/></default><worldbody>
<geom name="ground" type="plane" size="20 20 1" contype="0" conaffinity="1"/>
"""

SERVO = '<position joint="{joint}" kp="{kp}" kv="{kv}" forcerange="-{most} {most}"/>'


def _model(name: str, dt: float, bodies: str, servos: str) -> str:
    tail = f"</worldbody><actuator>{servos}</actuator></mujoco>"
    return HEAD.format(name=name, dt=dt) + bodies + tail


def arm(dt: float = 2e-3) -> str:
    """Seven axes, as the usual arms have them; its servos swing it from straight to bent."""
    axes, text, servos = ("0 0 1", "0 1 0") * 3 + ("0 0 1",), "", ""
    for k, axis in enumerate(axes):
        text += (
            f'<body name="link{k}" pos="0 0 {0.3 if k == 0 else 0.22}">'
            f'<joint name="j{k}" axis="{axis}" range="-170 170"/>'
            f'<geom type="capsule" fromto="0 0 0 0 0 0.2" size="{0.06 - 0.005 * k}"/>'
        )
        servos += SERVO.format(joint=f"j{k}", kp=200, kv=20, most=87)
    return _model("arm", dt, text + "</body>" * len(axes), servos)


def quadruped(dt: float = 2e-3) -> str:
    """Twelve hinges, round feet."""
    text = '<body name="trunk" pos="0 0 0.33"><freejoint/><geom type="box" size="0.2 0.1 0.06"/>'
    servos = ""
    for x, fore in ((0.18, "f"), (-0.18, "h")):
        for y, side in ((0.12, "l"), (-0.12, "r")):
            leg = fore + side
            text += f"""<body name="{leg}_hip" pos="{x} {y} 0"><joint name="{leg}0" axis="1 0 0"/>
<geom type="sphere" size="0.04"/><body name="{leg}_thigh"><joint name="{leg}1" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 -0.1 0 -0.15" size="0.02"/>
<body name="{leg}_shin" pos="-0.1 0 -0.15"><joint name="{leg}2" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0.1 0 -0.15" size="0.012"/>
<geom type="sphere" pos="0.1 0 -0.15" size="0.02"/></body></body></body>"""
            for k in range(3):
                servos += SERVO.format(joint=f"{leg}{k}", kp=120, kv=4, most=40)
    return _model("quadruped", dt, text + "</body>", servos)


def humanoid(dt: float = 2e-3) -> str:
    """26 degrees of freedom beside those of the trunk: legs of six, arms of five, waist, neck."""
    servos: list[str] = []

    def hinge(name: str, axis: str, kp: float) -> str:
        servos.append(SERVO.format(joint=name, kp=kp, kv=kp / 20, most=3 * kp))
        return f'<joint name="{name}" axis="{axis}"/>'

    def limb(name: str, at: str, joints: str, geom: str, inner: str = "") -> str:
        return f'<body name="{name}" pos="{at}">{joints}{geom}{inner}</body>'

    legs = arms = ""
    for y, s in ((0.1, "l"), (-0.1, "r")):
        foot = limb(
            f"{s}_foot", "0 0 -0.4",
            hinge(f"{s}_ankle_y", "0 1 0", 300) + hinge(f"{s}_ankle_x", "1 0 0", 300),
            '<geom type="box" pos="0.04 0 -0.04" size="0.11 0.05 0.02"/>',
        )  # fmt: skip
        shin = limb(
            f"{s}_shin", "0 0 -0.4", hinge(f"{s}_knee", "0 1 0", 400),
            '<geom type="capsule" fromto="0 0 0 0 0 -0.35" size="0.045"/>', foot,
        )  # fmt: skip
        legs += limb(
            f"{s}_thigh", f"0 {y} -0.1",
            hinge(f"{s}_hip_x", "1 0 0", 400) + hinge(f"{s}_hip_z", "0 0 1", 300)
            + hinge(f"{s}_hip_y", "0 1 0", 400),
            '<geom type="capsule" fromto="0 0 0 0 0 -0.35" size="0.06"/>', shin,
        )  # fmt: skip
        hand = limb(
            f"{s}_hand", "0 0 -0.25", hinge(f"{s}_wrist", "1 0 0", 20),
            '<geom type="sphere" pos="0 0 -0.05" size="0.04"/>',
        )  # fmt: skip
        fore = limb(
            f"{s}_forearm", "0 0 -0.28", hinge(f"{s}_elbow", "0 1 0", 60),
            '<geom type="capsule" fromto="0 0 0 0 0 -0.22" size="0.03"/>', hand,
        )  # fmt: skip
        arms += limb(
            f"{s}_arm", f"0 {2.2 * y} 0.38",
            hinge(f"{s}_shoulder_y", "0 1 0", 100) + hinge(f"{s}_shoulder_x", "1 0 0", 100)
            + hinge(f"{s}_shoulder_z", "0 0 1", 60),
            '<geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.035"/>', fore,
        )  # fmt: skip
    head = limb("head", "0 0 0.5", hinge("neck_y", "0 1 0", 20) + hinge("neck_z", "0 0 1", 20),
                '<geom type="sphere" pos="0 0 0.08" size="0.09"/>')  # fmt: skip
    chest = limb("chest", "0 0 0.08", hinge("waist_y", "0 1 0", 400)
                 + hinge("waist_z", "0 0 1", 300),
                 '<geom type="box" pos="0 0 0.2" size="0.09 0.15 0.2"/>', head + arms)  # fmt: skip
    pelvis = f"""<body name="pelvis" pos="0 0 0.961"><freejoint/>
<geom type="box" size="0.08 0.12 0.07"/>{legs}{chest}</body>"""
    return _model("humanoid", dt, pelvis, "".join(servos))


def chain(links: int = 50, dt: float = 1e-3) -> str:
    """The chain of S9: rods on hinges, hung level, which swings."""
    text = ""
    for k in range(links):
        at = "0 0 12" if k == 0 else "0.2 0 0"
        text += (
            f'<body name="link{k}" pos="{at}"><joint name="h{k}" axis="0 1 0" damping="0" '
            f'armature="0"/><geom type="box" pos="0.1 0 0" size="0.1 0.02 0.02"/>'
        )
    return _model("chain", dt, text + "</body>" * links, "")


MODELS = {"arm": arm, "quadruped": quadruped, "humanoid": humanoid, "chain": chain}

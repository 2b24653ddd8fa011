"""What MuJoCo's compiler makes of a file, in a process of its own (model/reading_apart.py)."""

import mujoco


def main(path: str, out: str) -> None:
    """Write the compiled model."""
    mujoco.mj_saveModel(mujoco.MjModel.from_xml_path(path), out, None)

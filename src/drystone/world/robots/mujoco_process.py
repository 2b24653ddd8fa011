"""What MuJoCo's compiler makes of a file, in a process of its own (model/reading_apart.py).

`<size>` may ask for gigabytes of scratch, of which MuJoCo would use next to nothing, and we nothing
at all; but the compiler tries the model with as much. It gets the default.
"""

import mujoco


def main(path: str, out: str) -> None:
    """Write the compiled model."""
    spec = mujoco.MjSpec.from_file(path)
    spec.memory = spec.njmax = spec.nconmax = spec.nstack = -1
    mujoco.mj_saveModel(spec.compile(), out, None)

"""Drivers of other engines on the standard scenes, each run in a process of its own.

A driver is started by its path, needs NumPy and its engine alone, and reads the scene from a
file, so that it may live in an interpreter without Drystone. Sleeping is off everywhere; other
settings are the engine's own unless a variant says otherwise.
"""

# engine: (module it needs, variants on piles, variants elsewhere)
PEERS = {
    "rapier": ("rapier3d", ("default", "small"), ("default",)),
    "sapien": ("sapien", ("default",), ("default",)),
    # MuJoCo's Newton solver takes seconds per step on piles.
    "mujoco": ("mujoco", ("cg",), ("default",)),
    "pybullet": ("pybullet", ("default",), ("default",)),
}

# Those that build the chain of S9, and the variant of each.
CHAIN_PEERS = {"mujoco": ("default",)}

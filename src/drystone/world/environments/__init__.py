"""Gymnasium environments of worlds (extra `[gym]`): the base class, and two tasks.

Importing this registers the tasks:

    gymnasium.make("drystone.world.environments:drystone/Balance-v0")
"""

from drystone.world.environments.environment import Environment, gymnasium

TASKS = {"Balance": ("balance:Balance", 500), "Reach": ("reach:Reach", 100)}

for _name, (_where, _steps) in TASKS.items():
    _id = f"drystone/{_name}-v0"
    if _id not in gymnasium.registry:
        gymnasium.register(_id, f"{__name__}.{_where}", max_episode_steps=_steps)

__all__ = ["TASKS", "Environment"]

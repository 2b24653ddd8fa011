"""Hash of the state: the bits of all poses, velocities, sleep flags and coordinates of robots."""

import numpy as np

from drystone.jit import kernel
from drystone.model.arrays import COUNTER_STEP


@kernel
def _mix(h, word):
    h = (h ^ word) * np.uint64(0x9E3779B97F4A7C15)
    return h ^ (h >> np.uint64(29))


@kernel
def hash_state(state):
    """64-bit hash of the bits of poses, velocities and sleep."""
    h = np.uint64(state.counter[COUNTER_STEP])
    position = state.position.view(np.uint64)
    rotation = state.rotation.view(np.uint64)
    twist = state.twist.view(np.uint64)
    for b in range(position.shape[0]):
        for k in range(3):
            h = _mix(h, position[b, k])
        for k in range(4):
            h = _mix(h, rotation[b, k])
        for k in range(6):
            h = _mix(h, twist[b, k])
        h = _mix(h, np.uint64(state.asleep[b]))
    coordinate, rate = state.robot_q.view(np.uint64), state.robot_v.view(np.uint64)
    for k in range(coordinate.shape[0]):
        h = _mix(h, coordinate[k])
    for k in range(rate.shape[0]):
        h = _mix(h, rate[k])
    return h

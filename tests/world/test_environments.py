"""Gymnasium environments: its own checker, the same bits for a seed, and that tasks can be done."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

import drystone as ds  # noqa: E402
from drystone.world.environments import TASKS, Environment  # noqa: E402


def made(name):
    return gymnasium.make(f"drystone.world.environments:drystone/{name}-v0")


@pytest.mark.parametrize("name", TASKS)
def test_gymnasium_has_no_complaint(name):
    check_env(made(name).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", TASKS)
def test_a_seed_gives_the_same_bits_whatever_ran_before(name):
    task = made(name)
    actions = np.random.default_rng(1).uniform(-1, 1, (20, *task.action_space.shape))

    def episode():
        seen, _ = task.reset(seed=4)
        return np.array([seen, *(task.step(action)[0] for action in actions)])

    first = episode()
    task.reset(seed=5)
    task.step(actions[0])
    assert (episode() == first).all()


def test_a_pole_is_kept_upright_and_falls_without_a_hand():
    task = made("Balance")
    steps = []
    for gains in ((0.1, 0.2, 3.0, 0.6), (0, 0, 0, 0)):
        (x, over, cut), count = (*task.reset(seed=2)[:1], False, False), 0
        while not (over or cut):
            x, reward, over, cut, info = task.step(np.array([np.dot(gains, x)]))
            count += 1
            assert reward == 1.0 and info["converged"]
        steps.append(count)
    assert steps[0] == 500 and steps[1] < 200


def test_an_arm_that_follows_its_jacobian_reaches_the_target():
    task = made("Reach")
    for seed in range(3):
        seen, _ = task.reset(seed=seed)
        for _ in range(100):
            one, two = np.arctan2(seen[2:4], seen[:2])
            far = 0.4 * np.array([-np.sin(one + two), np.cos(one + two)])
            near = far + 0.5 * np.array([-np.sin(one), np.cos(one)])
            jacobian = np.column_stack([near, far])
            rates = jacobian.T @ np.linalg.solve(
                jacobian @ jacobian.T + 0.01 * np.eye(2), 6.0 * seen[6:]
            )
            seen, reward, *_ = task.step(np.clip(rates / (2, 3), -1, 1))
        assert np.linalg.norm(seen[6:]) < 0.02 and reward > -0.03


def test_odd_arguments_are_refused_and_a_task_must_say_what_it_is():
    with pytest.raises(ds.InputError, match="frames"):
        gymnasium.make("drystone.world.environments:drystone/Reach-v0", frames=0)
    with pytest.raises(ds.UnsupportedFeature, match="render_mode"):
        type(made("Reach").unwrapped)(render_mode="film")
    with pytest.raises(NotImplementedError):
        Environment()

"""Materials and the pair rule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.errors import InputError
from drystone.model.materials import Material, friction_tables, is_elliptic, pair_tables

materials = st.builds(
    Material,
    density=st.floats(1, 1e5),
    friction=st.floats(0, 10),
    restitution=st.floats(0, 1),
    name=st.sampled_from([None, "a", "b"]),
)


def test_defaults_and_conversion():
    assert Material() == Material(density=1000, friction=0.5, restitution=0, name=None)
    assert isinstance(Material(friction=1).friction, float)


def test_materials_are_compared_by_value_with_their_name():
    assert Material(700, 0.4) == Material(700.0, 0.4)
    assert hash(Material(700, 0.4)) == hash(Material(700.0, 0.4))
    assert Material(700, 0.4, name="oak") != Material(700, 0.4, name="fir")


@pytest.mark.parametrize(
    "options, words",
    [
        ({"density": 0}, "density is 0 kg/m³, must be > 0"),
        ({"density": -3, "name": "foam"}, "Material 'foam': density is -3"),
        ({"density": np.nan}, "density is nan, must be a finite number"),
        ({"density": "heavy"}, "density is 'heavy', must be a number"),
        ({"friction": -0.1}, "friction is -0.1, must be >= 0"),
        ({"friction": np.inf}, "friction is inf"),
        ({"restitution": 1.2}, "restitution is 1.2, must lie between 0"),
        ({"restitution": -0.2}, "restitution is -0.2"),
        ({"name": 3}, "name must be text"),
        ({"name": (10**5000,)}, "name must be text"),
        ({"friction": (0.1, -0.2)}, "friction is -0.2, must be >= 0"),
        ({"friction": (0.1, 0.2, 0.3)}, "friction has 3 numbers, must have 2"),
        ({"friction": (0.1, np.nan)}, "friction is (0.1, nan)"),
        ({"friction": (0.1, 0.2), "friction_direction": (0, 0, 0)}, "must point somewhere"),
        ({"friction": (0.1, 0.2), "friction_direction": 3}, "friction_direction is 3"),
    ],
)
def test_bad_values_are_named(options, words):
    with pytest.raises(InputError) as error:
        Material(**options)
    assert words in str(error.value)


@settings(deadline=None)
@given(st.lists(materials, max_size=6))
def test_pair_rule(some):
    """friction sqrt(mu_1 mu_2), restitution the larger; one material keeps its own bit for bit."""
    friction, restitution = pair_tables(some)
    assert friction.shape == restitution.shape == (len(some), len(some))
    assert friction.dtype == restitution.dtype == np.float64
    for i, a in enumerate(some):
        assert friction[i, i] == a.friction and restitution[i, i] == a.restitution
        for j, b in enumerate(some):
            assert friction[i, j] == pytest.approx((a.friction * b.friction) ** 0.5, rel=1e-12)
            assert restitution[i, j] == max(a.restitution, b.restitution)
    np.testing.assert_array_equal(friction, friction.T)


def test_override_is_symmetric_and_leaves_the_rest():
    ice, wood, rock = Material(friction=0.01), Material(friction=0.4), Material(friction=0.9)
    overrides = {(wood, ice): {"friction": 0.2}, (rock, rock): {"restitution": 0.3}}
    friction, restitution = pair_tables([ice, wood, rock], overrides)
    assert friction[0, 1] == friction[1, 0] == 0.2
    assert friction[1, 2] == pytest.approx(0.6)
    assert restitution[2, 2] == 0.3 and restitution.sum() == 0.3


def test_override_of_unused_material_changes_nothing():
    wood, ice = Material(friction=0.4), Material(friction=0.01)
    friction, _ = pair_tables([wood], {(wood, ice): {"friction": 0.2}})
    assert friction.tolist() == [[0.4]]


A, B = Material(friction=0.1, name="a"), Material(friction=0.2, name="b")


@pytest.mark.parametrize(
    "overrides, words",
    [
        ({(A, B): {"fricton": 1}}, "a / b: no such entry 'fricton'. Known: friction, restitution"),
        ({(A, B): {"friction": -1}}, "a / b: friction is -1"),
        ({(A, B): {"restitution": 2}}, "restitution is 2"),
        ({(A, B): 0.3}, "must be a dict"),
        ({A: {"friction": 1}}, "must be a tuple of two Material"),
        ({("a", "b"): {"friction": 1}}, "must be a tuple of two Material"),
        ({(A, B): {"friction": 1}, (B, A): {"friction": 2}}, "given twice"),
    ],
)
def test_bad_overrides_are_named(overrides, words):
    with pytest.raises(InputError) as error:
        pair_tables([A, B], overrides)
    assert words in str(error.value)


def test_elliptic_friction_has_a_direction():
    blade = Material(friction=[0.1, 0.4])
    assert blade.friction == (0.1, 0.4) and blade.friction_direction == (1.0, 0.0, 0.0)
    assert blade == Material(friction=np.array([0.1, 0.4]), friction_direction=(1, 0, 0))
    assert hash(blade) == hash(Material(friction=(0.1, 0.4)))
    assert blade != Material(friction=(0.1, 0.4), friction_direction=(0, 1, 0))
    assert is_elliptic(blade.friction) and not is_elliptic(Material().friction)


def test_equal_axes_are_one_number():
    assert Material(friction=(0.3, 0.3)) == Material(friction=0.3)
    assert Material(friction=(0.3, 0.3)).friction_direction is None


def test_pair_rule_holds_for_each_axis():
    """A plain number counts as both; the one table that stages for circles read has the larger."""
    blade, ice, plane = Material(friction=(0.1, 0.4)), Material(), Material(friction=(0.9, 0.0))
    along, across = friction_tables([blade, ice, plane])
    assert along[0].tolist() == pytest.approx([0.1, 0.05**0.5, 0.3], rel=1e-12)
    assert across[0].tolist() == pytest.approx([0.4, 0.2**0.5, 0.0], rel=1e-12)
    assert along[1, 1] == across[1, 1] == 0.5 and along[0, 0] == 0.1
    np.testing.assert_array_equal(along, along.T)
    np.testing.assert_array_equal(across, across.T)
    friction, _ = pair_tables([blade, ice, plane])
    np.testing.assert_array_equal(friction, np.maximum(along, across))


def test_overrides_may_be_elliptic_or_make_a_circle():
    blade, ice = Material(friction=(0.1, 0.4)), Material()
    along, across = friction_tables([blade, ice], {(ice, blade): {"friction": 0.2}})
    assert along[0, 1] == across[1, 0] == 0.2
    along, across = friction_tables([blade, ice], {(ice, blade): {"friction": (0.02, 0.7)}})
    assert (along[0, 1], across[0, 1]) == (along[1, 0], across[1, 0]) == (0.02, 0.7)
    with pytest.raises(InputError, match="neither material has a direction"):
        friction_tables([ice], {(ice, ice): {"friction": (0.02, 0.7)}})


def test_no_materials():
    friction, restitution = pair_tables([])
    assert friction.shape == restitution.shape == (0, 0)

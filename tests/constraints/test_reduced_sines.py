"""Sines and cosines of the angles of joints, beside those of the C library."""

import numpy as np

from drystone.constraints.reduced.sines import LARGEST, fill_sines


def both(angles):
    sine, cosine = angles.copy(), np.zeros_like(angles)
    fill_sines(0, len(angles), sine, cosine)
    return np.stack((sine, cosine)), np.stack((np.sin(angles), np.cos(angles)))


def test_they_are_those_of_the_library_to_the_last_place_but_one():
    rng = np.random.default_rng(0)
    quarters = np.arange(-4000, 4001) * np.pi / 4
    angles = [rng.normal(size=50_000), rng.uniform(-1e5, 1e5, 50_000), quarters]
    odd = [0.0, -0.0, 5e-324, 1e-300, LARGEST]
    angles = np.concatenate([*angles, np.nextafter(quarters, 9e9), odd])
    ours, library = both(angles)
    assert (np.abs(ours - library) <= 2 * np.spacing(np.abs(library))).all()
    assert np.abs(ours - library).max() < 2.3e-16


def test_large_angles_and_what_is_no_number_are_left_to_the_library():
    ours, library = both(np.array([1e7, -3e12, 0.5]))
    assert (ours == library).all()
    assert np.isnan(both(np.array([np.nan, 0.5]))[0][:, 0]).all()

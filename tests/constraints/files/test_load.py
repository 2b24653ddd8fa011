"""Problems from files: every storage against its dense matrix, and files that are broken."""

import os

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
import problem_writers as write
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem
from shared_data import PROBLEM_FILES, PROBLEMS, needs_problems

TEXT_STORAGES = {
    "dense": write.dense_text,
    "blocks": lambda a: write.block_text(a, [a.shape[0]], [a.shape[1]]),
    "columns": write.column_text,
    "rows": lambda a: write.column_text(a, origin=3),
    "triplets": write.triplet_text,
}


def random_local(dim, nc=3, seed=0):
    """W that is not symmetric, with an empty block, q and mu."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=(dim * nc, dim * nc)) + 10.0 * np.eye(dim * nc)
    w[:dim, -dim:] = 0.0
    return w, rng.normal(size=dim * nc), rng.uniform(0.1, 1.0, nc)


def random_global(dim, nc=3, n=8, seed=0):
    rng = np.random.default_rng(seed)
    m = np.diag(rng.uniform(1.0, 3.0, n))
    m[0, 1] = m[1, 0] = 0.5
    h = rng.normal(size=(n, dim * nc)) * (rng.uniform(size=(n, dim * nc)) < 0.6)
    return m, h, rng.normal(size=n), rng.normal(size=dim * nc), rng.uniform(0.1, 1.0, nc)


def assert_is(problem, dim, w, q, mu):
    """The first `dim` components are those of W and q; a third one stands for itself."""
    nc = len(mu)
    assert isinstance(problem, MatrixProblem) and problem.dim == dim
    assert problem.contact_count == nc
    kept = (3 * np.arange(nc)[:, None] + np.arange(dim)).ravel()
    found = problem.W().toarray()
    np.testing.assert_allclose(found[np.ix_(kept, kept)], w, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(problem.q()[:, :dim].ravel(), q, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(problem.friction, mu)
    if dim == 2:
        own = found.diagonal().reshape(nc, 3)
        np.testing.assert_allclose(own[:, 2], 0.5 * (own[:, 0] + own[:, 1]), rtol=1e-12)
        assert np.count_nonzero(found[2::3]) == np.count_nonzero(found[:, 2::3]) == nc
        assert not problem.q()[:, 2].any()


@pytest.mark.parametrize("storage", TEXT_STORAGES)
@pytest.mark.parametrize("dim", [2, 3])
def test_local_text(tmp_path, storage, dim):
    w, q, mu = random_local(dim)
    path = tmp_path / "some.dat"
    path.write_text(write.local_text(dim, w, q, mu, TEXT_STORAGES[storage]))
    assert_is(ContactProblem.load(path), dim, w, q, mu)


@pytest.mark.parametrize("dim", [2, 3])
def test_blocks_of_different_sizes(tmp_path, dim):
    w, q, mu = random_local(dim, nc=4)
    sizes = [dim, 2 * dim, dim]
    path = tmp_path / "some.dat"
    path.write_text(write.local_text(dim, w, q, mu, lambda a: write.block_text(a, sizes, sizes)))
    assert_is(ContactProblem.load(path), dim, w, q, mu)


@pytest.mark.parametrize("storage", TEXT_STORAGES)
@pytest.mark.parametrize("dim", [2, 3])
def test_global_text(tmp_path, storage, dim):
    """W = H' M^-1 H, q = H' M^-1 f + w, whatever the name of the file."""
    m, h, f, w, mu = random_global(dim)
    path = tmp_path / "some.dat"
    path.write_text(write.global_text(dim, m, h, f, w, mu, TEXT_STORAGES[storage]))
    inverse = np.linalg.inv(m)
    assert_is(ContactProblem.load(path), dim, h.T @ inverse @ h, h.T @ inverse @ f + w, mu)


@pytest.mark.parametrize("storage", ["triplets", "columns", "rows"])
@pytest.mark.parametrize("dim", [2, 3])
def test_fclib(tmp_path, storage, dim):
    path = tmp_path / "some.hdf5"
    w, q, mu = random_local(dim)
    write.write_fclib(path, dim, {"W": w}, {"q": q, "mu": mu}, storage)
    assert_is(ContactProblem.load(path), dim, w, q, mu)
    m, h, f, w, mu = random_global(dim, nc=30)  # more columns than one strip has
    vectors = {"f": f, "w": w, "mu": mu}
    write.write_fclib(path, dim, {"M": m, "H": h}, vectors, storage, "fclib_global")
    inverse = np.linalg.inv(m)
    assert_is(ContactProblem.load(path), dim, h.T @ inverse @ h, h.T @ inverse @ f + w, mu)


def test_a_problem_without_contacts(tmp_path):
    path = tmp_path / "none.dat"
    path.write_text("3\n0\n0\n0\n0\n0 0\n")
    problem = ContactProblem.load(path)
    problem.save(tmp_path / "none.h5")
    again = MatrixProblem.load(tmp_path / "none.h5")
    assert problem.contact_count == again.contact_count == 0
    assert problem.velocity(np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_saved_matrix_problem_comes_back_bit_for_bit(tmp_path, dim):
    path = tmp_path / "text.dat"
    path.write_text(write.local_text(dim, *random_local(dim)))
    problem = ContactProblem.load(path)
    problem = MatrixProblem(
        problem.matrix, problem.free_velocity, problem.friction, 0.5 * problem.friction, dim
    )
    problem.save(tmp_path / "own.h5")
    for kind in (ContactProblem, MatrixProblem):
        again = kind.load(tmp_path / "own.h5")
        assert again.dim == dim
        for name in ("free_velocity", "friction", "friction_2"):
            np.testing.assert_array_equal(getattr(again, name), getattr(problem, name))
        for name in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(
                getattr(again.matrix, name), getattr(problem.matrix, name)
            )


def test_an_older_file_survives_a_failed_save(tmp_path, monkeypatch):
    path = tmp_path / "own.h5"
    (tmp_path / "text.dat").write_text(write.local_text(3, *random_local(3)))
    problem = ContactProblem.load(tmp_path / "text.dat")
    problem.save(path)
    before = path.read_bytes()

    def full(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(ds.InputError, match="own.h5: .*no space left"):
            problem.save(path)
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["own.h5", "text.dat"]


def test_bodies_are_no_matrix(tmp_path):
    none = np.zeros(0)
    edges = np.zeros(1, np.int32)
    problem = ContactProblem(
        body=np.zeros((0, 2), np.int32), frame=np.zeros((0, 9)), arm=np.zeros((0, 6)),
        friction=none, bias=none, gap=none, mass=np.zeros((1, 7)), free=np.zeros((1, 6)),
        slab_first=edges, group_first=edges,
    )  # fmt: skip
    problem.save(tmp_path / "bodies.h5")
    assert isinstance(ContactProblem.load(tmp_path / "bodies.h5"), ContactProblem)
    with pytest.raises(ds.InputError, match="holds bodies"):
        MatrixProblem.load(tmp_path / "bodies.h5")


# ---- files that are broken ----

W, Q, MU = random_local(3)


def text(dim=3, nc=None, w=W, q=Q, mu=MU, storage=write.dense_text):
    """A file of three contacts with something wrong in it."""
    nc = len(mu) if nc is None else nc
    return f"{dim}\n{nc}\n" + storage(w) + write.numbers(q) + write.numbers(mu)


def with_nan(values):
    values = np.array(values)
    values.flat[0] = np.nan
    return values


GOOD = text()
BLOCKS = text(storage=TEXT_STORAGES["blocks"])
COLUMNS = text(storage=write.column_text)
# One body that touches everything: each contact couples with each, W has 6000² entries.
COUPLED = write.global_text(
    2, np.eye(1), np.ones((1, 6000)), np.ones(1), np.ones(6000), np.full(3000, 0.5),
    lambda a: write.column_text(a) if a.shape[0] > 1 else write.dense_text(a),
)  # fmt: skip
BROKEN_TEXTS = {
    "all couple": (COUPLED, "too many for a problem whose M and H have 6001"),
    "many digits": ("3\n" + "9" * 5000, "no integer of a sensible size"),
    "empty": ("", "empty"),
    "blanks": (" \n\t\n", "empty"),
    "prose": ("not a problem\n", "'not' is no integer"),
    "dimension": (text(dim=5), "dimension is 5"),
    "fraction": ("3.5 " + GOOD[2:], "'3.5' is no integer"),
    "minus contacts": (text(nc=-3), "number of contacts is -3"),
    "too many contacts": (text(nc=4), "W is 9 x 9, must be 12 x 12"),
    "too few contacts": (text(nc=2), "W is 9 x 9, must be 6 x 6"),
    "claimed contacts": (text(nc=10**9), "so many words follow"),
    "absurd contacts": (text(nc=10**30), "sensible size"),
    "claimed dense": ("3\n1\n0\n1000000\n1000000\n1000000 1000000\n0.0\n", "words follow"),
    "claimed blocks": ("3 1 1 3 3 1000000000 1 1 3 3 2 1 0 1 0 0 1.0", "words follow"),
    "claimed columns": ("3 1 2 900000000 3 2 CSparse 900000000-by-3, nzmax: 1 nnz: 1", "words"),
    "claimed triplets": (
        "3 1 2 3 3 1 v triplet: 3-by-3, nzmax: 900000000 nnz: 900000000 0 0 : 1.0", "ends in",
    ),
    "storage": ("3\n1\n7\n3\n3\n", "storage of the first matrix is 7"),
    "not square": (text(w=W[:, :-3]), "W is 9 x 6, must be 9 x 9"),
    "cut in W": (GOOD[: len(GOOD) // 2], "ends in the first matrix"),
    "cut in mu": (GOOD.rsplit(maxsplit=1)[0], "ends in mu"),
    "too long": (GOOD + "1 2 3", "goes on after mu: 3"),
    "word in W": (GOOD.replace("e+01", "e+01x", 1), "is no number"),
    "NaN in W": (text(w=with_nan(W)), "W holds numbers that are not finite"),
    "NaN in q": (text(q=with_nan(Q)), "q holds numbers that are not finite"),
    "NaN in mu": (text(mu=with_nan(MU)), "mu holds numbers that are not finite"),
    "infinite mu": (text(mu=[np.inf, 1.0, 1.0]), "mu holds numbers that are not finite"),
    "negative mu": (text(mu=[0.5, -0.5, 0.5]), "mu is -0.5"),
    "no own block": (text(w=np.zeros((9, 9))), "contact 0 cannot be pushed apart"),
    "second size": (GOOD.replace("9\t9", "9\t8"), "9 x 9 and then 9 x 8"),
    "block rows": (BLOCKS.replace("\n9\n9\n2\t1\n", "\n8\n9\n2\t1\n"), "block rows .* rise to 9"),
    "block column": (BLOCKS.replace("\n0\t1\n0\n0\n", "\n0\t1\n5\n0\n"), "outside its 1 block"),
    "block places": (BLOCKS.replace("\n0\t1\n0\n0\n", "\n0\t0\n0\n0\n"), "must rise to 1"),
    "block start": (BLOCKS.replace("\n0\t1\n0\n0\n", "\n1\t1\n0\n0\n"), "places for them"),
    "block number": (BLOCKS.replace("\n0\t1\n0\n0\n", "\n0\t1\n0\n7\n"), "not numbered"),
    "blocks cut": (BLOCKS[: len(BLOCKS) // 2], "ends in the first matrix"),
    "origin": (COLUMNS.replace("\n2\nCSparse", "\n9\nCSparse"), "origin"),
    "no sizes": (COLUMNS.replace("9-by-9,", "9 by 9,"), "there is no m-by-n"),
    "other sizes": (COLUMNS.replace("9-by-9,", "9-by-8,"), "9 x 9 and then 9 x 8"),
    "no count": (COLUMNS.replace("nnz:", "nns:"), "there is no nnz"),
    "wrong count": (COLUMNS.replace("nnz: 72", "nnz: 71"), "claims 71 entries, 72 are there"),
    "brief": (COLUMNS[: COLUMNS.index("col 5")] + "...\n", "entries"),
    "entry outside": (COLUMNS.replace("      8 : ", "      9 : "), "outside its 9 rows"),
    "column outside": (COLUMNS.replace("col 8 ", "col 9 "), "outside its 9 columns"),
    "singular M": (
        write.global_text(3, np.diag([1.0, 1, 0]), np.eye(3), np.ones(3), np.ones(3), [0.5]),
        "M is singular",
    ),
}  # fmt: skip


@pytest.mark.parametrize("defect", BROKEN_TEXTS)
def test_broken_texts_are_refused(tmp_path, defect):
    """One clear error, which names the file and what is wrong with it."""
    content, message = BROKEN_TEXTS[defect]
    path = tmp_path / "broken.dat"
    path.write_text(content)
    with pytest.raises(ds.InputError, match=rf"broken\.dat: .*({message})"):
        ContactProblem.load(path)


def change_fclib(path, change):
    write.write_fclib(path, 3, {"W": W}, {"q": Q, "mu": MU})
    with h5py.File(path, "a") as file:
        change(file["fclib_local"])


def put(name, value):
    def change(group):
        del group[name]
        group[name] = value

    return change


def claim(name, size, **options):
    """An array that is said to be huge, of which nothing is stored."""

    def change(group):
        del group[name]
        group.create_dataset(name, (size,), dtype="f8" if name[-1] in "xqu" else "i4", **options)

    return change


BROKEN_FCLIB = {
    "no mu": (lambda group: group.__delitem__("vectors/mu"), "mu is missing"),
    "no vectors": (lambda group: group.__delitem__("vectors"), "vectors is missing"),
    "no W": (lambda group: group.__delitem__("W"), "W is missing"),
    "no x": (lambda group: group.__delitem__("W/x"), "x is missing"),
    "dimension": (put("spacedim", np.array([4])), "spacedim is 4"),
    "W of text": (put("W/x", "text"), "x is no array of numbers"),
    "W as number": (put("W/x", 1.0), "x has shape"),
    "fractions": (put("W/i", np.zeros(72)), "i must be a list of integers"),
    "storage": (put("W/nz", np.array([-7])), "nz is -7"),
    "not square": (put("W/n", np.array([6])), "W is 9 x 6, must be 9 x 9"),
    "claimed rows": (put("W/m", np.array([2**40])), "must be 9 x 9"),
    "two nz": (put("W/nz", np.array([1, 2])), "nz must be one"),
    "claimed triplets": (put("W/nz", np.array([2**40])), "W claims 1099511627776 entries"),
    "falling p": (put("W/p", np.array([0, 72, 0, 0, 0, 0, 0, 0, 0, 72])), "p must rise"),
    "far p": (put("W/p", np.array([0, *[2**40] * 9])), "W claims 1099511627776 entries"),
    "index": (put("W/i", np.full(72, 9)), "outside its 9 x 9"),
    "negative index": (put("W/i", np.full(72, -1)), "outside its 9 x 9"),
    "short x": (put("W/x", np.ones(10)), "W claims 72 entries, the file holds 10"),
    "q": (put("vectors/q", Q[:-1]), "W is 9 x 9, must be 8 x 8"),
    "mu": (put("vectors/mu", MU[:-1]), "W is 9 x 9, must be 6 x 6"),
    "NaN": (put("vectors/q", with_nan(Q)), "q holds numbers that are not finite"),
    "negative mu": (put("vectors/mu", -MU), "mu is -"),
    "huge q": (claim("vectors/q", 10**13), "q claims 10000000000000 numbers"),
    "huge packed x": (claim("W/x", 10**12, chunks=True, compression="gzip"), "x claims"),
    "joints": (lambda group: group.create_group("V"), "equality constraints"),
}  # fmt: skip


@pytest.mark.parametrize("defect", BROKEN_FCLIB)
def test_broken_fclib_files_are_refused(tmp_path, defect):
    change, message = BROKEN_FCLIB[defect]
    path = tmp_path / "broken.hdf5"
    change_fclib(path, change)
    with pytest.raises(ds.InputError, match=rf"broken\.hdf5: .*{message}"):
        ContactProblem.load(path)


BROKEN_OWN = {
    "version": (lambda file: file.attrs.__setitem__("version", 9), "version 9"),
    "no version": (lambda file: file.attrs.__delitem__("version"), "version"),
    "format": (lambda file: file.attrs.__setitem__("format", "other"), "neither"),
    "formats": (lambda file: file.attrs.__setitem__("format", np.ones(3)), "must be a text"),
    "dim": (put("dim", 7), "dim is 7"),
    "friction": (put("friction", np.ones(2)), "2 contacts"),
    "shape": (put("free_velocity", np.ones(9)), "3 contacts"),
    "rows": (put("row_first", np.arange(10)), "row_first must rise"),
    "column": (put("column", np.full(72, 9)), "outside 0 to 8"),
    "value": (put("value", np.ones(3)), "number of entries"),
    "infinite": (put("value", np.full(72, np.inf)), "not finite"),
    "negative": (put("friction", -np.ones(3)), "must be >= 0"),
    "friction 2": (lambda file: file.__setitem__("friction_2", np.ones(2)), "mu_2 has shape"),
    "huge": (claim("value", 10**13), "claims"),
}  # fmt: skip


@pytest.mark.parametrize("defect", BROKEN_OWN)
def test_broken_files_of_our_own_are_refused(tmp_path, defect):
    change, message = BROKEN_OWN[defect]
    (tmp_path / "text.dat").write_text(GOOD)
    path = tmp_path / "broken.h5"
    ContactProblem.load(tmp_path / "text.dat").save(path)
    with h5py.File(path, "a") as file:
        change(file)
    with pytest.raises(ds.InputError, match=rf"broken\.h5: .*({message})"):
        ContactProblem.load(path)


def test_what_is_no_file_is_refused(tmp_path):
    (tmp_path / "junk.dat").write_bytes(bytes(range(256)) * 8)
    (tmp_path / "zeros.dat").write_bytes(bytes(1000))
    (tmp_path / "half.hdf5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    for name, message in (
        ("", "is a folder"), ("none.dat", "no such file"), ("junk.dat", "neither HDF5 nor"),
        ("zeros.dat", "is no integer"), ("half.hdf5", "is damaged"),
    ):  # fmt: skip
        with pytest.raises(ds.InputError, match=message):
            ContactProblem.load(tmp_path / name)
    with pytest.raises(ds.InputError):
        ContactProblem.load(None)


@pytest.mark.parametrize("good", [GOOD, BLOCKS, COLUMNS], ids=["dense", "blocks", "columns"])
@settings(max_examples=60, deadline=None)
@given(at=st.floats(0, 1), cut=st.integers(0, 30), junk=st.text("0129-.e: \ncolx", max_size=6))
def test_damaged_texts_give_a_problem_or_an_input_error(tmp_path_factory, good, at, cut, junk):
    k = int(at * len(good))
    path = tmp_path_factory.getbasetemp() / "damaged.dat"
    path.write_text(good[:k] + junk + good[k + cut :])
    try:
        problem = ContactProblem.load(path)
    except ds.InputError as error:
        assert "damaged.dat" in str(error)
    else:
        assert np.isfinite(problem.velocity(np.ones((problem.contact_count, 3)))).all()


# ---- files that others wrote ----

KNOWN = {
    "Box_Stacks-i0035-31-0.hdf5": (3, 31), "Capsules-i100-1090.dat": (3, 276),
    "Capsules-i97-269.hdf5": (3, 216), "Confeti-ex03-Fc3D-SBM.dat": (3, 54),
    "FC2D_SliderCrankLagrangian00000.dat": (2, 2), "FC3D_Example1.dat": (3, 3),
    "FrictionContactProblem00237.dat": (2, 376), "GFC3D_OneContact.dat": (3, 1),
    "KaplasTower-i1061-4.hdf5.dat": (3, 570), "Spheres-i099-356-679.hdf5": (3, 356),
    "fc2d_granularflowonwall_02020_00213.dat": (2, 2020), "local_problem_test.hdf5": (3, 48),
}  # fmt: skip


@needs_problems
def test_all_files_of_others_are_read():
    """Sizes are right, and W is nearly symmetric, as a mass matrix makes it: to 0.2 %."""
    for path in PROBLEM_FILES:
        problem = ContactProblem.load(path)
        if path.name in KNOWN:
            assert (problem.dim, problem.contact_count) == KNOWN[path.name]
        w = problem.W()
        assert abs(w - w.T).max() <= 2e-3 * abs(w).max(), path.name


@needs_problems
@pytest.mark.parametrize("name", ["Capsules-i97-269.hdf5", "Spheres-i099-356-679.hdf5"])
def test_velocities_are_those_stored_in_the_file(name):
    """Our answer against the u of `solution`, a local and a global problem.

    1e-3 m/s, in problems of up to 11 m/s: their solver stopped after 100 iterations.
    """
    problem = ContactProblem.load(PROBLEMS / name)
    with h5py.File(PROBLEMS / name) as file:
        stored = file["solution/u"][()].reshape(-1, 3)
    impulse, info = ds.solve(problem, "nsgs", tolerance=1e-9)
    assert info.converged
    np.testing.assert_allclose(problem.velocity(impulse), stored, atol=2e-3)
    assert np.abs(problem.q() - stored).max() > 0.05  # the contacts do something

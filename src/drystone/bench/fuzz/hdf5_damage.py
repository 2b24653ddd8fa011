"""Damage of HDF5 files: of datasets, attributes, types, links, and of the texts inside."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from drystone.bench.fuzz.damage import damage_text

HUGE = 3 * 2**27  # numbers of a dataset that is declared and never written: 3 GiB


def damage_hdf5(rng: np.random.Generator, path: Path) -> str:
    """Damage one to three things in the file; returns what."""
    done = []
    with h5py.File(path, "r+") as file:
        for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
            done.append(_damage_one(rng, file, path))
    return "HDF5: " + ", ".join(done)


def _damage_one(rng: np.random.Generator, file: h5py.File, path: Path) -> str:
    names: list[str] = []
    file.visit(names.append)
    owners = ["/", *names]
    holders = [name for name in owners if len(file[name].attrs)]
    if holders and (rng.random() < 0.3 or not names):
        return _damage_attribute(rng, file[holders[rng.integers(len(holders))]])
    if not names:
        return "nothing left"
    name = names[rng.integers(len(names))]
    if rng.random() < 0.15 or isinstance(file[name], h5py.Group):
        return _damage_link(rng, file, name, path)
    return _damage_dataset(rng, file, name)


def _damage_attribute(rng: np.random.Generator, owner: Any) -> str:
    name = list(owner.attrs)[rng.integers(len(owner.attrs))]
    value = owner.attrs[name]
    text = isinstance(value, str | bytes)
    if rng.random() < 0.2:
        del owner.attrs[name]
        return f"attribute {name} gone"
    if text and rng.random() < 0.7:
        said = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
        changed = damage_json(rng, said) if said[:1] in b"{[" else damage_text(rng, said)
        owner.attrs[name] = changed.decode("utf-8", "replace").replace("\0", "")
        return f"attribute {name} edited"
    odd = (float("nan"), -1, 2**31, 2**62, "x", "", [1, 2, 3], np.zeros((2, 2)), b"\xff", 1.5,
           h5py.Empty("f8"))  # fmt: skip
    owner.attrs[name] = odd[rng.integers(len(odd))]
    return f"attribute {name} replaced"


def damage_json(rng: np.random.Generator, text: bytes) -> bytes:
    """A text of JSON with one value of it changed."""
    try:
        tree = json.loads(text)
    except ValueError:
        return damage_text(rng, text)
    places: list[tuple[Any, Any]] = []

    def visit(node: Any) -> None:
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            places.append((node, key))
            if isinstance(value, dict | list):
                visit(value)

    if isinstance(tree, dict | list):
        visit(tree)
    if places:
        node, key = places[rng.integers(len(places))]
        odd = (None, -1, 10**30, 1e308, float("nan"), "x", [], {}, [[[1]]], True, 2**40, "nan")
        if isinstance(node, dict) and rng.random() < 0.2:
            del node[key]
        else:
            node[key] = odd[rng.integers(len(odd))]
    return json.dumps(tree).encode()


def _damage_link(rng: np.random.Generator, file: h5py.File, name: str, path: Path) -> str:
    how = rng.integers(6)
    other = path.with_name("other.h5")
    if how == 0:
        del file[name]
        return f"{name} gone"
    if how == 1:
        file.move(name, name + "_")
        return f"{name} renamed"
    del file[name]
    if how == 2:
        file[name] = h5py.SoftLink("/" + name)
        return f"{name} a link to itself"
    if how == 3:
        file[name] = h5py.ExternalLink(str(other), "/x")
        return f"{name} a link to another file"
    if how == 4:
        file.create_group(name)
        return f"{name} a group"
    secret = path.with_name("secret.bin")
    secret.write_bytes(b"secret" * 100)
    file.create_dataset(name, (10,), "f8", external=[(str(secret), 0, 80)])
    return f"{name} stored in another file"


def _damage_dataset(rng: np.random.Generator, file: h5py.File, name: str) -> str:
    dataset = file[name]
    how = rng.integers(8)
    if dataset.size >= HUGE:  # by the damage before: to read it would take the memory that counts
        return f"{name} left"
    value = dataset[()]
    if isinstance(value, bytes | str):
        said = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
        return _replace(file, name, damage_json(rng, said), "text edited")
    if how <= 2 and np.size(value):
        flat = np.array(value).reshape(-1)
        k = int(rng.integers(flat.size))
        odd = (np.nan, np.inf, -1, 1e300, 0, 2**31, 1e-320, -(10**9))
        with np.errstate(all="ignore"):
            new = odd[rng.integers(len(odd))]
            if flat.dtype.kind in "fiub":
                flat[k] = np.array(new).astype(flat.dtype)
        return _replace(file, name, flat.reshape(np.shape(value)), "a value changed")
    if how == 3:
        kinds = ("f4", "i8", "u1", "S3", "c16", "b1")
        with np.errstate(all="ignore"):
            return _replace(
                file, name, np.zeros(np.shape(value), kinds[rng.integers(6)]), "another kind"
            )
    if how == 4:
        return _replace(file, name, np.array(value).reshape(-1), "another shape")
    if how == 5:
        cut = np.atleast_1d(np.array(value))
        return _replace(file, name, cut[: len(cut) // 2], "cut")
    if how == 6:
        return _replace(file, name, np.array(0.0), "a scalar")
    kind = np.asarray(value).dtype
    del file[name]
    shape = (HUGE,) if np.ndim(value) < 2 else (HUGE // 8, 8)
    file.create_dataset(name, shape, kind if kind.kind in "fiu" else "f8", chunks=True,
                        compression="gzip")  # fmt: skip
    return f"{name} of 3 GiB"


def _replace(file: h5py.File, name: str, value: Any, what: str) -> str:
    attributes = dict(file[name].attrs)
    del file[name]
    file.create_dataset(name, data=np.bytes_(value) if isinstance(value, bytes) else value)
    for key, said in attributes.items():
        file[name].attrs[key] = said
    return f"{name} {what}"

"""Files of other people's formats, written the slow way from dense matrices."""

import h5py
import numpy as np
import scipy.sparse


def numbers(values):
    return " ".join(f"{x:.17e}" for x in np.ravel(values)) + "\n"


def dense_text(a):
    return f"0\n{a.shape[0]}\n{a.shape[1]}\n{a.shape[0]}\t{a.shape[1]}\n" + numbers(a.T)


def block_text(a, rows, columns):
    """Blocks whose rows and columns have these sizes; blocks of zeros are left out."""
    row_end, column_end = np.cumsum(rows), np.cumsum(columns)
    first, place, text = [0], [], ""
    for i, high in enumerate(rows):
        for j, wide in enumerate(columns):
            block = a[row_end[i] - high : row_end[i], column_end[j] - wide : column_end[j]]
            if block.any():
                text += f"{len(place)}\n" + "".join(f"{x:.17e}\n" for x in block.T.ravel())
                place.append(j)
        first.append(len(place))
    head = [1, *a.shape, len(place), len(rows), len(columns)]
    lists = (row_end, column_end, (len(first), len(place)), first, place)
    lines = [str(k) for k in head] + ["\t".join(str(int(k)) for k in list_) for list_ in lists]
    return "\n".join(lines) + "\n" + text


VERSION = "CSparse Version 3.1.9, May 4, 2016.  Copyright (c) Timothy A. Davis, 2006-2016\n"


def column_text(a, origin=2):
    """Compressed columns as CSparse prints them; origin 3: compressed rows, printed as columns."""
    printed = a if origin == 2 else a.T
    m, n = printed.shape
    count = np.count_nonzero(a)
    text = f"2\n{a.shape[0]}\n{a.shape[1]}\n{origin}\n" + VERSION
    text += f"{m}-by-{n}, nzmax: {count} nnz: {count}, 1-norm: {abs(a).sum():g}\n"
    done = 0
    for j in range(n):
        rows = np.flatnonzero(printed[:, j])
        text += f"    col {j} : locations {done} to {done + len(rows) - 1}\n"
        text += "".join(f"      {i} : {printed[i, j]:.17g}\n" for i in rows)
        done += len(rows)
    return text


def triplet_text(a):
    count = np.count_nonzero(a)
    text = f"2\n{a.shape[0]}\n{a.shape[1]}\n1\n" + VERSION
    text += f"triplet: {a.shape[0]}-by-{a.shape[1]}, nzmax: {count} nnz: {count}\n"
    return text + "".join(
        f"    {i} {j} : {a[i, j]:.17g}\n" for i, j in zip(*np.nonzero(a), strict=True)
    )


def local_text(dim, w, q, mu, write=dense_text):
    return f"{dim}\n{len(mu)}\n" + write(w) + numbers(q) + numbers(mu)


def global_text(dim, m, h, f, w, mu, write=dense_text):
    matrices = write(m) + write(h)
    return f"{dim}\n{len(mu)}\n" + matrices + numbers(f) + numbers(w) + numbers(mu) + "1\n"


def put_matrix(group, name, a, storage):
    """storage: "triplets", "columns" or "rows"."""
    part = group.create_group(name)
    if storage == "triplets":
        s = scipy.sparse.coo_array(a)
        nz, p, i = s.nnz, s.col, s.row
    else:
        s = scipy.sparse.csc_array(a) if storage == "columns" else scipy.sparse.csr_array(a)
        nz, p, i = (-1 if storage == "columns" else -2), s.indptr, s.indices
    for key, value in (("m", a.shape[0]), ("n", a.shape[1]), ("nz", nz), ("nzmax", s.nnz)):
        part[key] = np.array([value], np.int32)
    part["p"], part["i"], part["x"] = p.astype(np.int32), i.astype(np.int32), s.data


def write_fclib(path, dim, matrices, vectors, storage="rows", kind="fclib_local"):
    with h5py.File(path, "w") as file:
        group = file.create_group(kind)
        group["spacedim"] = np.array([dim], np.int32)
        for name, matrix in matrices.items():
            put_matrix(group, name, matrix, storage)
        for name, vector in vectors.items():
            group[f"vectors/{name}"] = vector

"""Contacts of a large island in batches of eight that have no body in common.

Eight such contacts do not know of each other, so a visit of all of them at once
(solvers/gauss_seidel/lane_sweep.py, motion/push_batches.py) gives what eight visits one by one
would. Contacts go into the first batch with room in which neither of their bodies is. What a visit
reads of a contact is copied there, number by number for all eight, so that one instruction loads a
number of all of them.
"""

from drystone.jit import inner_kernel, kernel
from drystone.jit.lanes import WIDTH
from drystone.model.arrays import LANE_NUMBERS

# Where the numbers of a batch begin, each WIDTH floats: normal, tangents, arms, Delassus block and
# its inverse, bias, friction, impulse, impulse of the sweep before, velocities of moving surfaces
# along the tangents, inverse mass of A, its inverse inertia if that is the same about all axes, and
# those of B.
NORMAL, TANGENT_1, TANGENT_2, ARM_A, ARM_B = 0, 24, 48, 72, 96
BLOCK, INVERSE, BIAS, FRICTION, IMPULSE, PREVIOUS = 120, 168, 216, 224, 232, 256
SURFACE, MASS_A, INERTIA_A, MASS_B, INERTIA_B, BATCH = 280, 296, 304, 312, 320, LANE_NUMBERS

# Of a slab: its contacts are in no batches; it is the first of a part, or lies between two, see
# parallel_sweep.py; it is another one of a part.
LOOSE_SLAB, PART, BETWEEN, INSIDE = range(4)

OPEN_BATCHES = 62  # among so many a contact looks for room: the bits of a positive integer
# There is room for so many batches as a share of the contacts. They need an eighth and a few more,
# unless one body has a large part of all contacts; then they are visited one by one.
ROOM = 2


@inner_kernel
def first_batch(slab, rows):
    """The first batch of a run of slabs that begins with that one."""
    return rows.slab_first[slab] // ROOM


@kernel
def _bits(b, base, rows):
    """Which of the batches from `base` on body `b` is in, as bits."""
    moved = base - rows.lane_base[b]
    return rows.lane_bits[b] >> moved if moved < OPEN_BATCHES else 0


@kernel
def _find_batches(lo, hi, first, limit, rows, mass):
    """Give each of the rows lo .. hi a lane; returns the end of the batches, -1 if there is no
    room."""
    body, fill, lane_row = rows.body, rows.lane_fill, rows.lane_row
    for r in range(lo, hi):
        for k in range(2):
            rows.lane_base[body[r, k]], rows.lane_bits[body[r, k]] = first, 0
    base, end, full = first, first, 0
    for r in range(lo, hi):
        a, b = body[r, 0], body[r, 1]
        moves_a, moves_b = mass[a, 0] != 0.0, mass[b, 0] != 0.0
        bits_a = _bits(a, base, rows) if moves_a else 0
        bits_b = _bits(b, base, rows) if moves_b else 0
        taken, k = full | bits_a | bits_b, 0
        while taken & 1 == 1:
            taken, k = taken >> 1, k + 1
        if k == OPEN_BATCHES:  # none of them has room: they are closed
            base, full, k, bits_a, bits_b = base + OPEN_BATCHES, 0, 0, 0, 0
        batch = base + k
        while end <= batch:
            if end == limit:
                return -1
            fill[end] = 0
            for lane in range(WIDTH):
                lane_row[WIDTH * end + lane] = -1
            end += 1
        lane_row[WIDTH * batch + fill[batch]] = r
        fill[batch] += 1
        if moves_a:
            rows.lane_base[a], rows.lane_bits[a] = base, bits_a | (1 << k)
        if moves_b:
            rows.lane_base[b], rows.lane_bits[b] = base, bits_b | (1 << k)
        if fill[batch] == WIDTH:
            full |= 1 << k
        while full & 1 == 1:
            full, base = full >> 1, base + 1
    return end


@kernel
def _is_even(b, mass):
    """Whether the inertia of body `b` is the same about all axes."""
    i = mass[b, 1]
    same = mass[b, 4] == i and mass[b, 6] == i
    return same and mass[b, 2] == 0.0 and mass[b, 3] == 0.0 and mass[b, 5] == 0.0


@kernel
def _clear_lane(at, place, n, rows):
    """A lane without a contact: one with the fixed world that is open."""
    data = rows.lane_data
    for f in range(BATCH // WIDTH):
        data[at + WIDTH * f] = 0.0
    for f in (0, 3, 5):
        data[at + BLOCK + WIDTH * f] = data[at + INVERSE + WIDTH * f] = 1.0
    data[at + BIAS] = 1.0
    rows.lane_body[place] = rows.lane_body[place + WIDTH] = n


@kernel
def _fill_lane(r, at, place, moving, mass, rows):
    """Copy row `r`; returns whether the inertia of both bodies is the same about all axes."""
    data, a, b = rows.lane_data, rows.body[r, 0], rows.body[r, 1]
    rows.lane_body[place], rows.lane_body[place + WIDTH] = a, b
    for f in range(9):
        data[at + NORMAL + WIDTH * f] = rows.frame[r, f]
    for f in range(6):
        data[at + ARM_A + WIDTH * f] = rows.arm[r, f]
        data[at + BLOCK + WIDTH * f] = rows.delassus[r, f]
        data[at + INVERSE + WIDTH * f] = rows.inverse[r, f]
    for f in range(3):
        data[at + IMPULSE + WIDTH * f] = data[at + PREVIOUS + WIDTH * f] = rows.impulse[r, f]
    data[at + BIAS], data[at + FRICTION] = rows.bias[r], rows.friction[r]
    data[at + SURFACE] = data[at + SURFACE + WIDTH] = 0.0
    if moving:
        frame, v = rows.frame, rows.surface
        for f in range(2):
            along = frame[r, 3 + 3 * f] * v[r, 0] + frame[r, 4 + 3 * f] * v[r, 1]
            data[at + SURFACE + WIDTH * f] = along + frame[r, 5 + 3 * f] * v[r, 2]
    data[at + MASS_A], data[at + INERTIA_A] = mass[a, 0], mass[a, 1]
    data[at + MASS_B], data[at + INERTIA_B] = mass[b, 0], mass[b, 1]
    return _is_even(a, mass) and _is_even(b, mass)


@kernel
def _fill_masses(k, mass, rows):
    """Whole inertias of all bodies of batch `k`, in rows of eight."""
    for lane in range(2 * WIDTH):
        b = rows.lane_body[2 * WIDTH * k + lane]
        for f in range(7):
            rows.lane_mass[b, f] = mass[b, f]


@inner_kernel
def pack_batches(lo, hi, first, moving, rows, mass):
    """Copy the rows lo .. hi into batches from `first` on; returns their end, `first` if there is
    no room.

    moving  whether surfaces move on their bodies
    """
    end = _find_batches(lo, hi, first, hi // ROOM, rows, mass)
    if end < 0:
        return first
    n = mass.shape[0] - 1
    for k in range(first, end):
        even = True
        for lane in range(WIDTH):
            r, at, place = rows.lane_row[WIDTH * k + lane], BATCH * k + lane, 2 * WIDTH * k + lane
            if r < 0:
                _clear_lane(at, place, n, rows)
            elif not _fill_lane(r, at, place, moving, mass, rows):
                even = False
        rows.lane_even[k] = 1 if even else 0
        if not even:
            _fill_masses(k, mass, rows)
    return end


@inner_kernel
def unpack_batches(first, end, rows):
    """Write the impulses of these batches to their rows."""
    impulse, data = rows.impulse, rows.lane_data
    for k in range(first, end):
        for lane in range(WIDTH):
            r, at = rows.lane_row[WIDTH * k + lane], BATCH * k + IMPULSE + lane
            if r >= 0:
                impulse[r, 0], impulse[r, 1] = data[at], data[at + WIDTH]
                impulse[r, 2] = data[at + 2 * WIDTH]


@inner_kernel
def mark_run(first, last, kind, rows):
    """Note that the slabs first .. last are a run of that `kind`, in batches or not."""
    packed = rows.lane_end[first] > 0
    for i in range(first, last):
        rows.lane_run[i] = INSIDE if packed else LOOSE_SLAB
    if packed:
        rows.lane_run[first] = kind


@inner_kernel
def forget_batches(slabs, rows):
    """No slab has batches any more."""
    for i in range(slabs):
        rows.lane_run[i], rows.lane_end[i] = LOOSE_SLAB, 0

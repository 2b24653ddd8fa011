"""Small contact problems made by hand, and a test that tells that their answer is unique."""

import numpy as np

from drystone.constraints.problem import ContactProblem


def make_problem(body, frame, arm, friction, mass, free, friction_2=None):
    """A ContactProblem from lists; the fixed world is the last row of `mass` and `free`."""
    nc = len(friction)
    return ContactProblem(
        body=np.array(body, np.int32).reshape(nc, 2),
        frame=np.array(frame, float).reshape(nc, 9),
        arm=np.array(arm, float).reshape(nc, 6),
        friction=np.array(friction, float),
        bias=np.zeros(nc),
        gap=np.zeros(nc),
        mass=np.array(mass, float),
        free=np.array(free, float),
        slab_first=np.array([0, nc], np.int32),
        group_first=np.array([0, 1], np.int32),
        friction_2=None if friction_2 is None else np.array(friction_2, float),
    )


def point_mass(velocity, friction, friction_2=None):
    """A unit mass (a point: its arm is zero) on the fixed world, normal z: W is the identity."""
    return make_problem(
        [[1, 0]], [[0, 0, 1, 1, 0, 0, 0, 1, 0]], np.zeros(6), [friction],
        [[1, 1, 0, 0, 1, 0, 1], [0] * 7], [[*velocity, 0, 0, 0], [0] * 6],
        None if friction_2 is None else [friction_2],
    )  # fmt: skip


def inverse_mass(mass, size):
    """Row of ContactProblem.mass for a solid cube of side `size`."""
    inertia = mass * size**2 / 6
    return [1 / mass, 1 / inertia, 0, 0, 1 / inertia, 0, 1 / inertia]


def cube_tower(masses, velocities, friction, friction_2=None):
    """Unit cubes on each other and on the fixed world, four contacts each: W is singular."""
    count = len(masses)
    body, arm = [], []
    for k in range(count):
        for x, y in ((-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)):
            body.append((k - 1 if k else count, k))
            arm.append((x, y, 0.5, x, y, -0.5))
    nc = len(body)
    return make_problem(
        body, np.tile([0, 0, 1, 1, 0, 0, 0, 1, 0], (nc, 1)), arm, np.full(nc, friction),
        [*(inverse_mass(m, 1.0) for m in masses), [0] * 7],
        [*((*v, 0, 0, 0) for v in velocities), [0] * 6],
        None if friction_2 is None else np.full(nc, friction_2),
    )  # fmt: skip


def two_spheres(masses, velocities, spins, friction):
    """One unit sphere on another, which lies on the fixed world: W is (6, 6) and of full rank."""
    tilt = np.array([0.28, 0.0, 0.96])  # from the lower to the upper centre
    frames = [[0, 0, 1, 1, 0, 0, 0, 1, 0], [*tilt, 0.96, 0, -0.28, 0, 1, 0]]
    inertias = [0.4 * m for m in masses]
    return make_problem(
        [[2, 0], [0, 1]], frames, [[0, 0, 0, 0, 0, -1], [*tilt, *(-tilt)]], friction,
        [*([1 / m, 1 / j, 0, 0, 1 / j, 0, 1 / j] for m, j in zip(masses, inertias, strict=True)),
         [0] * 7],
        [*([*v, *w] for v, w in zip(velocities, spins, strict=True)), [0] * 6],
    )  # fmt: skip


def random_problem(rng, bodies, contacts):
    """Contacts of random pairs of bodies, no pair twice, with random frames and arms.

    The free velocities are such that the contacts approach or part at about 1 m/s and slide at
    3 mm/s to 1 m/s: some stick even where friction is low.
    """
    pairs = [(a, b) for a in range(bodies + 1) for b in range(a)]
    body = [rng.permutation(pairs[k]) for k in rng.permutation(len(pairs))[:contacts]]
    contacts = len(body)
    frame = [np.linalg.qr(rng.normal(size=(3, 3)))[0].T.ravel() for _ in range(contacts)]
    mass = [inverse_mass(*10 ** rng.uniform(-0.3, 0.3, 2)) for _ in range(bodies)]
    arm = rng.uniform(-0.3, 0.3, (contacts, 6))
    friction = rng.uniform(0.1, 1.0, contacts)
    still = np.zeros((bodies + 1, 6))
    problem = make_problem(body, frame, arm, friction, [*mass, [0] * 7], still)
    q = rng.normal(size=(contacts, 3))
    q[:, 0] -= 0.5
    q[:, 1:] *= 10 ** rng.uniform(-2.5, 0, (contacts, 1))
    moving = problem.jacobian().toarray()[:, :-6]
    problem.free[:-1] = (np.linalg.pinv(moving) @ q.ravel()).reshape(-1, 6)
    return problem


def scaled_matrix(problem):
    """W with every contact divided by the mean of its own diagonal, dense."""
    block = problem.blocks()
    scale = np.repeat(np.sqrt(3.0 / (block[:, 0] + block[:, 3] + block[:, 5])), 3)
    return scale[:, None] * problem.W().toarray() * scale[None, :]


def coupling(problem):
    """Below 1 Coulomb's law has one answer.

    It is a complementarity problem on the friction cones for F(p) = u + mu |u_t| n, u = W p + q.
    For two impulses that differ by d,

        d . (F - F') >= d . W d - sum over contacts of mu |(W d)_t| |d_n|

    and the sum is at most s (d . W d) by Cauchy and Schwarz, with

        s² = largest eigenvalue of mu W_tt mu  x  largest eigenvalue of (W^-1)_nn.

    With s < 1 and W of full rank F is strongly monotone and the answer unique. The lengths of p
    and u may be scaled contact by contact first: scaled_matrix().
    """
    matrix = scaled_matrix(problem)
    if np.linalg.matrix_rank(matrix) < len(matrix):
        return np.inf
    normal = np.arange(len(matrix)) % 3 == 0
    mu = np.repeat(problem.friction, 2)
    tangents = mu[:, None] * matrix[np.ix_(~normal, ~normal)] * mu[None, :]
    inverse = np.linalg.inv(matrix)[np.ix_(normal, normal)]
    return float(np.sqrt(np.linalg.eigvalsh(tangents)[-1] * np.linalg.eigvalsh(inverse)[-1]))


def unique_problem(rng, bodies=3, contacts=4, share=0.9):
    """A random problem with one answer: coupling() is at most `share` of what it may be.

    Of full rank, and well enough conditioned (100) that a residual of 1e-10 m/s means
    velocities to 1e-6 m/s: the error is at most about condition / (1 - coupling) times it.
    """
    while True:
        problem = random_problem(rng, bodies, contacts)
        if np.linalg.cond(scaled_matrix(problem)) < 100.0:
            problem.friction[:] *= min(1.0, share / coupling(problem))
            return problem


def gauss_seidel_pyramid(problem, sweeps):
    """Impulses (nc, 3) of the pyramid law by the slow obvious method: one row at a time."""
    matrix, q = problem.W().toarray(), problem.q().ravel()
    p = np.zeros(len(q))
    for _ in range(sweeps):
        for i in range(len(p)):
            wish = p[i] - (matrix[i] @ p + q[i]) / matrix[i, i]
            bound = problem.friction[i // 3] * p[i - i % 3]
            p[i] = max(0.0, wish) if i % 3 == 0 else np.clip(wish, -bound, bound)
    return p.reshape(-1, 3)

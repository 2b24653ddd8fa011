"""Forces that act on bodies beside gravity: one file each. Read apply.py for how a step uses them.

To add a force:
    1. forces/<name>.py: its class with the fields that a user gives and _numbers() that kernels
       read, its kind (the next free number), and its kernel, gradient and energy
    2. forces/dispatch.py: its kernel in fill_forces(), its gradient and energy in the two tables
    3. FORCES below: it can then be added to worlds, saved and recorded
    4. drystone/__init__.py: its public name
"""

from drystone.forces.attractor import Attractor, Repulsor
from drystone.forces.damper import Damper
from drystone.forces.drag import Drag
from drystone.forces.spring import Spring
from drystone.forces.user_force import Force
from drystone.model.signatures import public

FORCES = {
    "Spring": Spring,
    "Damper": Damper,
    "Drag": Drag,
    "Attractor": Attractor,
    "Repulsor": Repulsor,
    "Force": Force,
}
for _force in FORCES.values():
    public(_force)

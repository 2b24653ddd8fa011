"""Every error that a user can cause."""


class DrystoneError(Exception):
    """Base of all errors that Drystone raises on purpose."""


class InputError(DrystoneError, ValueError):
    """A value, file or setting that cannot be used; the message names it and the fix."""


class ArgumentError(InputError, TypeError):
    """An argument that is not there, is missing or was given twice: a TypeError too."""


class AttributeMistake(InputError, AttributeError):  # noqa: N818  reads better in a traceback
    """An attribute that is not there or cannot be set: an AttributeError too."""


class UnsupportedFeature(DrystoneError, NotImplementedError):  # noqa: N818  a fixed public name
    """The chosen solver or stepper cannot honour something in the world."""


class SimulationError(DrystoneError, RuntimeError):
    """A step failed; the message names the step and the body, and where the checkpoint lies."""


class NotConvergedWarning(RuntimeWarning):
    """A step's contact solve stopped before it reached the tolerance."""

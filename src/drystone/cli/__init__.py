"""The command line, one file a command."""

from drystone.cli.commands import app

__all__ = ["app"]

"""All families of cases by name."""

from drystone.bench.fuzz import (
    arguments,
    files,
    jointed_worlds,
    linked_meshes,
    rockfall_files,
    worlds,
)
from drystone.bench.fuzz.case import Family

FAMILIES: dict[str, Family] = {
    "arguments": arguments.FAMILY,
    "worlds": worlds.FAMILY,
    "joints": jointed_worlds.FAMILY,
    "meshes": linked_meshes.FAMILY,
    "files": files.FAMILY,
    "rockfall": rockfall_files.FAMILY,
}

"""Robot files: which reader takes a file, and what is wrong with one that none can read."""

from pathlib import Path
from xml.etree import ElementTree

from drystone.errors import InputError
from drystone.model.checks import choice, shown
from drystone.model.files import as_path


def load_robot(path, base: str = "fixed", packages: dict | None = None, meshes: str = "hull"):
    """See Robot.load()."""
    path = as_path(path, "robot")
    choice("base", base, ("fixed", "free"))
    choice("meshes", meshes, ("hull", "exact"))
    if packages is not None and not isinstance(packages, dict):
        raise InputError(f"packages is {shown(packages)}, must be a dict of name: folder.")
    root = read_xml(path)
    if root.tag == "robot":
        from drystone.world.robots.urdf import read_urdf

        return read_urdf(root, path, base, packages or {}, meshes)
    if root.tag == "mujoco":
        from drystone.world.robots.mjcf import read_mjcf

        return read_mjcf(path, meshes)
    raise InputError(
        f"{path.name}: its first element is <{root.tag}>; a URDF begins with <robot>, an MJCF "
        f"with <mujoco>."
    )


def read_xml(path: Path) -> ElementTree.Element:
    """The root of an XML file."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file.")
    if path.is_dir():
        raise InputError(f"{path}: is a folder, must be a URDF or MJCF file.")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path.name}: cannot be read ({error.strerror}).") from None
    if not content.strip():
        raise InputError(f"{path.name}: is empty.")
    try:
        return ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        line, _ = error.position
        raise InputError(
            f"{path.name}: is no XML, or a broken one: {error.msg.split(':')[0]} in line {line}."
        ) from None
    except (ValueError, LookupError) as error:
        raise InputError(f"{path.name}: is no XML that can be read ({error}).") from None

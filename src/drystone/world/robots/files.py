"""Robot files: which reader takes a file, and what is wrong with one that none can read."""

from drystone.errors import InputError
from drystone.model.checks import choice, shown
from drystone.model.files import as_path
from drystone.world.robots.xml_files import read_xml


def load_robot(path, base: str, packages: dict | None, meshes: str):
    """See Robot.load()."""
    path = as_path(path, "robot")
    choice("base", base, ("fixed", "free"))
    choice("meshes", meshes, ("hull", "exact"))
    if packages is not None and not isinstance(packages, dict):
        raise InputError(f"packages is {shown(packages)}, must be a dict of name: folder.")
    packages = {name: as_path(folder, "packages") for name, folder in (packages or {}).items()}
    root = read_xml(path)
    if root.tag == "robot":
        from drystone.world.robots.urdf import read_urdf

        return read_urdf(root, path, base, packages, meshes)
    if root.tag == "mujoco":
        from drystone.world.robots.mjcf import read_mjcf

        return read_mjcf(path, meshes)
    raise InputError(
        f"{path.name}: its first element is <{root.tag}>; a URDF begins with <robot>, an MJCF "
        f"with <mujoco>."
    )

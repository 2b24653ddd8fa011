"""XML files: their root element, or one sentence."""

from pathlib import Path
from xml.etree import ElementTree

from drystone.errors import InputError
from drystone.model.files import read_file


def read_xml(path: Path) -> ElementTree.Element:
    """The root of an XML file."""
    content = read_file(path, "robot")
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

"""From the text of a study file to its models, and from pydantic's findings to sentences."""

import tomllib
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from drystone.errors import InputError
from drystone.model.checks import did_you_mean
from drystone.rockfall.input_files import is_file, read_utf8
from drystone.rockfall.study.schema import StudyFile


def read_study_file(path: Path) -> StudyFile:
    if not is_file(path):
        raise InputError(f"There is no study file {path}. Make one: drystone rockfall new DIR")
    text = read_utf8(path)
    try:
        table = tomllib.loads(text)
    except ValueError as error:  # also of integers with thousands of digits
        raise InputError(f"{path.name} is not TOML: {str(error).rstrip('.')}.") from None
    except RecursionError:
        raise InputError(f"{path.name}: its brackets are nested too deep for a study.") from None
    return check_table(table, path.name)


def check_table(table: dict, name: str) -> StudyFile:
    """The models of a table; an error names every wrong entry, a line for each."""
    if not isinstance(table, dict):
        raise InputError(f"{name} is {_shown(table)}, must be a dict with the parts of a study.")
    try:
        return StudyFile.model_validate(table)
    except RecursionError:
        raise InputError(f"{name}: its entries are nested too deep for a study.") from None
    except ValidationError as error:
        entries = error.errors()
        meant = {_meant(entry) for entry in entries}
        # An entry that is there under a wrong name is not missing as well.
        told = [e for e in entries if e["type"] != "missing" or tuple(e["loc"]) not in meant]
        sentences = dict.fromkeys(_explain(name, entry) for entry in told)
        raise InputError("\n".join(sentences)) from None


def _meant(entry: dict) -> tuple | None:
    """Place of the entry that an unknown one probably stands for."""
    if entry["type"] != "extra_forbidden":
        return None
    *where, key = entry["loc"]
    model = _model_at(StudyFile, [part for part in where if not _is_branch(part)])
    guess = get_close_matches(str(key), _names(model), n=1)
    return (*where, *guess)


def _explain(name: str, entry: dict) -> str:
    loc = [key for key in entry["loc"] if not _is_branch(key)]
    where = f"{name}: {_path(loc)}"
    if entry["type"] == "extra_forbidden":
        model = _model_at(StudyFile, loc[:-1])
        return f"{where}: no such entry. {did_you_mean(loc[-1], _names(model))}"
    if entry["type"] == "missing":
        return f"{where} is missing. Give it in the study file."
    if entry["type"] == "value_error":
        sentence = str(entry["ctx"]["error"])
        return f"{where} {sentence}" if loc else f"{name}: {sentence}"
    return f"{where}: {_lower(entry['msg'])}, but is {_shown(entry['input'])}."


def _is_branch(key) -> bool:
    """Pydantic adds to the place which member of a union it tried."""
    return isinstance(key, str) and ("[" in key or key in ("str", "int", "float", "bool"))


def _path(loc: list) -> str:
    text = ""
    for key in loc:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else str(key)
    return text


def _names(model) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_at(model, loc: list):
    """The model that holds the entries at a place."""
    kind = model
    for key in loc:
        kind = _plain(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            by_alias = {f.alias or name: f for name, f in kind.model_fields.items()}
            kind = (by_alias.get(key) or kind.model_fields[key]).annotation
        else:
            kind = get_args(kind)[-1]  # of list[X] and dict[str, X]
    return _plain(kind)


def _plain(kind):
    """Of an optional type the type."""
    if get_origin(kind) in (Union, UnionType):
        return next(arg for arg in get_args(kind) if arg is not type(None))
    return kind


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _shown(value) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits
        return "a value that cannot be shown"
    return text if len(text) <= 60 else text[:57] + "..."

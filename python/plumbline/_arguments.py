"""Arguments as the texts of the command line's flags."""
import inspect
import numbers
import os

from . import _native
from ._errors import InputError, argument_name, flag_name


def text_of(value):
    """`True` is on, 8.0 is 8, a list is a,b,c, a dict is key=value,... with a|b for a list."""
    if isinstance(value, dict):
        return ",".join(f"{key}={text_of(one).replace(',', '|')}" for key, one in value.items())
    if isinstance(value, (list, tuple, range, set, frozenset)):
        return ",".join(text_of(one) for one in value)
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "on" if value else "off"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return os.fsdecode(os.fspath(value)) if isinstance(value, (str, bytes, os.PathLike)) else str(value)


def given(arguments):
    """By the flags' names. What is None was not given."""
    return {flag_name(name): text_of(value) for name, value in arguments.items() if value is not None}


def named_files(files):
    """One name or several."""
    if files is None:
        return []
    return [text_of(one) for one in ([files] if isinstance(files, (str, bytes, os.PathLike)) else files)]


def source(plan=None, launch_files=None):
    """A plan as an object of this module or as a file, or launch files."""
    handle = getattr(plan, "_handle", None)
    if isinstance(handle, _native.PricedPlan):
        return _native.Source(plan=handle, launch_files=named_files(launch_files))
    if plan is not None and not isinstance(plan, (str, bytes, os.PathLike)):
        raise InputError("--plan", f"is a {type(plan).__name__}", "a plan, or the name of its file")
    return _native.Source(plan_file=None if plan is None else text_of(plan), launch_files=named_files(launch_files))


def signed(function, *own):
    """Gives a function that takes **arguments the signature that help() and completion show; `own`: names of its own."""
    before = [p for p in inspect.signature(function).parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    known = {p.name for p in before}
    names = [argument_name(option["flag"]) for option in _native.options(function.__name__)]
    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
            for name in dict.fromkeys(names + list(own)) if name not in known]
    function.__signature__ = inspect.Signature(before + more)
    return function

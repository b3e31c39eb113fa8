#!/usr/bin/env python3
"""Writes the stub that the package ships, from a template that names neither the flags of a function nor the axes of a
strategy: both are asked of the module that was built.

Usage: make_stub.py TEMPLATE PACKAGE_FOLDER   writes PACKAGE_FOLDER/__init__.pyi

A function's `**arguments: Any` becomes its flags that the template does not type, a line of three dots in a class the
keys of the axes.
"""
import pathlib
import re
import sys

from stub_types import AXIS_KEYS, argument_type

FUNCTION = re.compile(r"^def (\w+)\(([^()]*), \*\*arguments: Any\)", re.MULTILINE)
AXES = re.compile(r"^    \.\.\.  # the keys of its axes\n", re.MULTILINE)


def with_arguments(template, flag_types, argument_name):
    def signature(found):
        name, own = found.groups()
        typed = set(re.findall(r"(\w+):", own))
        lines = []
        for flag, kind in flag_types(name):
            argument = argument_name(flag)
            if argument in typed:
                continue
            if not kind:
                sys.exit(f"make_stub: {name}: {argument} has no type; expected one in the template")
            lines.append(f"    {argument}: {kind} | None = ...,\n")
        return f"def {name}({own},\n{''.join(lines)})"

    stub = FUNCTION.sub(signature, template)
    if "**arguments" in stub:
        sys.exit("make_stub: a function of the template is not read; expected 'def NAME(OWN, **arguments: Any)'")
    return stub


def with_keys(template, keys):
    stub, places = AXES.subn("".join(f"    {key}: {kind}\n" for key, kind in keys), template)
    if places != 1:
        sys.exit(f"make_stub: the keys of the axes have {places} places in the template; expected one")
    return stub


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    template, package = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(package.parent))
    from plumbline import _native
    from plumbline._errors import argument_name

    def flag_types(function):
        return [(option["flag"], argument_type(option)) for option in _native.options(function)]

    stub = with_arguments(template.read_text(encoding="utf-8"), flag_types, argument_name)
    stub = with_keys(stub, [(key, AXIS_KEYS[kind]) for key, kind in _native.strategy_keys()])
    (package / "__init__.pyi").write_text(stub, encoding="utf-8")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Counts the methods of classes, public and private; test_class_methods.py holds the most.

Usage: class_methods.py <repository root>
Member functions and operators count, overloads each; constructors, destructors, what is deleted or defaulted, and what
nested classes have do not. Reads headers and sources as text: it knows no macros and needs no compiler.
"""
import pathlib
import re
import sys

FOLDERS = ("core", "kernels", "models", "planner", "runtime", "jobs", "cli", "gui", "capi", "python", "tests", "bench")
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#[^\n]*',
                   re.DOTALL | re.MULTILINE)
LABEL = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")
ATTRIBUTE = re.compile(r"\[\[.*?\]\]")
CLASS = re.compile(r"(?<!enum )\b(?:class|struct|union)\s+(?:alignas\(\w+\)\s*)?(\w+)[^()=]*$")
SYMBOL_OPERATOR = re.compile(r"\boperator\s*(?:\(\)|\[\]|[^\w\s(]+)")
METHOD = re.compile(r"^[^=(]*?(~?\w+)\s*\((?!\*)")


def without_templates(text):
    """Of a declaration: no parameters and arguments of templates."""
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>]*>", " ", text)
    return text


def method_name(declaration, of_class):
    """Of a member function that counts, or None."""
    text = SYMBOL_OPERATOR.sub("operator_symbol", ATTRIBUTE.sub("", LABEL.sub("", declaration)))
    text = without_templates(text).strip()
    if not re.match(r"[\w:]", text):  # the rest of a constructor's initialisers
        return None
    if re.match(r"(?:template\s+)?(?:friend|using|typedef|static_assert|requires)\b", text):
        return None
    if re.search(r"=\s*(?:default|delete)\s*$", text):
        return None
    found = METHOD.match(text)
    if not found or found.group(1).startswith("~") or found.group(1) in (of_class, "decltype", "alignas", "noexcept"):
        return None
    return found.group(1)


def methods(source):
    """Pairs of a class and the names of its methods, in order of the classes' beginnings."""
    classes = []
    scopes = []  # the class's place in `classes`, or None
    pending = ""
    parentheses = 0

    def count():
        if scopes and scopes[-1] is not None:
            of_class, names = classes[scopes[-1]]
            name = method_name(pending, of_class)
            if name:
                names.append(name)

    for character in NOISE.sub(" ", source):
        parentheses += {"(": 1, ")": -1}.get(character, 0)
        if parentheses > 0 or character not in "{};":
            pending += character
            continue
        if character == "{":
            opened = CLASS.search(without_templates(ATTRIBUTE.sub("", pending)))
            if opened:
                classes.append((opened.group(1), []))
            else:
                count()
            scopes.append(len(classes) - 1 if opened else None)
        elif character == ";":
            count()
        elif scopes:
            scopes.pop()
        pending = ""
    return classes


def counts_of(root):
    """Triples of number, class and file over the whole tree, most first."""
    counts = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                for name, found in methods(path.read_text(encoding="utf-8")):
                    counts.append((len(found), name, path.relative_to(root).as_posix()))
    return sorted(counts, reverse=True)


def main():
    counts = counts_of(pathlib.Path(sys.argv[1]))
    print(f"{len(counts)} classes; those with most methods:")
    for number, name, path in counts[:10]:
        print(f"{number:4} {name} ({path})")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Lists functions that headers of the product declare and no file of the product calls.

Usage: unused_exports.py <repository root>. Prints each with its header and who uses it at all; exits 1 if any.

What only tests call is no part of the product: it belongs to the tests, or goes. Free functions and public, protected
and private methods count; constructors, operators and what a base class calls (virtual, override) do not. Reads headers
and sources as text, by name: functions of one name count together, and a mention anywhere in the product but in
declarations and definitions of that name is a use. A function that calls itself does not use itself.
"""
import pathlib
import re
import sys

FOLDERS = ("core", "kernels", "models", "planner", "runtime", "jobs", "cli", "gui", "capi", "python")
OTHERS = ("tests", "bench")
# What it declares is for programs of others.
INTERFACE = "capi/plumbline.h"
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
                   re.DOTALL)
ATTRIBUTE = re.compile(r"\[\[.*?\]\]")
TOKEN = re.compile(r"[A-Za-z_]\w*|::|\S")
WORD = re.compile(r"[A-Za-z_]\w*")
NO_FUNCTION = {"if", "for", "while", "switch", "return", "sizeof", "alignas", "alignof", "decltype", "noexcept", "operator",
               "static_assert", "requires", "void", "int", "bool", "double", "float", "char", "auto", "catch", "explicit",
               "defined", "typedef", "using", "friend"}


class Source:
    """Of one file: functions that it declares in namespaces and classes, and words that it uses."""

    def __init__(self, text):
        self.declared = set()
        self.used = set()
        text = NOISE.sub(" ", text)
        for directive in DIRECTIVE.findall(text):
            self.used.update(WORD.findall(directive))
        self.read(TOKEN.findall(ATTRIBUTE.sub(" ", DIRECTIVE.sub(" ", text))))

    def read(self, tokens):
        scopes = []  # "outer" (a namespace), the class's name, or None (a body)
        functions = []  # whose bodies are open, by scope
        pending = []
        parentheses = 0
        for token in tokens:
            parentheses += {"(": 1, ")": -1}.get(token, 0)
            is_body = bool(scopes) and scopes[-1] is None
            if token not in "{};" or (parentheses > 0 and not is_body):
                pending.append(token)
                continue
            name = None if is_body else self.take(pending, scopes[-1] if scopes else "outer")
            if is_body:
                self.used.update(word for word in pending if word not in functions)
            if token == "{":
                scopes.append(None if is_body else scope_of(pending))
                functions.append(name)
            elif token == "}" and scopes:
                scopes.pop()
                functions.pop()
            pending = []
            if token == "{":
                parentheses = 0

    def take(self, declaration, of_class):
        """The function that it declares, or None; what else it names is used."""
        name = declared_function(declaration, of_class)
        words = list(declaration)
        if name:
            words.remove(name)
            if not {"virtual", "override", "final", "operator"} & set(declaration):
                self.declared.add(name)
        self.used.update(words)
        return name


def scope_of(declaration):
    if not declaration or declaration[0] in ("namespace", "extern") or declaration[:2] == ["inline", "namespace"]:
        return "outer"
    words = without_templates(declaration)
    if "(" not in words and "=" not in words and {"class", "struct", "union"} & set(words) and "enum" not in words:
        at = next(i for i, word in enumerate(words) if word in ("class", "struct", "union"))
        return next((word for word in words[at + 1:] if WORD.match(word)), "")
    return None


def without_templates(declaration):
    kept, depth = [], 0
    for token in declaration:
        depth += {"<": 1, ">": -1}.get(token, 0)
        if depth <= 0 and token != ">":
            kept.append(token)
        depth = max(depth, 0)
    return kept


def declared_function(declaration, of_class):
    words = without_templates(declaration)
    while len(words) > 1 and words[0] in ("public", "private", "protected", "signals", "slots", ":", "Q_OBJECT"):
        words = words[1:]
    if "(" not in words or not words or words[0] in ("using", "typedef", "friend", "static_assert", "namespace"):
        return None
    at = words.index("(")
    if "=" in words[:at] or "operator" in words[:at] or at < 2:  # a value; an operator; a constructor or a macro
        return None
    name = words[at - 1]
    if not WORD.match(name) or name in NO_FUNCTION or name == of_class or name.isupper() or name.startswith("__"):
        return None
    if words[at - 2] == "~" or (words[at - 2] == "::" and at > 2 and words[at - 3] == name):
        return None
    return name


def sources(root, folders):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path, path.read_text(encoding="utf-8")


def unused_exports(root):
    """Triples of header, name and whether tests or benchmarks use it."""
    declared = []
    used = set()
    for path, text in sources(root, FOLDERS):
        source = Source(text)
        used |= source.used
        if path.suffix in (".h", ".cuh") and path != root / INTERFACE:
            declared += [(path.relative_to(root).as_posix(), name) for name in source.declared]
    unused = [(header, name) for header, name in declared if name not in used]
    names = {name for _, name in unused}
    tested = set()
    for _, text in sources(root, OTHERS):
        tested |= names & set(WORD.findall(NOISE.sub(" ", text)))
    return sorted((header, name, name in tested) for header, name in unused)


def main():
    found = unused_exports(pathlib.Path(sys.argv[1]).resolve())
    for header, name, is_tested in found:
        print(f"{header}: {name}: {'only tests use it' if is_tested else 'nobody uses it'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Python sources as data: classes, their fields, arguments of functions and of argparse, without importing anything.

What a key may hold is said as argparse or an annotation says it: "int", "float", "str", "flag", "bool", "list", another
type's name, or the list of its choices. "any" where nothing is said.
"""
import ast
import pathlib
import tarfile
import zipfile

PLAIN = {"int", "float", "str", "bool", "dict"}
LISTS = {"list", "List", "tuple", "Tuple", "Sequence", "Iterable"}
NO_VALUE = (None, "NoneType")


def read_sources(place):
    """Path to text of every Python file of a folder, a wheel or an archive."""
    path = pathlib.Path(place)
    if path.is_dir():
        return {str(one.relative_to(path)): one.read_text("utf-8", "replace") for one in sorted(path.rglob("*.py"))}
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return {n: archive.read(n).decode("utf-8", "replace") for n in archive.namelist() if n.endswith(".py")}
    with tarfile.open(path) as archive:
        members = [m for m in archive.getmembers() if m.isfile() and m.name.endswith(".py")]
        return {m.name: archive.extractfile(m).read().decode("utf-8", "replace") for m in members}


def dotted(node):
    """"a.b.c" of names and attributes; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}" if dotted(node.value) else ""
    return ""


def literal(node, otherwise=None):
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return otherwise


def last_of(name):
    return name.rsplit(".", 1)[-1]


def keyword(call, name):
    return next((one.value for one in call.keywords if one.arg == name), None)


class Sources:
    """The files of a release. A class that is neither in the file that names it nor in the one that this imports it from
    is looked up by its name in all of them; of several the one with the shortest path counts, which is no example's."""

    def __init__(self, places):
        self.texts = {}
        for place in places:
            self.texts.update(read_sources(place))
        self.trees = {}
        self.where = {}

    def tree(self, path):
        if path not in self.trees:
            self.trees[path] = ast.parse(self.texts[path])
        return self.trees[path]

    def file(self, ending):
        found = sorted((p for p in self.texts if p == ending or p.endswith("/" + ending)), key=lambda p: (p.count("/"), p))
        if not found:
            raise SystemExit(f"framework_keys.py: no file {ending} in the sources")
        return found[0]

    def class_in(self, path, name):
        """The class with a dotted name in a file: (path, node) or None."""
        body = self.tree(path).body
        node = None
        for part in name.split("."):
            node = next((n for n in body if isinstance(n, ast.ClassDef) and n.name == part), None)
            if node is None:
                return None
            body = node.body
        return path, node

    def module(self, node, beside):
        """The file that an import is from, where the sources have it."""
        above = beside.split("/")[: -node.level] if node.level else []
        ending = "/".join(above + (node.module.split(".") if node.module else []))
        endings = (f"{ending}.py", f"{ending}/__init__.py")
        return next((p for p in self.texts if p in endings or p.endswith(tuple("/" + one for one in endings))), None)

    def imported(self, name, beside, depth=4):
        """The class that a file imports by the name, through packages that only hand it on; else None and its own name."""
        first, _, rest = name.partition(".")
        for node in ast.walk(self.tree(beside)):
            for one in node.names if isinstance(node, ast.ImportFrom) else ():
                if (one.asname or one.name) != first:
                    continue
                own = one.name + ("." + rest if rest else "")
                file = self.module(node, beside)
                found = file and file != beside and self.class_in(file, own)
                if not found and file and file != beside and depth > 0:
                    return self.imported(own, file, depth - 1)
                return found or None, own
        return None, name

    def class_named(self, name, beside, of_another=False):
        """The same, from the file that names it. `of_another`: not the one of this name in that file."""
        if not name:
            return None
        inside = None if of_another else self.class_in(beside, name)
        found, name = (inside, name) if inside else self.imported(name, beside)
        if found or of_another:
            return found
        if name not in self.where:
            first = name.split(".", 1)[0]
            paths = [p for p, text in self.texts.items() if f"class {first}" in text]
            found = [self.class_in(p, name) for p in sorted(paths, key=lambda p: (p.count("/"), p))]
            self.where[name] = next((one for one in found if one), None)
        return self.where[name]

    def bases(self, path, node):
        found = [self.class_named(dotted(base), path, dotted(base) == node.name) for base in node.bases]
        return [one for one in found if one and one[1] is not node]

    def fields(self, path, node):
        """Name to (path, annotation, default) of a class with what it inherits; its own come last."""
        all_fields = {}
        for base in self.bases(path, node):
            all_fields.update(self.fields(*base))
        for one in node.body:
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                all_fields[one.target.id] = (path, one.annotation, one.value)
        return all_fields

    def enum_members(self, name, beside):
        found = self.class_named(name, beside)
        if not found or not any("Enum" in last_of(dotted(base)) for base in found[1].bases):
            return None
        return [t.id for n in found[1].body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)]

    def kind(self, annotation, path):
        """What an annotation lets a key hold."""
        if annotation is None:
            return "any"
        if isinstance(annotation, ast.Constant):
            return self.kind(ast.parse(annotation.value).body[0].value, path) if isinstance(annotation.value, str) else None
        if isinstance(annotation, ast.BinOp):
            return self.union([annotation.left, annotation.right], path)
        if isinstance(annotation, ast.Subscript):
            return self.subscripted(annotation, path)
        name = dotted(annotation)
        members = None if name in PLAIN else self.enum_members(name, path)
        return members or ("list" if name in LISTS else last_of(name) or "any")

    def subscripted(self, annotation, path):
        name = last_of(dotted(annotation.value))
        inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        if name == "Literal":
            return [one.value for one in inner if isinstance(one, ast.Constant)]
        if name in ("Union", "Optional"):
            return self.union(inner, path)
        if name in ("Annotated", "Final", "ClassVar"):
            return self.kind(inner[0], path)
        return "list" if name in LISTS else "dict" if name in ("dict", "Dict") else name

    def union(self, parts, path):
        kinds = [one for one in (self.kind(part, path) for part in parts) if one not in NO_VALUE]
        if all(isinstance(one, list) for one in kinds):
            return sum(kinds, [])
        names = [one if isinstance(one, str) else "str" for one in kinds]
        return " | ".join(dict.fromkeys(" | ".join(names).split(" | "))) if len(kinds) > 1 else kinds[0]

    def function(self, path, name):
        """A function, or the __init__ of a class, by its dotted name."""
        found = self.class_in(path, name)
        while found:
            made = next((n for n in found[1].body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
            if made:
                return path, made
            above = self.bases(*found)
            found = above[0] if above else None
            path = found[0] if found else path
        functions = [n for n in ast.walk(self.tree(path)) if isinstance(n, ast.FunctionDef) and n.name == name]
        if not functions:
            raise SystemExit(f"framework_keys.py: no function or class {name} in {path}")
        return path, functions[-1]  # behind overloads

    def arguments(self, path, name):
        """Name to kind of what a function takes by name."""
        path, node = self.function(path, name)
        taken = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        return {one.arg: self.kind(one.annotation, path) for one in taken if one.arg not in ("self", "cls")}

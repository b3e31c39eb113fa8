"""The types of arguments and of a strategy's keys, as the package's stub spells them.

The words that help shows for a value say its kind, "N" a count, MODEL the name of a file. Words that have no type here
are our bug, so that no argument is without one. Checked against: tests/python/surface_test.py.
"""
COUNT, AMOUNT, PATH, LIST, BOOL, TEXT = "_Count", "_Amount", "_Path", "_List", "bool", "str"
# By the words for values.
VALUES = {
    "": BOOL,
    "on|off": BOOL,
    "N": COUNT,
    "N,N,...": LIST,
    "PARTS": LIST,
    "MODEL": PATH,
    "MACHINE": PATH,
    "STACK": PATH,
    "FILE": PATH,
    "DOLLARS": AMOUNT,
    "DAYS": AMOUNT,
    "RATIO": AMOUNT,
    "GRAMS": AMOUNT,
    "SHARE|SIZE": AMOUNT,
    "R": AMOUNT,
    "X": AMOUNT,
    "V": AMOUNT,
    "T": AMOUNT,
    "NORM": AMOUNT,
    "FACTOR": AMOUNT,
    "SHARE": AMOUNT,
    "DIR": PATH,
    "HOST:PORT|FOLDER": TEXT,
    "FORMAT": TEXT,
    "SHAPE": TEXT,
    "HOW": TEXT,
    "WHO": TEXT,
    "TEXT": TEXT,
    "NAME,...": LIST,
    "TIME": TEXT,
    "NAME": TEXT,
    "NAME=N": "str | Mapping[str, int]",
    "STAGE=X,...": "str | Mapping[int, float]",
    "AXES": "str | Mapping[str, object]",
}
# Of axes: what an argument takes, and what an answer holds.
AXIS_ARGUMENTS = {"number": COUNT, "toggle": BOOL, "layers": LIST, "choice": TEXT, "recompute": TEXT}
AXIS_KEYS = {"number": "int", "toggle": "bool", "layers": "list[int] | None", "choice": "str", "recompute": "str"}


def type_of_values(values):
    if values in VALUES:
        return VALUES[values]
    if any("A" <= letter <= "Z" for letter in values):
        raise SystemExit(f"stub_types: the words {values!r} have no type; expected a row of VALUES")
    return TEXT


def argument_type(option):
    """Of an option as plumbline_verbs says it; empty: the template types it."""
    if option["input"]:
        return ""
    if option["kind"]:
        return AXIS_ARGUMENTS[option["kind"]]
    one = AMOUNT if option["large"] else type_of_values(option["values"])
    if not option["several"]:
        return one
    if one == BOOL:
        return "bool | _List"
    return "_Path | Sequence[_Path]" if one == PATH else LIST

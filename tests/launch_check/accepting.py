"""What the programs share that let a framework read exported files: accept_*.py MANIFEST, in the framework's environment.

MANIFEST is a list of {"folder", "expected"}; one JSON object goes to standard output: {"release", "verdicts"}, a verdict being
"accepted" or why not, in one line.
"""
import contextlib
import io
import json
import pathlib
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]


def equal(what, found, wanted):
    """Raises where the framework came to something else than the plan."""
    if found != wanted:
        raise ValueError(f"{what} is {found}, planned {wanted}")


def equal_degrees(expected, found):
    """Names of the plan's keys to what the framework came to."""
    for key, value in found.items():
        equal(key, value, expected[key])


def verdict_of(check, one):
    told = io.StringIO()
    try:
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            check(pathlib.Path(one["folder"]), one["expected"])
    except (Exception, SystemExit) as problem:  # whatever a framework raises is its verdict
        said = str(problem).strip() or told.getvalue().strip().rsplit("\n", 1)[-1]
        if isinstance(problem, SystemExit):
            said = told.getvalue().strip().rsplit("\n", 1)[-1]
        return f"{type(problem).__name__}: {' '.join(said.split())[:300]}"
    return "accepted"


def judge(release, check):
    warnings.simplefilter("ignore")
    manifest = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    print(json.dumps({"release": release, "verdicts": [verdict_of(check, one) for one in manifest]}))

"""Which training configuration to launch on GPUs, whether it fits, and what it costs.

    import plumbline
    assert plumbline.fit(model="llama-3-8b", machine="dgx-h100", gpus=8, global_batch=64, tp=2, zero=1)

A function is a verb of the command `plan`, an argument is a flag of it: `seq_len=8192` is --seq-len 8192, `for_=` is
--for. Answers have the keys of the documented JSON as attributes; to_dict() gives it, to_rows() a table.
"""
import json
import sys

from . import _native
from ._arguments import given as _given
from ._arguments import named_files as _named_files
from ._arguments import signed as _signed
from ._arguments import source as _source
from ._arguments import text_of as _text_of
from ._errors import EnvironmentError, InputError, PlumblineWarning
from ._records import Record
from ._results import (Calibration, Catalogue, Change, Comparison, Entry, Explanation, Exported, Fit, FitLimits,
                       Imported, Plan, Run, Search, Simulation, Size, Validation)
from ._results import warned as _warned
from ._tables import Table

__version__ = _native.version()
__all__ = ["Calibration", "Catalogue", "Change", "Comparison", "Entry", "EnvironmentError", "Explanation", "Exported",
           "Fit", "FitLimits", "Imported", "InputError", "Plan", "PlumblineWarning", "Record", "Run", "Search",
           "Simulation", "Size", "Table", "Validation", "calibrate", "compare", "estimate", "explain", "export", "fit", "fit_limits",
           "import_files", "machines", "models", "run", "search", "simulate", "size", "stacks",
           "validate"]


def _hear(progress, phase, done, total, best_step_time_s, text):
    progress(phase, done, total, best_step_time_s)


def _reporter(progress):
    """A callable, or True for a line on standard error."""
    if progress is None or progress is False:
        return None
    if progress is not True:
        return lambda text: _hear(progress, **json.loads(text))

    def show(report):
        sys.stderr.write("\r\x1b[K" + report["text"])
        sys.stderr.flush()

    return lambda text: show(json.loads(text))


def _step_reporter(progress):
    """Of a run: a callable that takes steps, or True for a line on standard error."""
    if progress is None or progress is False:
        return None

    def show(step):
        loss = "none" if step.loss is None else f"{step.loss:.4f}"
        sys.stderr.write(f"\r\x1b[Kstep {step.step}, loss {loss}, {step.tokens_per_s:.0f} tokens/s, "
                         f"{step.time_left_s:.0f} s left")
        sys.stderr.flush()

    hear = show if progress is True else progress
    return lambda text: hear(Record(json.loads(text)))


def _followed(progress, work, reporter):
    """Work that reports to `progress`; a line of its own is taken away at the end."""
    try:
        return work(reporter(progress))
    finally:
        if progress is True:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _ask(kind, verb, arguments, progress=None, plan=None, import_=None, against=None, files=(), reporter=_reporter):
    """The answer of a verb as a `kind`, with a warning where Ctrl-C ended it."""
    inputs = _native.Inputs(_source(plan, import_), _source(against), _named_files(files))
    # What would make a plan fit is looked for when it is asked for.
    question = {**_given(arguments), **({"offers": False} if verb == "fit" else {})}
    handle, was_interrupted = _followed(progress, lambda report: _native.ask(verb, question, inputs, report), reporter)
    _warned(handle.warning)
    if was_interrupted:
        _warned("interrupted: what was found until then")
    return kind(handle)


def _use_case(name, kind, words):
    """The function of a use-case that flags alone ask."""
    def ask(*, progress=None, **arguments):
        return _ask(kind, name, arguments, progress)

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = words
    return _signed(ask)


@_signed
def estimate(*, plan=None, import_=None, **arguments):
    """Prices one strategy, fitting or not: step time, memory, communication, cost."""
    return _ask(lambda answer: Plan(answer.plans[0]), "estimate", arguments, plan=plan, import_=import_)


@_signed
def fit(*, plan=None, import_=None, **arguments):
    """Whether a strategy fits, and if not, the cheapest changes that make it fit. Without a batch: see fit_limits."""
    return _ask(lambda answer: Fit(answer.plans[0]), "fit", arguments, plan=plan, import_=import_)


fit_limits = _use_case("fit_limits", FitLimits, "The largest micro-batch, longest sequence, largest model of a family and fewest "
                                                "GPUs that fit.")


search = _use_case("search", Search, "Ranks the configurations of a question, best first. Ctrl-C or time_limit=\"30s\" end it with "
                                     "the best so far.")


size = _use_case("size", Size, "How many GPUs a run takes: days, dollars, energy, and how it scales. Needs tokens= or "
                               "samples=.")


@_signed
def explain(*, plan=None, import_=None, against=None, progress=None, **arguments):
    """Where the time and memory of a plan go, what binds, and what one change would do."""
    return _ask(Explanation, "explain", arguments, progress, plan, import_, against)


@_signed
def simulate(*, plan=None, import_=None, progress=None, **arguments):
    """One strategy lowered to its actions and simulated."""
    return _ask(Simulation, "simulate", arguments, progress, plan, import_)


@_signed
def import_files(*files, **arguments):
    """What launch files of one run ask for; from_= says whose they are: "megatron-lm", "deepspeed", ..."""
    if not files:
        raise InputError("files", "none is named", "launch files of one run")
    return _ask(Imported, "import_files", arguments, files=files)


@_signed
def validate(*files, progress=None, **arguments):
    """Predictions against measured runs: those of files (docs/rows.md), or the published ones."""
    return _ask(Validation, "validate", arguments, progress, files=files)


@_signed
def calibrate(*files, progress=None, **arguments):
    """A software stack fitted to one's own measured runs, for `stack=` once it is saved."""
    if not files:
        raise InputError("files", "none is named", "files of measured runs (docs/rows.md)")
    return _ask(Calibration, "calibrate", arguments, progress, files=files)


def export(plan, *, to, release="", strict=False):
    """A plan as launch files of a framework: to="megatron-lm", "deepspeed", ..."""
    return Exported(_native.export_plan(_source(plan), _text_of(to), _text_of(release)), strict)


def compare(plan, measured):
    """A plan against the record of its run (plan run --record)."""
    return _ask(Comparison, "compare", {}, plan=plan, files=[measured])


@_signed
def run(plan, *, progress=None, **arguments):
    """Trains what a plan says, on ranks that are threads of this process, and records what it did. Ctrl-C ends it behind
    a step. progress= is called with each step."""
    return _ask(Run, "run", arguments, progress, plan=plan, reporter=_step_reporter)


def _catalogue(name, entry):
    handle = _native.catalogue(name, None if entry is None else _text_of(entry))
    _warned(handle.warning)
    return Catalogue(handle) if entry is None else Entry(handle)


def models(name=None):
    """The networks that are known, or one of them."""
    return _catalogue("models", name)


def machines(name=None):
    """The machines that are known, or one of them."""
    return _catalogue("machines", name)


def stacks(name=None):
    """The software stacks that are known, or one of them."""
    return _catalogue("stacks", name)

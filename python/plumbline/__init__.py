"""Which training configuration to launch on GPUs, whether it fits, and what it costs.

    import plumbline
    assert plumbline.fit(model="llama-3-8b", machine="dgx-h100", gpus=8, global_batch=64, tp=2, zero=1)

A function is a verb of the command `plan`, an argument is a flag of it: `seq_len=8192` is --seq-len 8192, `for_=` is
--for. Answers have the keys of the documented JSON as attributes; to_dict() gives it, to_rows() a table.
"""
import sys

from . import _native
from ._arguments import given as _given
from ._arguments import named_files as _named_files
from ._arguments import signed as _signed
from ._arguments import source as _source
from ._arguments import text_of as _text_of
from ._errors import EnvironmentError, InputError, Remark
from ._records import Record
from ._results import (Calibration, Catalogue, Change, Comparison, Entry, Explanation, Exported, Fit, FitLimits,
                       Imported, Plan, Search, Simulation, Size, Validation)
from ._results import ended as _ended
from ._results import remarked as _remarked
from ._tables import Table

__version__ = _native.version()
__all__ = ["Calibration", "Catalogue", "Change", "Comparison", "Entry", "EnvironmentError", "Explanation", "Exported",
           "Fit", "FitLimits", "Imported", "InputError", "Plan", "Record", "Remark", "Search", "Simulation", "Size",
           "Table", "Validation", "calibrate", "compare", "estimate", "explain", "export", "fit", "fit_limits",
           "import_files", "machines", "models", "search", "simulate", "size", "stacks", "validate"]


def _reporter(progress):
    """A callable, or True for a line on standard error."""
    if progress is None or progress is False:
        return None
    if progress is not True:
        return progress

    def show(phase, done, total, best_step_time_s):
        sys.stderr.write("\r\x1b[K" + _native.progress_text(phase, done, total, best_step_time_s))
        sys.stderr.flush()

    return show


def _followed(progress, work):
    """Work that reports to `progress`; a line of its own is taken away at the end."""
    try:
        return work(_reporter(progress))
    finally:
        if progress is True:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _priced(kind, function, plan, import_, arguments):
    handle = _native.priced(function, _given(arguments), _source(plan, import_))
    _remarked(handle.remark)
    return kind(handle)


def _use_case(name, kind, words):
    """The function of a use-case that flags alone ask; its answer is a `kind`."""
    def ask(*, progress=None, **arguments):
        return _ended(kind, _followed(progress, lambda report: _native.ask(name, _given(arguments), report)))

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = words
    return _signed(ask)


@_signed
def estimate(*, plan=None, import_=None, **arguments):
    """Prices one strategy, fitting or not: step time, memory, communication, cost."""
    return _priced(Plan, "estimate", plan, import_, arguments)


@_signed
def fit(*, plan=None, import_=None, **arguments):
    """Whether a strategy fits, and if not, the cheapest changes that make it fit. Without a batch: see fit_limits."""
    return _priced(Fit, "fit", plan, import_, arguments)


fit_limits = _use_case("fit_limits", FitLimits, "The largest micro-batch, longest sequence, largest model of a family and fewest "
                                                "GPUs that fit.")


search = _use_case("search", Search, "Ranks the configurations of a question, best first. Ctrl-C or time_limit=\"30s\" end it with "
                                     "the best so far.")


size = _use_case("size", Size, "How many GPUs a run takes: days, dollars, energy, and how it scales. Needs tokens= or "
                               "samples=.")


@_signed
def explain(*, plan=None, import_=None, against=None, progress=None, **arguments):
    """Where the time and memory of a plan go, what binds, and what one change would do."""
    return _ended(Explanation, _followed(progress, lambda report: _native.explain(
        _given(arguments), _source(plan, import_), _source(against), report)))


@_signed
def simulate(*, plan=None, import_=None, progress=None, **arguments):
    """One strategy lowered to its actions and simulated."""
    return _ended(Simulation, _followed(progress, lambda report: _native.simulate(
        _given(arguments), _source(plan, import_), report)))


@_signed
def import_files(*files, **arguments):
    """What launch files of one run ask for; from_= says whose they are: "megatron-lm", "deepspeed", ..."""
    if not files:
        raise InputError("files", "none is named", "launch files of one run")
    return Imported(_native.import_files(_given(arguments), _named_files(files)))


@_signed
def validate(*files, progress=None, **arguments):
    """Predictions against measured runs: those of files (docs/rows.md), or the published ones."""
    return _ended(Validation, _followed(progress, lambda report: _native.validate(
        _given(arguments), _named_files(files), report)))


@_signed
def calibrate(*files, progress=None, **arguments):
    """A software stack fitted to one's own measured runs, for `stack=` once it is saved."""
    if not files:
        raise InputError("files", "none is named", "files of measured runs (docs/rows.md)")
    return _ended(Calibration, _followed(progress, lambda report: _native.calibrate(
        _given(arguments), _named_files(files), report)))


def export(plan, *, to, release="", strict=False):
    """A plan as launch files of a framework: to="megatron-lm", "deepspeed", ..."""
    return Exported(_native.export_plan(_source(plan), _text_of(to), _text_of(release)), strict)


def compare(plan, measured):
    """A plan against the record of its run (plan run --record)."""
    handle = _native.compare(_source(plan), _text_of(measured))
    _remarked(handle.remark)
    return Comparison(handle)


def _catalogue(name, entry):
    handle = _native.catalogue(name, None if entry is None else _text_of(entry))
    _remarked(handle.remark)
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

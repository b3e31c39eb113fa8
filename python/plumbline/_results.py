"""Answers: values with the attributes of their documented JSON, their plans and their tables."""
import json
import os
import warnings

from . import _native
from ._arguments import text_of
from ._errors import InputError, PlumblineWarning, argument_name
from ._records import Record
from ._tables import Table, html_of, words_table


class Change:
    """What of a plan is changed ("tp 2 -> 4"), and the plan that results."""

    def __init__(self, change, plan):
        self.change = change
        self.plan = plan

    def __repr__(self):
        return f"Change({self.change!r}: step {self.plan.step_time_s.expected:.3g} s)"


class Result(Record):
    """An answer: JSON, tables and sentences."""

    __slots__ = ("_handle", "_sentences")

    def __init__(self, handle, data, sentences):
        super().__init__(data)
        object.__setattr__(self, "_handle", handle)
        object.__setattr__(self, "_sentences", sentences)

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled; its to_dict() can, and a plan that was saved")

    def _table(self, name):
        data = self._handle.table(name)
        return None if data is None else Table(data)

    def _shown(self):
        return None

    def to_json(self):
        """The text that the command line prints with --json."""
        return self._handle.json() if callable(self._handle.json) else self._handle.json

    def __str__(self):
        table = self._shown()
        return "\n".join([*self._sentences, *([str(table)] if table is not None else [])])

    __repr__ = __str__

    def _repr_html_(self):
        return html_of(self._sentences, self._shown())


class Plan(Result):
    """A strategy for a question, priced: its attributes are the keys of `plan estimate --json`."""

    __slots__ = ()

    def __init__(self, handle):
        super().__init__(handle, json.loads(handle.json()), handle.sentences())

    @property
    def fits(self):
        return self.verdict.fits

    @property
    def reason(self):
        return self.verdict.reason

    @property
    def step_time_s(self):
        return self.prediction.step_time_s

    @property
    def peak_memory_bytes(self):
        return self.prediction.peak_memory_bytes

    def _shown(self):
        return self._table("memory_shown")

    def memory_table(self):
        """GiB by class, on a rank of each pipeline stage."""
        return self._table("memory")

    def time_table(self):
        """Where the step goes, by cause."""
        return self._table("time")

    def to_rows(self):
        """One row, so that plans can be put under each other."""
        (row,) = self._table("plan").to_rows()
        return [{**row, "fits": self.fits}]

    def save(self, path):
        """Writes the plan file that `plan=` and the command line read."""
        _native.write_file(text_of(path), self._handle.file_text())


class Fit(Plan):
    """Whether a plan fits, which is also its truth value: `assert plumbline.fit(...)`.

    The attributes are the keys of `plan fit --json`; what would make it fit is looked for when it is asked for.
    """

    __slots__ = ("_found",)

    def __bool__(self):
        return self.fits

    def _looked_for(self):
        """The offers as JSON says them, and the plans of changes and remedies."""
        if not hasattr(self, "_found"):
            answer, _ = _native.fit_changes(self._handle, None)
            offered = [Change(change, Plan(plan)) for change, plan in zip(answer.changes, answer.plans)]
            object.__setattr__(self, "_found", (json.loads(answer.json), offered))
        return self._found

    @property
    def offers(self):
        """What would make it fit, as `plan fit --json` says it."""
        return Record(self._looked_for()[0])

    @property
    def changes(self):
        """The cheapest changes that make it fit, the fastest that surely fits first; none where it fits."""
        offers, offered = self._looked_for()
        return offered[:len(offers["changes"])]

    @property
    def remedies(self):
        """Where no plan of the question fits: what else could be asked, each with its best plan."""
        offers, offered = self._looked_for()
        return offered[len(offers["changes"]):]

    def to_dict(self):
        return {**super().to_dict(), "offers": self.offers.to_dict()}

    def to_json(self):
        return json.dumps(self.to_dict(), indent=2)


def plan_or_none(handle):
    return None if handle is None else Plan(handle)


class Answer(Result):
    """An answer that is more than one plan."""

    __slots__ = ("_plans",)
    _shown_table = None

    def __init__(self, handle):
        super().__init__(handle, json.loads(handle.json), handle.sentences)

    def _shown(self):
        return None if self._shown_table is None else self._table(self._shown_table)

    @property
    def complete(self):
        """Whether it was not ended before its end."""
        return self._handle.complete

    def to_rows(self):
        table = self._shown()
        return [] if table is None else table.to_rows()


class Search(Answer):
    """Plans, best first: the attributes are the keys of `plan search --json`. A list of them, too.

    Of a question with several values, the best plan of each that has one.
    """

    __slots__ = ()
    _shown_table = "ranking"

    @property
    def plans(self):
        if not hasattr(self, "_plans"):
            object.__setattr__(self, "_plans", [Plan(plan) for plan in self._handle.plans])
        return list(self._plans)

    @property
    def best(self):
        """The best plan, or None where nothing fits."""
        return self.plans[0] if self.plans else None

    @property
    def nearest_miss(self):
        """Where nothing fits: the plan that comes nearest."""
        return plan_or_none(self._handle.nearest_miss)

    def __len__(self):
        return len(self._handle.plans)

    def __iter__(self):
        return iter(self.plans)

    def __getitem__(self, place):
        return super().__getitem__(place) if isinstance(place, str) else self.plans[place]

    def to_rows(self):
        if "rows" not in self._data:
            return [{"rank": rank, **plan.to_rows()[0]} for rank, plan in enumerate(self.plans, 1)]
        # Of a question with several values, those of each row.
        asked = [{"asked_" + part.replace("-", "_"): value for part, value in row["values"].items()}
                 for row in self._data["rows"] if row["plan"]]
        return [{**values, **plan.to_rows()[0]} for values, plan in zip(asked, self.plans)]

    def pareto_table(self):
        """The front of step time and peak memory, where `pareto=True` asked for it."""
        return self._table("pareto")


class FitLimits(Answer):
    """The most that fits: the attributes are the keys of `plan fit --json` without a global batch."""

    __slots__ = ()
    _shown_table = "limits"

    @property
    def plans(self):
        """The plan at each of `limits`, or None."""
        return [plan_or_none(plan) for plan in self._handle.plans]


class Explanation(Answer):
    """Why a plan takes its time and memory: the attributes are the keys of `plan explain --json`."""

    __slots__ = ()
    _shown_table = "changes"

    def time_table(self):
        return self._table("time")

    def assumed_table(self):
        """Numbers that nobody measured and that move the answer."""
        return self._table("assumed")

    def against_table(self):
        """Two plans side by side, where `against=` names another."""
        return self._table("against")


class Simulation(Answer):
    """A step simulated action by action: the attributes are the keys of `plan simulate --json`."""

    __slots__ = ()
    _shown_table = "time"


class Size(Answer):
    """How many GPUs a run takes: the attributes are the keys of `plan size --json`."""

    __slots__ = ()

    def _scalings(self):
        return [(name, table) for name in ("strong", "weak") if (table := self._table(name)) is not None]

    def _shown(self):
        scalings = self._scalings()
        return scalings[0][1] if scalings else None

    @property
    def plans(self):
        """The best plan of each of `rows`, or None."""
        return [plan_or_none(plan) for plan in self._handle.plans]

    def to_rows(self):
        return [{"scaling": name, **row} for name, table in self._scalings() for row in table.to_rows()]


class Comparison(Answer):
    """Predicted against measured: the attributes are the keys of `plan compare --json`."""

    __slots__ = ()
    _shown_table = "actions"

    def memory_table(self):
        return self._table("memory")

    def communication_table(self):
        return self._table("communication")

    def device_memory_table(self):
        """By part of the device's memory, or None for runs on the host."""
        return self._table("device_memory")


class Validation(Answer):
    """Predictions against measured runs: the attributes are the keys of `plan validate --json`."""

    __slots__ = ()
    _shown_table = "time"

    def memory_table(self):
        return self._table("memory")

    def furthest_table(self):
        """The runs that were missed most."""
        return self._table("furthest")

    def skipped_table(self):
        return self._table("skipped")


class Run(Answer):
    """What a run did: the attributes are the keys of the record of `plan run --record`."""

    __slots__ = ()
    _shown_table = "steps"

    @property
    def losses(self):
        """Of each step."""
        return [step["loss"] for step in self._data["steps"]]

    def save(self, path):
        """Writes the record that `compare` and the command line read."""
        _native.write_file(text_of(path), self._handle.file_text)


class Calibration(Answer):
    """A software stack fitted to measured runs: the attributes are the keys of `plan calibrate --rows --json`."""

    __slots__ = ()
    _shown_table = "runs"

    def numbers_table(self):
        """What moved, and how well it is known."""
        return self._table("numbers")

    def save(self, path):
        """Writes the file that `stack=` and the command line's --stack read."""
        _native.write_file(text_of(path), self._handle.file_text)


class Imported(Answer):
    """What launch files ask for: the attributes are the keys of `plan import --json`."""

    __slots__ = ()

    def _shown(self):
        return words_table([("flag", "a flag of plan estimate"), ("value", "what the files ask for")],
                           list(zip(self.flags[::2], self.flags[1::2])))

    @property
    def arguments(self):
        """The flags as arguments of `estimate`, to change and to ask with; a machine is in no file."""
        words = self.flags
        pairs = zip(words[::2], words[1::2])
        # MACHINE stands for one that nobody has named.
        return {argument_name(flag): value for flag, value in pairs if value != "MACHINE"}


class Exported:
    """A plan as launch files of a framework. What it cannot launch as planned is in `substitutions`, what its files
    leave out in `not_said`."""

    def __init__(self, handle, is_strict):
        refused = [one.sentence for one in handle.substitutions] + list(handle.not_said)
        if is_strict and refused:
            raise InputError("strict", "; ".join(refused), "a plan of search(for_=...), or strict=False")
        self.title = handle.title
        self.release = handle.release
        self.substitutions = [Record({"sentence": one.sentence, "change": one.change}) for one in handle.substitutions]
        self.not_said = list(handle.not_said)
        self.assumptions = list(handle.assumptions)
        self.nearest = plan_or_none(handle.nearest)
        self._files = handle.files

    @property
    def files(self):
        """Text by file name."""
        return {file.name: file.text for file in self._files}

    def write(self, folder):
        """Writes the files and returns their paths."""
        _native.require_folder(text_of(folder))
        return [_written(os.path.join(text_of(folder), file.name), file) for file in self._files]

    def to_dict(self):
        return {"title": self.title, "release": self.release, "files": self.files,
                "substitutions": [one.to_dict() for one in self.substitutions], "not_said": list(self.not_said),
                "assumptions": list(self.assumptions),
                "nearest": None if self.nearest is None else self.nearest.to_dict()}

    def _sentences(self):
        return [f"{self.title}, release {self.release}",
                *(f"{one.sentence}; nearest: {one.change}" for one in self.substitutions),
                *(f"not said: {one}" for one in self.not_said), *(f"assumed: {one}" for one in self.assumptions)]

    def _shown(self):
        return words_table([("file", "its name"), ("starts", "whether it is started"), ("lines", "of its text")],
                           [(file.name, "yes" if file.is_executable else "", str(file.text.count("\n")))
                            for file in self._files])

    def to_rows(self):
        return self._shown().to_rows()

    def __repr__(self):
        return f"Exported({self.title}, release {self.release}: {', '.join(self.files)})"

    def __str__(self):
        return "\n".join([*self._sentences(), str(self._shown())])

    def _repr_html_(self):
        return html_of(self._sentences(), self._shown())


def _written(path, file):
    _native.write_file(path, file.text)
    if file.is_executable:
        os.chmod(path, os.stat(path).st_mode | 0o100)
    return path


class Catalogue:
    """Every entry of a catalogue, as a list."""

    def __init__(self, handle):
        self._entries = json.loads(handle.json)
        self._table = Table(handle.table("all"))

    def __iter__(self):
        return map(Record, self._entries)

    def __len__(self):
        return len(self._entries)

    def __getitem__(self, place):
        return Record(self._entries[place])

    def to_list(self):
        """As `plan models --json` says it."""
        return [Record(entry).to_dict() for entry in self._entries]

    def to_rows(self):
        return self._table.to_rows()

    def __repr__(self):
        return str(self._table)

    def _repr_html_(self):
        return self._table._repr_html_()


class Entry(Answer):
    """One model, machine or software stack: the attributes are the keys of its JSON."""

    __slots__ = ()
    _shown_table = "one"


def warned(text):
    if text:
        warnings.warn(text, PlumblineWarning, stacklevel=4)

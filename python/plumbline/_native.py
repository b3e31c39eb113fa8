"""The library's verbs as Python asks them: questions, jobs, answers and plans."""
import ctypes
import functools
import json
from types import SimpleNamespace

from ._library import Handle, Owned, Request, bytes_of, call, function, owned_or_none, text_of

# People take Ctrl-C that ends within a tenth of a second as at once.
BETWEEN_LOOKS_MS = 20


def version():
    return function("version")().decode()


@functools.lru_cache(maxsize=None)
def _interface():
    return json.loads(text_of("verbs"))


def options(verb):
    """The options that a verb reads, in order, as plumbline_verbs says them."""
    return _interface()["verbs"][verb]


def strategy_keys():
    """(key, kind) of each key of a strategy in every answer, in their order; its recipe has others."""
    return [(one["key"], one["kind"]) for one in _interface()["strategy_keys"]]


def write_file(name, text):
    call("write_file", bytes_of(name), bytes_of(text))


def require_folder(name):
    call("check_folder", bytes_of(name))


class PricedPlan:
    """A plan of the library's."""

    def __init__(self, owned):
        self.owned = owned

    @functools.cached_property
    def _details(self):
        return json.loads(text_of("plan_details", self.owned.handle))

    def json(self):
        return text_of("plan_json", self.owned.handle)

    def file_text(self):
        return text_of("plan_file", self.owned.handle)

    def sentences(self):
        return self._details["sentences"]

    def table(self, name):
        return json.loads(text_of("plan_table", self.owned.handle, bytes_of(name)))

    @property
    def warning(self):
        return self._details["warning"]


class Answer:
    """An answer of the library's."""

    def __init__(self, owned):
        self.owned = owned
        self._details = json.loads(text_of("answer_details", owned.handle))

    def __getattr__(self, name):
        """sentences, warning, complete, found and changes."""
        try:
            return self.__dict__["_details"][name]
        except KeyError:
            raise AttributeError(name) from None

    @functools.cached_property
    def json(self):
        return text_of("answer_json", self.owned.handle)

    @property
    def file_text(self):
        return text_of("answer_file", self.owned.handle)

    def table(self, name):
        text = text_of("answer_table", self.owned.handle, bytes_of(name))
        return None if text is None else json.loads(text)

    def _plan(self, name, *place):
        handle = Handle()
        call(name, self.owned.handle, *place, ctypes.byref(handle))
        owned = owned_or_none(handle, "plan_free")
        return None if owned is None else PricedPlan(owned)

    @functools.cached_property
    def plans(self):
        return [self._plan("answer_plan", place) for place in range(function("answer_plans")(self.owned.handle))]

    @functools.cached_property
    def nearest_miss(self):
        return self._plan("answer_nearest")


class Source:
    """A plan of the library's, the name of its file, or launch files."""

    def __init__(self, plan_file=None, plan=None, launch_files=()):
        self.plan_file, self.plan, self.launch_files = plan_file, plan, launch_files

    @property
    def handle(self):
        return None if self.plan is None else self.plan.owned.handle


    def names(self, plan_key):
        """Of the files that it is."""
        named = {} if self.plan_file is None else {plan_key: self.plan_file}
        return {**named, "import": self.launch_files} if self.launch_files else named


class Inputs:
    """What is named beside flags."""

    def __init__(self, source=None, against=None, files=()):
        self.source, self.against, self.files = source or Source(), against or Source(), files

    def names(self):
        files = {"files": self.files} if self.files else {}
        return {**self.source.names("plan"), **self.against.names("against"), **files}


class _Job:
    """One request under way. It ends with its last reference, when nobody has taken its answer."""

    def __init__(self, verb, question, inputs):
        self._handle = Handle()
        self._inputs = inputs
        text = json.dumps({**question, **inputs.names()}, ensure_ascii=False)
        self._request = Request(ctypes.sizeof(Request), bytes_of(verb), bytes_of(text), inputs.source.handle,
                                inputs.against.handle)

    def start(self):
        call("start", ctypes.byref(self._request), ctypes.byref(self._handle))

    def stop(self):
        function("job_stop")(self._handle)

    def ended_within(self, milliseconds):
        return function("job_wait")(self._handle, milliseconds) != 0

    def hear(self, progress):
        """Hands on what was reported, as JSON."""
        if progress is None:
            return
        while (text := text_of("job_report", self._handle)) is not None:
            progress(text)

    def answer(self):
        answer = Handle()
        handle, self._handle = self._handle, Handle()
        call("job_end", handle, ctypes.byref(answer))
        return Answer(Owned(answer, "answer_free"))

    def __del__(self):
        if self._handle:
            self.stop()
            error = Handle()
            function("job_end")(self._handle, None, ctypes.byref(error))
            function("error_free")(error)


def _raised_until_end(job, progress):
    """Waits for a job; what Python raised meanwhile, which asks it to stop. Signal handlers run between the calls of the
    main thread, and so end its work."""
    raised = None
    while True:
        try:
            while not job.ended_within(BETWEEN_LOOKS_MS):
                job.hear(progress if raised is None else None)
            # Short work may end before the first look; this delivers the progress that it reported.
            job.hear(progress if raised is None else None)
            return raised
        except BaseException as error:  # KeyboardInterrupt too
            raised = raised or error
            job.stop()


def ask(verb, question, inputs=None, progress=None):
    """(answer, whether Ctrl-C ended it); `question`: texts by their flags; `progress`: called with reports as JSON, on
    this thread. Raises KeyboardInterrupt where nothing was found until then, and what `progress` raised."""
    job = _Job(verb, question, inputs or Inputs())
    job.start()
    raised = _raised_until_end(job, progress)
    if raised is None:
        return job.answer(), False
    if not isinstance(raised, KeyboardInterrupt):
        raise raised
    answer = job.answer()
    if not answer.found:
        raise raised
    return answer, True


def fit_changes(plan, progress=None):
    """What would make a plan of `fit` fit."""
    return ask("changes", {}, Inputs(Source(plan=plan)), progress)


def catalogue(name, entry=None):
    return ask(name, {} if entry is None else {"name": entry})[0]


def export_plan(source, target, release):
    """Launch files, with what `plan export` says of them."""
    answer, _ = ask("export", {"to": target, **({"release": release} if release else {})}, Inputs(source))
    parts = json.loads(answer.json)
    parts["files"] = [SimpleNamespace(**file) for file in parts["files"]]
    parts["substitutions"] = [SimpleNamespace(**one) for one in parts["substitutions"]]
    return SimpleNamespace(**parts, nearest=answer.plans[0] if answer.plans else None)

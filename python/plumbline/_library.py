"""libplumbline.so, which lies beside this file, by ctypes: its functions (capi/plumbline.h), and what they return as
values of Python. ctypes releases the interpreter's lock around each call."""
import ctypes
import pathlib

from ._errors import EnvironmentError, InputError

ABI = 1
INPUT_ERROR, ENVIRONMENT_ERROR = 2, 3

Handle = ctypes.c_void_p
_Text = ctypes.c_char_p


class Request(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("verb", _Text), ("question", _Text), ("plan", Handle), ("against", Handle)]


_TO_HANDLE = ctypes.POINTER(Handle)
# Each returns an int that says how it ended, has these arguments and then the place of an error.
_CALLS = {
    "verbs": [_TO_HANDLE],
    "start": [ctypes.POINTER(Request), _TO_HANDLE],
    "job_report": [Handle, _TO_HANDLE],
    "job_end": [Handle, _TO_HANDLE],
    "answer_json": [Handle, _TO_HANDLE],
    "answer_details": [Handle, _TO_HANDLE],
    "answer_table": [Handle, _Text, _TO_HANDLE],
    "answer_file": [Handle, _TO_HANDLE],
    "answer_plan": [Handle, ctypes.c_size_t, _TO_HANDLE],
    "answer_nearest": [Handle, _TO_HANDLE],
    "plan_json": [Handle, _TO_HANDLE],
    "plan_details": [Handle, _TO_HANDLE],
    "plan_table": [Handle, _Text, _TO_HANDLE],
    "plan_file": [Handle, _TO_HANDLE],
    "write_file": [_Text, _Text],
    "check_folder": [_Text],
}
# Others: what they return, and their arguments.
_OTHERS = {
    "abi": (ctypes.c_int, []),
    "version": (_Text, []),
    "job_wait": (ctypes.c_int, [Handle, ctypes.c_int]),
    "job_stop": (None, [Handle]),
    "answer_plans": (ctypes.c_size_t, [Handle]),
    "error_code": (ctypes.c_int, [Handle]),
    "error_message": (_Text, [Handle]),
    "error_where": (_Text, [Handle]),
    "error_what": (_Text, [Handle]),
    "error_expected": (_Text, [Handle]),
    "error_nearest": (_Text, [Handle]),
    "text_free": (None, [Handle]),
    "answer_free": (None, [Handle]),
    "plan_free": (None, [Handle]),
    "error_free": (None, [Handle]),
}


def _loaded():
    library = ctypes.CDLL(str(pathlib.Path(__file__).with_name("libplumbline.so")))
    functions = {}
    for name, arguments in _CALLS.items():
        functions[name] = getattr(library, f"plumbline_{name}")
        functions[name].argtypes, functions[name].restype = [*arguments, _TO_HANDLE], ctypes.c_int
    for name, (result, arguments) in _OTHERS.items():
        functions[name] = getattr(library, f"plumbline_{name}")
        functions[name].argtypes, functions[name].restype = arguments, result
    if functions["abi"]() != ABI:
        raise ImportError(f"libplumbline.so has interface {functions['abi']()}; expected {ABI}, of the same package")
    return functions


_FUNCTIONS = _loaded()


def function(name):
    """One that cannot fail."""
    return _FUNCTIONS[name]


def _shown(text):
    """Text of a message may name a file, whose bytes need be no UTF-8."""
    return text.decode("utf-8", "backslashreplace")


def _raise(error):
    """The exception of an error, which is freed."""
    part = {name: _shown(_FUNCTIONS[f"error_{name}"](error)) for name in
            ("message", "where", "what", "expected", "nearest")}
    code = _FUNCTIONS["error_code"](error)
    _FUNCTIONS["error_free"](error)
    if code == INPUT_ERROR:
        raise InputError(part["where"], part["what"], part["expected"], part["nearest"])
    if code == ENVIRONMENT_ERROR:
        raise EnvironmentError(part["message"])
    raise RuntimeError(part["message"])


def call(name, *arguments):
    """Throws what it answers with an error."""
    error = Handle()
    code = _FUNCTIONS[name](*arguments, ctypes.byref(error))
    if error:
        _raise(error)
    if code:
        raise MemoryError


def text_of(name, *arguments):
    """The text that a function gives, or None."""
    place = Handle()
    call(name, *arguments, ctypes.byref(place))
    if not place:
        return None
    try:
        return ctypes.string_at(place.value).decode("utf-8", "surrogateescape")
    finally:
        _FUNCTIONS["text_free"](place)


def bytes_of(text):
    """A text as the library takes it."""
    return text.encode("utf-8", "surrogateescape")


class Owned:
    """Something of the library's, which is freed with its last reference."""

    __slots__ = ("handle", "_free")

    def __init__(self, handle, free):
        self.handle = handle
        self._free = _FUNCTIONS[free]

    def __del__(self):
        self._free(self.handle)


def owned_or_none(place, free):
    return Owned(place, free) if place else None

"""What the module raises and warns of. That a plan does not fit, or that none was found, is an answer, not an error."""
import keyword
import re

_FLAG = re.compile(r"--([a-z][a-z0-9-]*[a-z0-9]|[a-z])(?![\w-])")
# Control codes, and what turns text or breaks lines.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_LONGEST_PART = 400


def _shown(part):
    """A list that is longer says no more."""
    return part if len(part) <= _LONGEST_PART else part[:_LONGEST_PART] + "..."


def argument_name(flag):
    """`--seq-len` as Python spells it: `seq_len`; a word of the language gets an underscore: `from_`."""
    name = flag.lstrip("-").replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def flag_name(argument):
    return "--" + argument.rstrip("_").replace("_", "-")


def in_python(text):
    """A message in which flags are called as arguments are."""
    return _FLAG.sub(lambda flag: argument_name(flag.group(0)), text)


class InputError(ValueError):
    """Wrong input: `where` it stands, `what` is wrong, what was `expected`, what is `nearest` to it; each may be empty."""

    def __init__(self, where="", what="", expected="", nearest=""):
        self.where, self.what, self.expected, self.nearest = map(in_python, (where, what, expected, nearest))
        super().__init__(where, what, expected, nearest)

    def __str__(self):
        """One printable line, as the command's."""
        text = _shown(self.what)
        if self.where:
            # The place of a whole file, "plan.json:", ends with the colon that separates it from a place inside.
            text = self.where + (" " if self.where.endswith(":") else ": ") + text
        text += f"; expected {_shown(self.expected)}" if self.expected else ""
        text += f"; nearest: {_shown(self.nearest)}" if self.nearest else ""
        return _UNPRINTABLE.sub("?", text)


class EnvironmentError(OSError):
    """A file or the system failed."""


class PlumblineWarning(UserWarning):
    """Something to know about an answer: a name that could also be a file, a search that was interrupted."""

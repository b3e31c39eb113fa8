"""Parts of an answer: the keys of its documented JSON are their attributes."""


class Record:
    """An object of an answer's JSON. `plan.strategy.tensor_parallel` is plan.to_dict()["strategy"]["tensor_parallel"]."""

    __slots__ = ("_data",)

    def __init__(self, data):
        object.__setattr__(self, "_data", data)

    def __getattr__(self, name):
        if name.startswith("__") or name == "_data":
            raise AttributeError(name)
        if name not in self._data:
            raise AttributeError(f"there is no {name!r} here; there are {', '.join(self._data)}")
        return wrapped(self._data[name])

    def __setattr__(self, name, value):
        raise AttributeError("answers do not change; ask again")

    def __getitem__(self, key):
        return wrapped(self._data[key])

    def __contains__(self, key):
        return key in self._data

    def __iter__(self):
        return iter(self._data)

    def __len__(self):
        return len(self._data)

    def keys(self):
        return self._data.keys()

    def __dir__(self):
        return [*object.__dir__(self), *(key for key in self._data if key.isidentifier())]

    def __eq__(self, other):
        return self._data == (other._data if isinstance(other, Record) else other)

    __hash__ = None

    def __repr__(self):
        return f"{type(self).__name__}({self._data!r})"

    def __reduce__(self):
        return type(self), (self._data,)

    def to_dict(self):
        """As the JSON says it."""
        return copied(self._data)


def wrapped(value):
    if isinstance(value, dict):
        return Record(value)
    return [wrapped(one) for one in value] if isinstance(value, list) else value


def copied(value):
    """Of JSON; nobody else changes the copy."""
    if isinstance(value, dict):
        return {key: copied(one) for key, one in value.items()}
    return [copied(one) for one in value] if isinstance(value, list) else value

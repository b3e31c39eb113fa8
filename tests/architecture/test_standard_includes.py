#!/usr/bin/env python3
"""Every header includes the standard headers of what it names, directly or through headers of ours.

Usage: test_standard_includes.py [repository root]. Builds in batches compile each header by itself with standard headers
precompiled (cmake/PlumblineTarget.cmake, headers_alone), which hides a missing one. Names that several standard headers
declare are accepted with any of them.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = ("core", "kernels", "models", "planner", "runtime", "jobs", "cli", "gui", "capi", "python")

# Standard header: names that it declares, without std::. Names of several headers: all of them.
NAMES = {
    "algorithm": "sort stable_sort min max clamp minmax min_element max_element find find_if find_if_not any_of all_of none_of "
                 "count_if copy_if copy_n fill_n transform reverse rotate unique lower_bound upper_bound adjacent_find "
                 "binary_search includes is_sorted mismatch nth_element partition remove remove_if replace search",
    "array": "array to_array",
    "atomic": "atomic atomic_ref memory_order memory_order_relaxed memory_order_acquire memory_order_release",
    "bit": "bit_cast bit_width popcount has_single_bit",
    "chrono": "chrono",
    "cmath": "sqrt pow log log2 log10 log1p exp exp2 ceil floor round lround llround isfinite isnan isinf hypot fmod",
    "compare": "strong_ordering weak_ordering partial_ordering",
    "condition_variable": "condition_variable condition_variable_any",
    "cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t intptr_t uintmax_t",
    "cstring": "memcpy memcmp memset strlen",
    "deque": "deque",
    "exception": "exception_ptr current_exception rethrow_exception",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream fstream",
    "functional": "function reference_wrapper invoke plus hash",
    "future": "future promise async",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared enable_shared_from_this",
    "mutex": "mutex lock_guard unique_lock scoped_lock once_flag call_once",
    "new": "align_val_t bad_alloc",
    "numbers": "numbers",
    "numeric": "accumulate iota gcd lcm reduce inner_product partial_sum midpoint",
    "optional": "optional nullopt nullopt_t make_optional",
    "queue": "queue priority_queue",
    "random": "mt19937 mt19937_64 uniform_int_distribution",
    "set": "set multiset",
    "span": "span dynamic_extent",
    "sstream": "ostringstream istringstream stringstream",
    "stdexcept": "runtime_error logic_error invalid_argument out_of_range",
    "stop_token": "stop_callback",
    "string": "string to_string stoi stoll stod getline",
    "thread": "thread jthread this_thread",
    "tuple": "tuple make_tuple tie apply",
    "type_traits": "is_same_v is_same is_enum_v decay_t remove_cvref_t conditional_t is_trivially_copyable_v underlying_type_t",
    "unordered_map": "unordered_map unordered_multimap",
    "unordered_set": "unordered_set",
    "variant": "variant visit monostate holds_alternative get_if variant_size_v variant_alternative_t",
    "vector": "vector",
}
# Names that several standard headers declare, by the standard or because their own declarations need them.
SHARED = {
    "string_view": {"string", "string_view"},
    "stop_token stop_source": {"stop_token", "thread", "condition_variable"},
    "move swap forward exchange pair make_pair declval": {
        "utility", "algorithm", "array", "atomic", "deque", "functional", "map", "memory", "optional", "set", "span", "string", "tuple",
        "unordered_map", "variant", "vector"},
    "size_t ptrdiff_t nullptr_t": {
        "cstddef", "algorithm", "array", "cstdint", "cstdio", "cstdlib", "cstring", "functional", "map", "memory", "optional", "set", "span",
        "string", "string_view", "tuple", "utility", "variant", "vector"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"', re.DOTALL)
NAME = re.compile(r"\bstd::(\w+)")


def homes():
    """Name: the headers that it may come from."""
    result = {}
    for header, names in NAMES.items():
        for name in names.split():
            result.setdefault(name, set()).add(header)
    for names, headers in SHARED.items():
        for name in names.split():
            result.setdefault(name, set()).update(headers)
    return result


def read(text):
    includes = INCLUDE.findall(text)
    ours = {path for quote, path in includes if quote == '"'}
    standard = {path for quote, path in includes if quote == "<"}
    return ours, standard, set(NAME.findall(COMMENT.sub(" ", text)))


def missing(headers, known):
    """`headers`: path: text. Lines 'path: std::name needs <header>'."""
    files = {path: read(text) for path, text in headers.items()}
    reached = {}

    def closure(path, on_the_way):
        if path in reached:
            return reached[path]
        if path not in files or path in on_the_way:
            return set()
        ours, standard, _ = files[path]
        found = set(standard)
        for other in ours:
            found |= closure(other, on_the_way | {path})
        reached[path] = found
        return found

    lines = []
    for path in sorted(files):
        has = closure(path, frozenset())
        if any(not re.fullmatch(r"[a-z_0-9]+(\.h)?", header) for header in has):
            continue  # an outside library's header may include anything
        for name in sorted(files[path][2]):
            if name in known and not known[name] & has:
                lines.append(f"{path}: std::{name} needs <{sorted(known[name])[0]}>")
    return lines


def check_itself(known):
    texts = {"a.h": '#include <vector>\nstd::vector<int> a;  // std::map\n', "b.h": '#include "a.h"\nstd::vector<int> b();\n',
             "c.h": '#include "b.h"\nstd::map<int, int> c;\n', "d.h": "std::size_t d;\n"}
    expected = ["c.h: std::map needs <map>", "d.h: std::size_t needs <algorithm>"]
    assert missing(texts, known) == expected, missing(texts, known)


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    known = homes()
    check_itself(known)
    headers = {str(path.relative_to(root)): path.read_text(encoding="utf-8")
               for library in LIBRARIES for path in sorted((root / library).rglob("*.h"))}
    assert len(headers) > 300, len(headers)
    lines = missing(headers, known)
    print("\n".join(lines) if lines else f"{len(headers)} headers include what they name")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())

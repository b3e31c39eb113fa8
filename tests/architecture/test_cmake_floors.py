#!/usr/bin/env python3
"""plumbline_library() must refuse, while CMake configures, a dependency that does not point down."""
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(floors LANGUAGES CXX)
add_library(plumbline_warnings INTERFACE)
include({root}/cmake/PlumblineTarget.cmake)
file(WRITE ${{CMAKE_BINARY_DIR}}/x.cpp "int x;")
file(WRITE ${{PROJECT_SOURCE_DIR}}/x.h "")
{declarations}
"""


def declaration(name, uses):
    return (f"plumbline_library({name} SOURCES ${{CMAKE_BINARY_DIR}}/x.cpp HEADERS ${{PROJECT_SOURCE_DIR}}/x.h "
            f"USES {uses})")


def configure(*libraries):
    """Configures a project that declares (name, uses) in order; returns exit status and text."""
    with tempfile.TemporaryDirectory() as folder:
        declarations = "\n".join(declaration(name, uses) for name, uses in libraries)
        text = PROJECT.format(root=ROOT.as_posix(), declarations=declarations)
        pathlib.Path(folder, "CMakeLists.txt").write_text(text, encoding="utf-8")
        run = subprocess.run(["cmake", "-S", folder, "-B", folder + "/build"], capture_output=True, text=True)
        return run.returncode, " ".join((run.stdout + run.stderr).split())


class CMakeFloors(unittest.TestCase):
    def refuse(self, *libraries, words):
        code, text = configure(*libraries)
        self.assertNotEqual(code, 0, text)
        self.assertIn(words, text)

    def test_an_upward_dependency_is_refused(self):
        self.refuse(("core", "models"), words="core (floor 0) may not use models (floor 1)")

    def test_a_dependency_within_a_floor_is_refused(self):
        self.refuse(("core", ""), ("planner", "core"), ("runtime", "core;planner"),
                    words="runtime (floor 2) may not use planner (floor 2)")

    def test_a_library_without_a_floor_is_refused(self):
        self.refuse(("misc", ""), words="no floor is declared for misc")

    def test_a_dependency_on_what_has_no_floor_is_refused(self):
        self.refuse(("models", "misc"), words="no floor is declared for misc")

    def test_dependencies_that_point_down_are_accepted(self):
        code, text = configure(("core", ""), ("kernels", "core"), ("models", "core"), ("planner", "core;models"))
        self.assertEqual(code, 0, text)


if __name__ == "__main__":
    unittest.main()

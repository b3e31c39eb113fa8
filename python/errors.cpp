#include "python/errors.h"

#include <pybind11/pybind11.h>

#include <filesystem>
#include <new>
#include <string>

#include "core/base/errors.h"

namespace plumbline::python {
namespace {

namespace py = pybind11;

/// Their classes are Python's, so that they can be pickled and documented there.
void raise(const char* name, const py::args& arguments) {
  const py::object type = py::module_::import("plumbline._errors").attr(name);
  const py::object error = type(*arguments);
  PyErr_SetObject(type.ptr(), error.ptr());
}

/// Text of a message may name a file, whose bytes need be no UTF-8.
py::str text(const std::string& bytes) {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "backslashreplace");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

void raise_environment(const std::string& words) { raise("EnvironmentError", py::make_tuple(text(words))); }

// pybind11 asks for this type. NOLINTNEXTLINE(performance-unnecessary-value-param)
void translate(std::exception_ptr error) {
  if (!error) return;
  try {
    std::rethrow_exception(error);
  } catch (const InputError& input) {
    const InputProblem& problem = input.problem();
    raise("InputError",
          py::make_tuple(text(problem.where), text(problem.what), text(problem.expected), text(problem.nearest)));
  } catch (const EnvironmentError& environment) {
    raise_environment(environment.what());
  } catch (const std::filesystem::filesystem_error& system) {
    raise_environment(system.path1().string() + ": " + system.code().message());
  } catch (const InternalError& bug) {
    PyErr_SetString(PyExc_RuntimeError, (std::string("our bug, please report it: ") + bug.what()).c_str());
  }
  // What is left is pybind11's: its own exceptions, std::bad_alloc as MemoryError, others as RuntimeError.
}

}  // namespace

void register_errors() { py::register_local_exception_translator(translate); }

}  // namespace plumbline::python

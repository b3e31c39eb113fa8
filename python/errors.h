#pragma once
/// \file errors.h: our errors as exceptions of Python: plumbline.InputError, plumbline.EnvironmentError, and
/// RuntimeError for a bug of ours.
/// Checked against: tests/python/errors_test.py.

namespace plumbline::python {

/// Of this module alone: other extensions keep theirs.
void register_errors();

}  // namespace plumbline::python

#pragma once
/// \file interruptible.h: long work without the interpreter's lock, which reports its progress to Python and ends early
/// on Ctrl-C.
///
/// Model: the work has a thread of its own. The calling thread waits for it without the lock, and every 20 ms takes the
/// lock to run signal handlers (which Python only does on its main thread) and to hand on the latest progress, of a run
/// every step. Signals reach no other thread, whose system calls they would end. What
/// either raises asks the work to stop, as its time limit does; the call returns when it has.
/// Checked against: tests/python/interrupt_test.py.

#include <pybind11/pybind11.h>

#include <optional>

#include "python/use_cases.h"

namespace plumbline::python {

struct Ended {
  Answer answer;
  bool interrupted = false;  ///< by Ctrl-C, and with something found
};

/// `progress`: called with (phase, done, total, best_step_time_s), of a run with each step as JSON text, or None.
/// Throws what the work and the callback throw, and KeyboardInterrupt where nothing was found until then. The caller
/// holds the interpreter's lock.
[[nodiscard]] Ended run_interruptibly(const Work& work, const pybind11::object& progress);

}  // namespace plumbline::python

#pragma once
/// \file fake_cudnn.h: what a test sets and asks of the cuDNN that the CPU carries out.

#include <string>

namespace fake_cudnn {

/// Graphs built since the program's begin, and calls run.
int graphs_built();
int calls_run();
/// The next "build" or "execute of attention" fails.
void fail_call(const std::string& call);
/// Until set again: the library cannot be loaded.
void set_missing(const std::string& problem);
/// Until set again: the library has no graph for any call.
void set_has_graphs(bool has_graphs);

}  // namespace fake_cudnn

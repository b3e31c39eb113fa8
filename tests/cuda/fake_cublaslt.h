#pragma once
/// \file fake_cublaslt.h: what a test sets and asks of the cuBLASLt that the CPU carries out.

#include <chrono>
#include <string>
#include <vector>

#include "runtime/cuda/cublaslt.h"

namespace fake_cublaslt {

/// The next call of this name fails and does nothing.
void fail_call(const std::string& name, cublasStatus_t status);
/// Heuristics asked since the program's begin.
int heuristics_asked();
/// Products computed since then, those that are only timed among them.
int products_computed();
/// What is proposed from here on: an algorithm for each, which takes so much longer.
void set_algorithms(std::vector<std::chrono::milliseconds> delays);
/// A handle takes so many bytes of the device from here on.
void set_handle_bytes(std::size_t bytes);
/// Until set again: the library cannot be loaded.
void set_missing(const std::string& problem);
void set_tuning(plumbline::ProductTuning tuning);

}  // namespace fake_cublaslt

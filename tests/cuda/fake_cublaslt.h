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
/// Those of them with a scale for each row and column.
int outer_scaled_products();
/// What is proposed from here on: an algorithm for each, which takes so much longer.
void set_algorithms(std::vector<std::chrono::milliseconds> delays);
/// A handle takes so many bytes of the device from here on.
void set_handle_bytes(std::size_t bytes);
/// Until set again: the library cannot be loaded.
void set_missing(const std::string& problem);
void set_tuning(plumbline::ProductTuning tuning);

/// Whether the library is one before 12.9, which knows one scale for a tensor alone.
void know_no_scale_modes(bool is_old);

}  // namespace fake_cublaslt

#pragma once
/// \file fake_cublaslt.h: what a test sets and asks of the cuBLASLt that the CPU carries out.

#include <cublasLt.h>

#include <string>

namespace fake_cublaslt {

/// The next call of this name fails and does nothing.
void fail_call(const std::string& name, cublasStatus_t status);
/// Heuristics asked since the program's begin.
int heuristics_asked();

}  // namespace fake_cublaslt

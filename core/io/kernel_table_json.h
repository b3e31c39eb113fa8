#pragma once
/// \file kernel_table_json.h: tables of measured kernels in and out ("plumbline.kernels/1").
///
/// Keys: "device", "machine", "library", "cores", and the lists "gemm", "attention", "memory_bound", "collectives",
/// "crowds" with the keys of kernel_table.h ("seq" for the sequence). What is written reads back equal.
/// Checked against: tests/unit/core/io/kernel_table_json_test.cpp.

#include "core/io/json.h"
#include "core/measurement/kernel_table.h"

namespace plumbline {

inline constexpr std::string_view kernel_table_format = "plumbline.kernels/1";

[[nodiscard]] Json to_json(const KernelTable& table);
/// Strict. Throws InputError.
[[nodiscard]] KernelTable kernel_table_from_json(const JsonPlace& root);
/// The same of a file. Throws InputError or EnvironmentError.
[[nodiscard]] KernelTable read_kernel_table_file(const std::string& file);

}  // namespace plumbline

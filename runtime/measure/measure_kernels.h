#pragma once
/// \file measure_kernels.h: measures the kernels and the local communicator of this computer: the table that
/// `calibrate --backend cpu` fits from.
///
/// Answers: medians in seconds, one core unless it says otherwise. Model: shapes around those of networks that train on
/// a computer without GPU: 128 to 2048 tokens, widths of 64 to 1024. Not modelled: other processes that run alongside;
/// clocks that change with temperature.
/// Source: kernels/ (the same functions that the executor calls). Checked against:
/// tests/runtime/measure/measure_threads_test.cpp (a table of every kind, times that are positive and grow with work).

#include <functional>
#include <stop_token>
#include <string>

#include "core/measurement/kernel_table.h"

namespace plumbline {

/// `brief` measures a few small shapes: for tests.
enum class MeasureExtent : std::uint8_t { full, brief };

struct MeasureOptions {
  MeasureExtent extent = MeasureExtent::full;
  std::int32_t cores = 1;  ///< crowds and collectives go up to four times as many threads
  Bytes cache = 32_MiB;    ///< of the last level: what is larger comes from memory
  std::function<void(std::string_view what)> progress = [](std::string_view) {};
  std::stop_token stop;  ///< what was measured so far is returned
};

/// `device` and `machine` of the table are left empty. About half a minute in full.
[[nodiscard]] KernelTable measure_kernels(const MeasureOptions& options);

/// fp32, of a product that is large enough to reach the rate of one core. About a tenth of a second.
[[nodiscard]] FlopsPerSecond measured_product_rate();

// The parts.
void measure_products(const MeasureOptions& options, KernelTable& table);
void measure_attention(const MeasureOptions& options, KernelTable& table);
void measure_memory_bound(const MeasureOptions& options, KernelTable& table);
void measure_collectives(const MeasureOptions& options, KernelTable& table);
void measure_crowds(const MeasureOptions& options, KernelTable& table);

}  // namespace plumbline

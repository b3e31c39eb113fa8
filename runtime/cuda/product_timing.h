#pragma once
/// \file product_timing.h: which of a plan's algorithms is fastest on the device.
///
/// Answers: each is run once and then timed over some runs, on a stream of its own and into memory of its own: what
/// operands hold then does not matter, and nothing is changed. The host waits: in the first step alone. Where memory is
/// short the first algorithm is taken. Choices of one process are shared: its ranks run the same. Source: CUDA Runtime
/// API, "Event Management". Not modelled: other work that the device does meanwhile.
/// Checked against: tests/cuda/matrix_products_test.cpp.

#include <optional>

#include "runtime/cuda/product_plan.h"

namespace plumbline {

[[nodiscard]] std::size_t fastest_candidate(ProductPlan& plan, cublasLtHandle_t handle, const ProductCall& call);

/// What a thread of this process chose on such a device.
[[nodiscard]] std::optional<std::size_t> shared_choice(const std::string& device, const ProductShape& shape);
/// The one that is shared from here on: `mine`, or that of a thread that was faster.
[[nodiscard]] std::size_t share_choice(const std::string& device, const ProductShape& shape, std::size_t mine);

}  // namespace plumbline

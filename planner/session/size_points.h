#pragma once
/// \file size_points.h: the searches that a size consists of: its numbers of GPUs, and the batch of each.
///
/// Checked against: tests/unit/planner/session/size_test.cpp.

#include "planner/session/size.h"

namespace plumbline::session {

/// Throws InputError for no tokens and for numbers out of range.
void require_size(const SizeRequest& request);
/// The request with one stack for all its numbers of GPUs where nobody named one: that of the most.
[[nodiscard]] SizeRequest with_one_stack(SizeRequest request);
/// By number of GPUs, in the order of the scalings. Throws InputError for what no search can be asked.
[[nodiscard]] std::vector<PreparedSize::Point> size_points(const SizeRequest& request);

}  // namespace plumbline::session

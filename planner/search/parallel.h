#pragma once
/// \file parallel.h: the same work on any number of threads, results by index.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "planner/question/stop_request.h"

namespace plumbline {

/// All cores when `asked` is 0.
[[nodiscard]] std::int32_t thread_count(std::int32_t asked);

/// Calls `work(i)` once for every i < count, from up to `threads` threads, in no promised order. Whatever `work` writes
/// must belong to index i, so that results do not depend on timing. An exception of any call is rethrown (that of the
/// smallest index) after all threads have ended. Looks at `stop` before each call: false where it left some out.
bool parallel_for(std::size_t count, std::int32_t threads, const std::function<void(std::size_t)>& work,
                  const StopRequest& stop = {});

}  // namespace plumbline

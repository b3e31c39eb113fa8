#include "runtime/execution/rank_environment.h"

#include <algorithm>

namespace plumbline {

void RankEnvironment::tensor_all_reduce(std::span<std::byte> data, NumberFormat format, Reduction reduction) {
  if (shard.tensor_parallel == 1) return;
  Communicator& group = groups[Axis::tensor];
  const ElementFormat elements = element_format(format);
  const std::int64_t parts = shard.tensor_parallel * element_bytes(elements);
  const Bytes padded(divided(std::ssize(data), parts) * parts);
  if (padded.value() == std::ssize(data)) return group.all_reduce(data, elements, reduction);
  const std::span<std::byte> whole(static_cast<std::byte*>(backend.workspace(padded).data),
                                   static_cast<std::size_t>(padded.value()));
  std::fill(std::copy(data.begin(), data.end(), whole.begin()), whole.end(), std::byte{0});
  group.all_reduce(whole, elements, reduction);
  std::copy_n(whole.begin(), data.size(), data.begin());
}

}  // namespace plumbline

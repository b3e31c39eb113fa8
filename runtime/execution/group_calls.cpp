#include "runtime/execution/group_calls.h"

#include "runtime/execution/parameter_memory.h"

namespace plumbline {

void GroupCalls::tensor_all_reduce(std::span<std::byte> data, NumberFormat format, Reduction reduction) {
  if (groups_.size(Axis::tensor) == 1) return;
  Communicator& group = groups_[Axis::tensor];
  const ElementFormat elements = element_format(format);
  const std::int64_t parts = groups_.size(Axis::tensor) * element_bytes(elements);
  const Bytes padded(divided(std::ssize(data), parts) * parts);
  if (padded.value() == std::ssize(data))
    return device_.enqueue(Stream::tensor, [=, &group] { group.all_reduce(data, elements, reduction); });
  const std::span<std::byte> whole(static_cast<std::byte*>(backend_.workspace(padded, ScratchUse::collective).data),
                                   static_cast<std::size_t>(padded.value()));
  const Bytes size(std::ssize(data));
  device_.copy(Stream::tensor, whole.data(), data.data(), size);
  device_.fill(Stream::tensor, whole.data() + data.size(), std::byte{0}, padded - size);
  device_.enqueue(Stream::tensor, [=, &group] { group.all_reduce(whole, elements, reduction); });
  device_.copy(Stream::tensor, data.data(), whole.data(), size);
}

void GroupCalls::tensor_all_gather(std::span<const std::byte> own, std::span<std::byte> all, NumberFormat format) {
  if (groups_.size(Axis::tensor) == 1) return;
  device_.enqueue(Stream::tensor,
                  [=, &group = groups_[Axis::tensor]] { group.all_gather(own, all, element_format(format)); });
}

void GroupCalls::tensor_reduce_scatter(std::span<const std::byte> data, std::span<std::byte> own, NumberFormat format) {
  if (groups_.size(Axis::tensor) == 1) return;
  device_.enqueue(Stream::tensor, [=, &group = groups_[Axis::tensor]] {
    group.reduce_scatter(data, own, element_format(format), Reduction::sum);
  });
}

}  // namespace plumbline

#include "core/cost/stack_sizes.h"

#include <algorithm>

namespace plumbline {
namespace {

double late_share_of(const CommunicationEfficiency& communication) {
  const double slowdown = communication.overlap_slowdown;
  if (slowdown >= 1) return 0;
  return std::clamp((communication.data_parallel_exposure - slowdown) / (1 - slowdown), 0.0, 1.0);
}

/// Units are gathered whole, however many parameters they have.
ShardingEfficiency whole_units_of_textbook() {
  constexpr double more_than_any = 1e15;
  ShardingEfficiency sharding;
  sharding.gathered_parameters.value = sharding.gathered_gradients.value = more_than_any;
  return sharding;
}

}  // namespace

StackSizes::StackSizes(const StackCalibration& stack)
    : features(stack.features),
      memory(stack.memory),
      sharding(stack.sharding),
      bucket_bytes(stack.communication.bucket_bytes),
      late_share(late_share_of(stack.communication)) {}

StackSizes textbook_sizes(const StackFeatures& features) {
  static const MemoryEfficiency nothing{};
  static const ShardingEfficiency whole_units = whole_units_of_textbook();
  return {features, nothing, whole_units};
}

}  // namespace plumbline

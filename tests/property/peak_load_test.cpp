// Peaks of what a rank holds, against a replay that keeps every micro-batch by name.

#include "core/program/peak_load.h"

#include <algorithm>
#include <random>
#include <set>

#include "core/program/pipeline_orders.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

class Random {
 public:
  std::int32_t between(std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(bits_() % static_cast<std::uint64_t>(high - low + 1));
  }
  Bytes bytes(std::int32_t most) { return Bytes(between(0, most)); }
  /// Some chunks alike, some with logits, some that hold nothing.
  std::vector<ChunkLoad> chunks(std::int32_t count) {
    std::vector<ChunkLoad> result;
    for (std::int32_t c = 0; c < count; ++c) {
      const Bytes working = bytes(30);
      MemoryProfile memory;
      memory.saved = bytes(between(0, 1) * 9);
      memory.logits = between(0, 3) == 0 ? bytes(20) : Bytes(0);
      memory.working = {working, working + bytes(between(0, 1) * 30), bytes(40), bytes(20)};
      memory.kept_for_weight = bytes(static_cast<std::int32_t>(memory.saved.value()));
      memory.deferred = bytes(10);
      memory.late_logits = between(0, 1) == 0 ? memory.logits : Bytes(0);
      result.push_back({memory});
    }
    return result;
  }

  /// Of chunks that keep them whole until their last backward; some have none.
  void keep_gradients(std::vector<ChunkLoad>& chunks) {
    for (ChunkLoad& chunk : chunks)
      if (between(0, 3) > 0) chunk.gradients = bytes(60);
  }

  /// As the last rank of a V does, with or without a gradient that comes back.
  void hand_on(ChunkLoad& load) {
    load.transferred = bytes(30);
    load.transferred_gradient = between(0, 1) == 0 ? load.transferred : Bytes(0);
  }

 private:
  std::mt19937_64 bits_{20241111};
};

Bytes working_of(const WorkingSets& own, ActionKind kind) {
  switch (kind) {
    case ActionKind::forward: return own.forward;
    case ActionKind::backward: return own.backward;
    case ActionKind::backward_input: return own.backward_input;
    default: return own.weight;
  }
}

/// The most that is alive while an action of each kind runs. What each micro-batch holds is known by name.
std::array<Bytes, 4> replayed(const RankOrder& order, const std::vector<ChunkLoad>& chunks) {
  std::set<std::pair<std::int32_t, std::int32_t>> saved;     // from forward to (input gradients of a) backward
  std::set<std::pair<std::int32_t, std::int32_t>> deferred;  // from input gradients to weight gradients
  std::set<std::int32_t> transferred;            // by the first chunk to the second, from forward to forward
  std::set<std::int32_t> transferred_gradients;  // back, from backward to backward
  std::array<Bytes, 4> most{Bytes(-1), Bytes(-1), Bytes(-1), Bytes(-1)};
  const auto makes_gradients = [](const ComputeAction& a, std::int32_t chunk) {
    return a.chunk == chunk && (a.kind == ActionKind::backward || a.kind == ActionKind::backward_weight);
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const ComputeAction& a = order[i];
    const std::pair state(a.chunk, a.micro_batch);
    const MemoryProfile& own = chunks[static_cast<std::size_t>(a.chunk)].memory;
    const bool makes_input_gradients = a.kind == ActionKind::backward || a.kind == ActionKind::backward_input;
    if (a.kind == ActionKind::forward) saved.insert(state);
    if (a.kind == ActionKind::forward && a.chunk == 0) transferred.insert(a.micro_batch);
    if (makes_input_gradients && a.chunk == 1) transferred_gradients.insert(a.micro_batch);
    Bytes alive = working_of(own.working, a.kind);
    if (a.kind == ActionKind::backward_input) alive += own.deferred;
    for (const auto& [chunk, m] : saved)
      alive +=
          chunks[static_cast<std::size_t>(chunk)].memory.saved + chunks[static_cast<std::size_t>(chunk)].memory.logits;
    for (const auto& [chunk, m] : deferred) {
      const MemoryProfile& other = chunks[static_cast<std::size_t>(chunk)].memory;
      alive += other.kept_for_weight + other.deferred + other.late_logits;
    }
    for (std::int32_t chunk = 0; chunk < std::ssize(chunks); ++chunk) {
      const auto makes = [&](const ComputeAction& action) { return makes_gradients(action, chunk); };
      const auto now = order.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::any_of(order.begin(), now + 1, makes) && std::any_of(now, order.end(), makes))
        alive += chunks[static_cast<std::size_t>(chunk)].gradients;
    }
    alive += std::ssize(transferred) * chunks.front().transferred;
    alive += std::ssize(transferred_gradients) * chunks.front().transferred_gradient;
    Bytes& peak = most[static_cast<std::size_t>(a.kind)];
    peak = std::max(peak, alive);
    if (makes_input_gradients) saved.erase(state);
    if (a.kind == ActionKind::forward && a.chunk == 1) transferred.erase(a.micro_batch);
    if (makes_input_gradients && a.chunk == 0) transferred_gradients.erase(a.micro_batch);
    if (a.kind == ActionKind::backward_input) deferred.insert(state);
    if (a.kind == ActionKind::backward_weight) deferred.erase(state);
  }
  CHECK(saved.empty());
  CHECK(deferred.empty());
  return most;
}

PipelineShape shape_of(Schedule schedule, Random& random) {
  PipelineShape shape{random.between(2, 5), 1, random.between(1, 16)};
  if (placement(schedule) == StagePlacement::v_shaped) shape.virtual_stages = 2;
  if (schedule == Schedule::dualpipev) shape.micro_batches += 2 * shape.pipeline_stages;
  if (schedule != Schedule::interleaved) return shape;
  return {shape.pipeline_stages, random.between(2, 4), shape.pipeline_stages * random.between(1, 4)};
}

TEST_CASE("peak loads of every schedule are what a replay holds") {
  Random random;
  for (int n = 0; n < 1600; ++n) {
    const Schedule schedule = all_schedules[1 + static_cast<std::size_t>(n) % (all_schedules.size() - 1)];
    const PipelineShape shape = shape_of(schedule, random);
    const ComputeSchedule orders = compute_schedule(schedule, shape);
    std::vector<ChunkLoad> chunks = random.chunks(shape.virtual_stages);
    if (placement(schedule) == StagePlacement::v_shaped) random.hand_on(chunks.front());
    if (n % 3 == 0) random.keep_gradients(chunks);
    for (const RankOrder& order : orders.ranks) {
      const PeakLoads peaks = peak_loads(order, chunks);
      const std::array<Bytes, 4> most = replayed(order, chunks);
      INFO(to_text(schedule) << ", p " << shape.pipeline_stages << ", v " << shape.virtual_stages << ", m "
                             << shape.micro_batches);
      for (std::size_t kind = 0; kind < most.size(); ++kind) {
        const LoadPeak& peak = peaks.of_kind[kind];
        REQUIRE((peak.position < 0) == (most[kind] < Bytes(0)));
        if (peak.position >= 0) REQUIRE(peak.total() == most[kind]);
      }
    }
  }
}

TEST_CASE("runs of the interleaved order have the peaks of its actions") {
  Random random;
  for (int n = 0; n < 3000; ++n) {
    const PipelineShape shape = shape_of(Schedule::interleaved, random);
    std::vector<ChunkLoad> chunks = random.chunks(shape.virtual_stages);
    if (n % 3 == 0) random.keep_gradients(chunks);
    if (n % 4 == 0) chunks.assign(chunks.size(), chunks.front());
    const std::vector<RankOrder> orders = order_of(Schedule::interleaved).orders(shape);
    for (std::int32_t rank = 0; rank < shape.pipeline_stages; ++rank) {
      INFO("p " << shape.pipeline_stages << ", v " << shape.virtual_stages << ", m " << shape.micro_batches << ", rank "
                << rank);
      const PeakLoads by_runs = interleaved_peak_loads(shape, rank, chunks);
      const PeakLoads by_actions = peak_loads(orders[static_cast<std::size_t>(rank)], chunks);
      for (const ActionKind kind : {ActionKind::forward, ActionKind::backward})
        REQUIRE(by_runs[kind].total() == by_actions[kind].total());
    }
  }
}

}  // namespace
}  // namespace plumbline

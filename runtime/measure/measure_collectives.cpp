// Collectives between threads of this process, and what threads lose when there are more of them than cores.
#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/linear.h"
#include "runtime/local/local_ranks.h"
#include "runtime/measure/measure_kernels.h"
#include "runtime/measure/measured_tensor.h"
#include "runtime/measure/timing.h"

namespace plumbline {
namespace {

using StepClock = std::chrono::steady_clock;

constexpr int thread_repetitions = 15;
constexpr std::int32_t most_threads = 64;

void call_once(Communicator& group, Collective kind, std::vector<std::byte>& data, std::vector<std::byte>& own) {
  constexpr ElementFormat format = ElementFormat::fp32;
  switch (kind) {
    case Collective::all_reduce: group.all_reduce(data, format, Reduction::sum); break;
    case Collective::all_gather: group.all_gather(own, data, format); break;
    case Collective::reduce_scatter: group.reduce_scatter(data, own, format, Reduction::sum); break;
    default: {  // a message to the next rank, one from the rank before
      const std::int32_t ranks = group.rank_set().size();
      group.send(data, (group.index() + 1) % ranks, 0);
      group.receive(data, (group.index() + ranks - 1) % ranks, 0);
    }
  }
}

/// The median over repetitions of how long the slowest rank took: all begin behind a barrier.
double collective_seconds(Collective kind, std::int32_t ranks, Bytes bytes) {
  std::array<double, thread_repetitions> slowest{};
  std::mutex mutex;
  run_local_ranks(ranks, [&](World& world) {
    const auto group = world.everyone("measured");
    std::vector<std::byte> data(static_cast<std::size_t>(bytes.value()));
    const ElementRange range = owned_range(bytes.value() / 4, ranks, group->index());
    std::vector<std::byte> own(static_cast<std::size_t>(4 * range.count));
    call_once(*group, kind, data, own);
    for (double& longest : slowest) {
      group->barrier();
      const auto begin = StepClock::now();
      call_once(*group, kind, data, own);
      const double seconds = std::chrono::duration<double>(StepClock::now() - begin).count();
      const std::lock_guard lock(mutex);
      longest = std::max(longest, seconds);
    }
  });
  std::sort(slowest.begin(), slowest.end());
  return std::max(slowest[thread_repetitions / 2], 1e-9);
}

/// The mean seconds that one product takes on each of `threads` at once, for a tenth of a second.
double crowd_seconds(std::int32_t threads) {
  constexpr std::int64_t tokens = 256;
  constexpr std::int64_t width = 256;
  constexpr double length_s = 0.2;
  std::vector<double> each(static_cast<std::size_t>(threads));
  std::vector<std::jthread> workers;
  for (double& seconds : each)
    workers.emplace_back([&seconds] {
      MeasuredTensor input(NumberFormat::fp32, tokens, width);
      MeasuredTensor weight(NumberFormat::fp32, width, width);
      MeasuredTensor output(NumberFormat::fp32, tokens, width);
      LinearForward forward{input, weight, {}, output, {}};
      MeasuredWorkspace scratch(reference::linear_workspace(forward));
      forward.workspace = scratch.view();
      const auto begin = StepClock::now();
      double spent = 0;
      std::int64_t calls = 0;
      for (; spent < length_s; ++calls) {
        reference::linear_forward(forward);
        spent = std::chrono::duration<double>(StepClock::now() - begin).count();
      }
      seconds = spent / static_cast<double>(calls);
    });
  workers.clear();
  double sum = 0;
  for (const double seconds : each) sum += seconds;
  return sum / threads;
}

}  // namespace

void measure_collectives(const MeasureOptions& options, KernelTable& table) {
  const bool brief = options.extent == MeasureExtent::brief;
  for (std::int32_t ranks = 2; ranks <= std::min(most_threads, 4 * options.cores); ranks *= 2)
    for (const Bytes bytes : {16_KiB, 256_KiB, 4_MiB})
      for (const Collective kind :
           {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter, Collective::send_receive}) {
        if (options.stop.stop_requested() || (brief && (ranks > 2 || bytes > 16_KiB))) return;
        options.progress("collectives among " + std::to_string(ranks) + " ranks");
        table.collectives.push_back({std::string(to_text(kind)), ranks, bytes, collective_seconds(kind, ranks, bytes)});
      }
}

void measure_crowds(const MeasureOptions& options, KernelTable& table) {
  const double alone = crowd_seconds(1);
  table.crowds.push_back({1, 1});
  const std::int32_t most = options.extent == MeasureExtent::brief ? 2 : std::min(most_threads, 4 * options.cores);
  for (std::int32_t threads = 2; threads <= most && !options.stop.stop_requested(); threads *= 2) {
    options.progress(std::to_string(threads) + " threads at once");
    table.crowds.push_back({threads, crowd_seconds(threads) / alone});
  }
}

}  // namespace plumbline

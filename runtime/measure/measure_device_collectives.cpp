#include <algorithm>
#include <array>
#include <mutex>

#include "runtime/device/compute_device.h"
#include "runtime/local/local_ranks.h"
#include "runtime/measure/measure_device.h"

namespace plumbline {
namespace {

constexpr int device_repetitions = 15;
constexpr std::array sizes{64_KiB, 1_MiB, 16_MiB, 256_MiB};

struct Operands {
  std::span<std::byte> whole;
  std::span<std::byte> own;
};

void call_once(Communicator& group, Collective kind, const Operands& at) {
  constexpr ElementFormat format = ElementFormat::bf16;
  switch (kind) {
    case Collective::all_reduce: return group.all_reduce(at.whole, format, Reduction::sum);
    case Collective::all_gather: return group.all_gather(at.own, at.whole, format);
    case Collective::reduce_scatter: return group.reduce_scatter(at.whole, at.own, format, Reduction::sum);
    default: {  // a message to the next rank, one from the rank before
      const std::int32_t ranks = group.rank_set().size();
      group.send(at.whole, (group.index() + 1) % ranks, 0);
      return group.receive(at.whole, (group.index() + ranks - 1) % ranks, 0);
    }
  }
}

/// The median over repetitions of how long the slowest rank took, by the marks of its device.
double collective_seconds(const MeasuredRanks& of, std::int32_t ranks, Collective kind, Bytes bytes) {
  std::array<double, device_repetitions> slowest{};
  std::mutex mutex;
  const MeasuredRanks::MakeGroups groups = of.meet();
  run_local_ranks(ranks, [&](World& threads) {
    const std::unique_ptr<ComputeDevice> device = of.device(threads.rank());
    World world(groups(threads.rank()), ranks);
    RankSet set{"measured", {}};
    for (std::int32_t rank = 0; rank < ranks; ++rank) set.ranks.push_back(rank);
    const auto group = world.communicator(set, Messages::ring);
    const DeviceMemory memory = device->reserve(bytes);
    device->fill(Stream::compute, memory.get(), std::byte{0}, bytes);
    const Bytes part = bytes / ranks;
    const Operands at{{memory.get(), static_cast<std::size_t>(bytes.value())},
                      {memory.get() + group->index() * part.value(), static_cast<std::size_t>(part.value())}};
    const auto call = [&] { device->enqueue(Stream::compute, [&] { call_once(*group, kind, at); }); };
    call();
    for (double& longest : slowest) {
      device->finish_all();
      group->barrier();
      const Mark begin = device->timed_mark(Stream::compute);
      call();
      const Mark end = device->timed_mark(Stream::compute);
      device->finish_all();
      const double seconds = 1e-9 * static_cast<double>(device->elapsed_ns(begin, end));
      const std::lock_guard lock(mutex);
      longest = std::max(longest, seconds);
    }
  });
  std::sort(slowest.begin(), slowest.end());
  return std::max(slowest[device_repetitions / 2], 1e-9);
}

}  // namespace

void measure_device_collectives(const MeasuredRanks& of, const MeasureOptions& options, KernelTable& table) {
  const bool brief = options.extent == MeasureExtent::brief;
  std::vector<std::int32_t> crowds;
  for (std::int32_t ranks = 2; ranks < of.ranks; ranks *= 2) crowds.push_back(ranks);
  if (of.ranks > 1) crowds.push_back(of.ranks);
  for (const std::int32_t ranks : crowds)
    for (const Bytes size : sizes)
      for (const Collective kind :
           {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter, Collective::send_receive}) {
        if (options.stop.stop_requested() || (brief && size > sizes.front())) return;
        options.progress("collectives among " + std::to_string(ranks) + " devices");
        const std::int64_t parts = std::int64_t{2} * ranks;
        const Bytes whole = size / parts * parts;
        table.collectives.push_back(
            {std::string(to_text(kind)), ranks, whole, collective_seconds(of, ranks, kind, whole)});
      }
}

}  // namespace plumbline

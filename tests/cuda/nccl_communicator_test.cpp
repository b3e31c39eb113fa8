// The collectives of NCCL's groups against those of local ranks: the same numbers and the same counted bytes, on the
// device's memory and on the host's, with parts of equal and of different sizes.
#include "runtime/nccl/nccl_communicator.h"

#include <cstring>
#include <numeric>

#include "runtime/device/cpu_kernels.h"
#include "tests/catch.h"
#include "tests/cuda/nccl_ranks.h"

namespace plumbline::nccl_communicator_test {
namespace {

using Numbers = std::vector<float>;
using Counts = std::vector<std::int64_t>;

/// Small whole numbers: any order of sums gives the same.
Numbers numbers(std::size_t count, std::int32_t rank) {
  Numbers made(count);
  for (std::size_t i = 0; i < count; ++i)
    made[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 5) % 11);
  return made;
}

std::span<std::byte> bytes(Numbers& of) { return std::as_writable_bytes(std::span(of)); }

/// All that a communicator does, with what came of it and what was counted.
struct Outcome {
  std::vector<Numbers> results;
  SentByKind sent;
};

/// Where operands lie: `run` calls with operands of its own memory and brings results back.
using Run = std::function<void(std::vector<Numbers*>, const std::function<void(std::vector<std::span<std::byte>>)>&)>;

Outcome collectives(Communicator& group, std::size_t elements, const Run& run) {
  const std::int32_t n = group.rank_set().size();
  const std::int32_t me = group.index();
  Outcome outcome;
  const auto keep = [&](const Numbers& result) { outcome.results.push_back(result); };
  Numbers all = numbers(elements, me);
  run({&all}, [&](auto at) { group.all_reduce(at[0], ElementFormat::fp32, Reduction::sum); });
  keep(all);
  all = numbers(elements, me);
  run({&all}, [&](auto at) { group.all_reduce(at[0], ElementFormat::fp32, Reduction::maximum); });
  keep(all);
  const ElementRange owned = owned_range(static_cast<std::int64_t>(elements), n, me);
  Numbers own(static_cast<std::size_t>(owned.count));
  all = numbers(elements, me);
  run({&all, &own}, [&](auto at) { group.reduce_scatter(at[0], at[1], ElementFormat::fp32, Reduction::sum); });
  keep(own);
  run({&own, &all}, [&](auto at) { group.all_gather(at[0], at[1], ElementFormat::fp32); });
  keep(all);
  Counts counts;
  for (std::int32_t rank = 0; rank < n; ++rank) counts.push_back(rank * 3 % 4);  // a zero among them
  const auto total = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  Numbers part = numbers(static_cast<std::size_t>(counts[static_cast<std::size_t>(me)]), me);
  Numbers parts(total);
  run({&part, &parts}, [&](auto at) { group.all_gather(at[0], at[1], counts, ElementFormat::fp32); });
  keep(parts);
  run({&parts, &part},
      [&](auto at) { group.reduce_scatter(at[0], at[1], counts, ElementFormat::fp32, Reduction::sum); });
  keep(part);
  Counts to;  // rank r sends (r + s) mod 3 elements to rank s
  Counts from;
  for (std::int32_t rank = 0; rank < n; ++rank) {
    to.push_back((me + rank) % 3);
    from.push_back((me + rank) % 3);
  }
  Numbers leaving = numbers(static_cast<std::size_t>(std::accumulate(to.begin(), to.end(), std::int64_t{0})), me);
  Numbers coming(leaving.size());
  run({&leaving, &coming}, [&](auto at) { group.all_to_all(at[0], to, at[1], from, ElementFormat::fp32); });
  keep(coming);
  all = numbers(elements, me);
  run({&all}, [&](auto at) { group.broadcast(at[0], n - 1); });
  keep(all);
  group.barrier();
  outcome.sent = group.sent();
  return outcome;
}

void on_host(std::vector<Numbers*> operands, const std::function<void(std::vector<std::span<std::byte>>)>& call) {
  std::vector<std::span<std::byte>> at;
  for (Numbers* one : operands) at.push_back(bytes(*one));
  call(at);
}

/// On the data lane, from copies in the device's memory.
Run on(CudaDevice& device) {
  return [&](std::vector<Numbers*> operands, const auto& call) {
    std::vector<DeviceMemory> memory;
    std::vector<std::span<std::byte>> at;
    for (Numbers* one : operands) {
      const Bytes size(std::ssize(bytes(*one)));
      memory.push_back(device.reserve(size));
      device.upload(Stream::data, memory.back().get(), one->data(), size);
      at.emplace_back(memory.back().get(), static_cast<std::size_t>(size.value()));
    }
    device.enqueue(Stream::data, [&] { call(at); });
    for (std::size_t i = 0; i < operands.size(); ++i)
      device.download(Stream::data, operands[i]->data(), at[i].data(), Bytes(std::ssize(at[i])));
    device.finish_all();
  };
}

std::vector<Outcome> of_local_ranks(std::int32_t ranks, std::size_t elements) {
  std::vector<Outcome> all(static_cast<std::size_t>(ranks));
  run_local_ranks(ranks, [&](World& world) {
    const auto group = world.everyone("all");
    all[static_cast<std::size_t>(world.rank())] = collectives(*group, elements, on_host);
  });
  return all;
}

TEST_CASE("Groups of NCCL have the numbers and counted bytes of local ranks") {
  for (const std::int32_t ranks : {1, 2, 3, 5})
    for (const std::size_t elements : {std::size_t{60}, std::size_t{31}, std::size_t{2}}) {
      const std::vector<Outcome> expected = of_local_ranks(ranks, elements);
      for (const bool is_on_device : {false, true}) {
        INFO(ranks << " ranks, " << elements << " elements, device " << is_on_device);
        const NcclComputer computer(static_cast<unsigned>(elements));
        std::vector<Outcome> all(expected.size());
        run_nccl_ranks(ranks, cpu_kernels(), {}, [&](World& world, CudaDevice& device) {
          const auto group = world.everyone("all");
          all[static_cast<std::size_t>(world.rank())] =
              collectives(*group, elements, is_on_device ? on(device) : Run(on_host));
        });
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
          CHECK(all[rank].results == expected[rank].results);
          CHECK(all[rank].sent.bytes == expected[rank].sent.bytes);
          CHECK(all[rank].sent.calls == expected[rank].sent.calls);
        }
      }
    }
}

// Both ranks send first, as pipelines do, several messages deep, and go on at once.
TEST_CASE("Messages of both directions pass each other, and the sender's memory may change at once") {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const NcclComputer computer(seed);
    run_nccl_ranks(3, cpu_kernels(), {}, [&](World& world, CudaDevice& device) {
      const auto group = world.communicator({"pipeline", {0, 1, 2}}, Messages::stages);
      const std::int32_t me = group->index();
      const DeviceMemory out = device.reserve(Bytes(400));
      const DeviceMemory in = device.reserve(Bytes(400));
      std::vector<Numbers> received;
      const auto send = [&](std::int32_t to, std::int32_t tag) {
        Numbers message(100, static_cast<float>(100 * me + tag));
        device.upload(Stream::compute, out.get(), message.data(), Bytes(400));
        device.enqueue(Stream::compute, [&] { group->send({out.get(), 400}, to, tag); });
        device.fill(Stream::compute, out.get(), std::byte{0xff}, Bytes(400));
      };
      const auto receive = [&](std::int32_t from, std::int32_t tag) {
        device.enqueue(Stream::compute, [&] { group->receive({in.get(), 400}, from, tag); });
        Numbers& got = received.emplace_back(100);
        device.download(Stream::compute, got.data(), in.get(), Bytes(400));
        device.fill(Stream::compute, in.get(), std::byte{0xff}, Bytes(400));
      };
      received.reserve(100);
      for (std::int32_t m = 0; m < 3; ++m) {
        send((me + 1) % 3, 2 * m);
        send((me + 2) % 3, 2 * m + 1);
      }
      for (std::int32_t m = 0; m < 3; ++m) {
        receive((me + 1) % 3, 2 * m + 1);
        receive((me + 2) % 3, 2 * m);
      }
      device.finish_all();
      for (std::int32_t m = 0; m < 3; ++m) {
        const auto at = static_cast<std::size_t>(2 * m);
        if (received[at] != Numbers(100, static_cast<float>(100 * ((me + 1) % 3) + 2 * m + 1)) ||
            received[at + 1] != Numbers(100, static_cast<float>(100 * ((me + 2) % 3) + 2 * m)))
          throw EnvironmentError("a message holds other numbers");
      }
      if (group->sent()[Collective::send_receive] != Bytes(2400)) throw EnvironmentError("other bytes are counted");
    });
  }
}

TEST_CASE("Messages of the host's memory go between any two ranks") {
  const NcclComputer computer;
  run_nccl_ranks(4, cpu_kernels(), {}, [&](World& world, CudaDevice&) {
    const auto group = world.everyone("records");
    std::int64_t number = world.rank() * 10;
    if (world.rank() > 0) return group->send(std::as_bytes(std::span(&number, 1)), 0, 0);
    for (std::int32_t rank = 1; rank < 4; ++rank) {
      group->receive(std::as_writable_bytes(std::span(&number, 1)), rank, 0);
      if (number != rank * 10) throw EnvironmentError("another number came");
    }
  });
}

}  // namespace
}  // namespace plumbline::nccl_communicator_test

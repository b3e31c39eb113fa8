#pragma once
/// \file communicator_scenario.h: every call of a communicator on seeded data: what came out, for any transport.

#include <cstring>
#include <random>
#include <span>

#include "kernels/number_conversion.h"
#include "runtime/communication/world.h"
#include "tests/catch.h"

namespace plumbline {

using ByteList = std::vector<std::byte>;

/// The seeded numbers that `rank` contributes: the same wherever it runs. Some sums round, some do not.
inline ByteList contribution(std::int64_t elements, ElementFormat format, std::int32_t rank, std::uint32_t seed) {
  std::mt19937 random(seed * 1009U + static_cast<std::uint32_t>(rank));
  ByteList data(static_cast<std::size_t>(elements * element_bytes(format)));
  for (std::int64_t i = 0; i < elements; ++i) {
    const float value =
        (static_cast<float>(random() >> 8) * 0x1p-24F - 0.5F) * static_cast<float>(1U << (random() % 12));
    const std::uint16_t half = format == ElementFormat::bf16 ? to_bf16(value) : to_fp16(value);
    std::byte* const to = data.data() + i * element_bytes(format);
    if (format == ElementFormat::fp32)
      std::memcpy(to, &value, 4);
    else if (format == ElementFormat::bytes)
      *to = static_cast<std::byte>(random());
    else
      std::memcpy(to, &half, 2);
  }
  return data;
}

/// What one rank has at the end: all results after each other, and its counters.
struct ScenarioOutcome {
  ByteList results;
  std::vector<SentByKind> sent;

  void keep(std::span<const std::byte> data) { results.insert(results.end(), data.begin(), data.end()); }
};

inline std::size_t owned_size(std::int64_t elements, const Communicator& group, ElementFormat format) {
  return static_cast<std::size_t>(owned_range(elements, group.rank_set().size(), group.index()).count *
                                  element_bytes(format));
}

inline void run_collectives(Communicator& group, std::int32_t rank, ElementFormat format, std::int64_t elements,
                            ScenarioOutcome& outcome) {
  const ByteList data = contribution(elements, format, rank, 1);
  if (format != ElementFormat::bytes) {
    for (const Reduction reduction : {Reduction::sum, Reduction::maximum}) {
      ByteList all = data;
      group.all_reduce(all, format, reduction);
      outcome.keep(all);
    }
    ByteList own(owned_size(elements, group, format));
    group.reduce_scatter(data, own, format, Reduction::sum);
    outcome.keep(own);
  }
  ByteList gathered(data.size());
  group.all_gather(contribution(owned_range(elements, group.rank_set().size(), group.index()).count, format, rank, 2),
                   gathered, format);
  outcome.keep(gathered);
  for (std::int32_t root = 0; root < group.rank_set().size(); ++root) {
    ByteList told = contribution(elements, format, rank, 3);
    group.broadcast(told, root);
    outcome.keep(told);
  }
}

/// From rank i of the group to rank j: 3 i + 2 j elements, and none every fifth time.
inline std::int64_t uneven_count(std::int32_t from, std::int32_t to) {
  return (from + to) % 5 == 4 ? 0 : 3 * from + 2 * to;
}

inline void run_all_to_all(Communicator& group, std::int32_t rank, ElementFormat format, ScenarioOutcome& outcome) {
  std::vector<std::int64_t> leaving;
  std::vector<std::int64_t> coming;
  std::int64_t sent = 0;
  std::int64_t received = 0;
  for (std::int32_t other = 0; other < group.rank_set().size(); ++other) {
    sent += leaving.emplace_back(uneven_count(group.index(), other));
    received += coming.emplace_back(uneven_count(other, group.index()));
  }
  ByteList result(static_cast<std::size_t>(received * element_bytes(format)));
  group.all_to_all(contribution(sent, format, rank, 4), leaving, result, coming, format);
  outcome.keep(result);
}

/// Rank i of the group has 5 i + 1 elements of the whole, and every third one none.
inline void play_unequal_parts(Communicator& group, std::int32_t rank, ElementFormat format, ScenarioOutcome& outcome) {
  std::vector<std::int64_t> counts;
  std::int64_t whole = 0;
  for (std::int32_t i = 0; i < group.rank_set().size(); ++i) whole += counts.emplace_back(i % 3 == 2 ? 0 : 5 * i + 1);
  const std::int64_t count = counts[static_cast<std::size_t>(group.index())];
  ByteList all(static_cast<std::size_t>(whole * element_bytes(format)));
  group.all_gather(contribution(count, format, rank, 6), all, counts, format);
  outcome.keep(all);
  if (format == ElementFormat::bytes) return;
  ByteList own(static_cast<std::size_t>(count * element_bytes(format)));
  group.reduce_scatter(contribution(whole, format, rank, 7), own, counts, format, Reduction::sum);
  outcome.keep(own);
}

/// Two tags, taken in the other order than sent.
inline void run_messages(Communicator& group, std::int32_t rank, ScenarioOutcome& outcome) {
  const std::int32_t size = group.rank_set().size();
  if (size == 1) return;
  const std::int32_t next = (group.index() + 1) % size;
  const std::int32_t previous = (group.index() + size - 1) % size;
  for (const std::int32_t tag : {7, 8, 7}) group.send(contribution(5 + tag, ElementFormat::bf16, rank, 5), next, tag);
  for (const std::int32_t tag : {8, 7, 7}) {
    ByteList message(static_cast<std::size_t>(2 * (5 + tag)));
    group.receive(message, previous, tag);
    outcome.keep(message);
  }
}

/// Over the whole world and over its even and odd ranks, sizes that divide and that do not, fewer than ranks, none.
inline ScenarioOutcome run_scenario(World& world) {
  ScenarioOutcome outcome;
  RankSet half{world.rank() % 2 == 0 ? "even" : "odd", {}};
  for (std::int32_t rank = world.rank() % 2; rank < world.size(); rank += 2) half.ranks.push_back(rank);
  std::vector<std::unique_ptr<Communicator>> groups;
  groups.push_back(world.everyone("all"));
  groups.push_back(world.communicator(half));
  for (const auto& group : groups) {
    for (const ElementFormat format :
         {ElementFormat::fp32, ElementFormat::bf16, ElementFormat::fp16, ElementFormat::bytes}) {
      for (const std::int64_t elements : {0, 1, 3, 24, 1001})
        run_collectives(*group, world.rank(), format, elements, outcome);
      run_all_to_all(*group, world.rank(), format, outcome);
      play_unequal_parts(*group, world.rank(), format, outcome);
    }
    run_messages(*group, world.rank(), outcome);
    group->barrier();
    outcome.sent.push_back(group->sent());
  }
  return outcome;
}

}  // namespace plumbline

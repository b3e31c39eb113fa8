// Ranks as threads: sums by hand, results against a plain loop, bytes against the formulas, and faults.

#include "runtime/local/local_ranks.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

#include "runtime/communication/reduce.h"
#include "tests/catch.h"
#include "tests/runtime/communication/communicator_scenario.h"

namespace plumbline {
namespace {

using std::chrono::milliseconds;
constexpr LocalOptions impatient{milliseconds(300), milliseconds(2000)};
constexpr LocalOptions patient{milliseconds(20'000), milliseconds(5000)};  // where no deadline is meant to pass

std::vector<ScenarioOutcome> scenario_of(std::int32_t ranks) {
  std::vector<ScenarioOutcome> outcomes(static_cast<std::size_t>(ranks));
  run_local_ranks(ranks, [&](World& w) { outcomes[static_cast<std::size_t>(w.rank())] = run_scenario(w); });
  return outcomes;
}

std::string failure_of(std::int32_t ranks, const LocalOptions& options, const std::function<void(World&)>& body) {
  try {
    run_local_ranks(ranks, body, options);
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "";
}

void sum_of_ones(World& world) {
  const auto group = world.everyone("data");
  std::vector<float> ones(10, 1.0F);
  group->all_reduce(std::as_writable_bytes(std::span(ones)), ElementFormat::fp32, Reduction::sum);
  group->barrier();
}

// Ranks 0 and 1 contribute 1, rank 2 contributes 2^24: (1 + 1) + 2^24 = 2^24 + 2. Any order that begins with 2^24 and
// adds one at a time gives 2^24. The ring's own order would differ from element to element.
TEST_CASE("Every element of a sum over ranks has the value of ascending rank order") {
  run_local_ranks(3, [](World& world) {
    const auto group = world.everyone("data");
    std::vector<float> data(7, world.rank() == 2 ? 0x1p24F : 1.0F);
    group->all_reduce(std::as_writable_bytes(std::span(data)), ElementFormat::fp32, Reduction::sum);
    for (const float value : data)
      if (value != 0x1p24F + 2) throw std::runtime_error("another order");
  });
}

ByteList expected_sum(std::int64_t elements, ElementFormat format, std::int32_t ranks) {
  std::vector<ByteList> all;
  std::vector<std::span<const std::byte>> spans;
  for (std::int32_t r = 0; r < ranks; ++r) all.push_back(contribution(elements, format, r, 1));
  for (const ByteList& one : all) spans.emplace_back(one);
  ByteList sum(all[0].size());
  reduce_in_order(spans, sum, format, Reduction::sum);
  return sum;
}

TEST_CASE("All-reduce, reduce-scatter and all-gather agree with a plain loop, for every size and format") {
  for (const std::int32_t ranks : {1, 2, 3, 5})
    run_local_ranks(ranks, [ranks](World& world) {
      const auto group = world.everyone("data");
      for (const ElementFormat format : {ElementFormat::fp32, ElementFormat::bf16, ElementFormat::fp16})
        for (const std::int64_t elements : {0, 1, 4, 37, 2600}) {
          const ByteList expected = expected_sum(elements, format, ranks);
          ByteList data = contribution(elements, format, world.rank(), 1);
          ByteList own(owned_size(elements, *group, format));
          group->reduce_scatter(data, own, format, Reduction::sum);
          ByteList gathered(data.size());
          group->all_gather(own, gathered, format);
          group->all_reduce(data, format, Reduction::sum);
          if (data != expected || gathered != expected) throw std::runtime_error("a sum is wrong");
        }
    });
}

TEST_CASE("An uneven all-to-all puts every part where it belongs") {
  run_local_ranks(4, [](World& world) {
    const auto group = world.everyone("expert");
    ScenarioOutcome outcome;
    run_all_to_all(*group, world.rank(), ElementFormat::bytes, outcome);
    ByteList expected;
    for (std::int32_t from = 0; from < 4; ++from) {
      std::int64_t first = 0;
      std::int64_t all = 0;
      for (std::int32_t to = 0; to < 4; ++to) {
        if (to < world.rank()) first += uneven_count(from, to);
        all += uneven_count(from, to);
      }
      const ByteList theirs = contribution(all, ElementFormat::bytes, from, 4);
      expected.insert(expected.end(), theirs.begin() + first,
                      theirs.begin() + first + uneven_count(from, world.rank()));
    }
    if (outcome.results != expected) throw std::runtime_error("a part is in the wrong place");
  });
}

TEST_CASE("Chunks may be reduced and gathered in place") {
  run_local_ranks(3, [](World& world) {
    const auto group = world.everyone("data");
    std::vector<float> data{1, 2, 3, 4, 5, 6, 7};
    const ElementRange owned = owned_range(7, 3, world.rank());
    const auto own =
        std::span(data).subspan(static_cast<std::size_t>(owned.first), static_cast<std::size_t>(owned.count));
    group->reduce_scatter(std::as_bytes(std::span(data)), std::as_writable_bytes(own), ElementFormat::fp32,
                          Reduction::sum);
    group->all_gather(std::as_bytes(own), std::as_writable_bytes(std::span(data)), ElementFormat::fp32);
    if (data != std::vector<float>{3, 6, 9, 12, 15, 18, 21}) throw std::runtime_error("not three times");
  });
}

// Of six numbers rank 0 has one, rank 1 three and rank 2 two. To sum, rank 1 sends what is not its own: 3 numbers of 4
// bytes; to gather, its own 3 to two ranks.
TEST_CASE("Parts of different sizes are summed and gathered in place, each sent straight to its owner") {
  run_local_ranks(3, [](World& world) {
    const auto group = world.everyone("experts");
    const std::vector<std::int64_t> counts{1, 3, 2};
    const std::size_t first = world.rank() == 0 ? 0 : world.rank() == 1 ? 1 : 4;
    std::vector<float> data{1, 2, 3, 4, 5, 6};
    for (float& value : data) value += static_cast<float>(10 * world.rank());
    const auto own =
        std::span(data).subspan(first, static_cast<std::size_t>(counts[static_cast<std::size_t>(world.rank())]));
    group->reduce_scatter(std::as_bytes(std::span(data)), std::as_writable_bytes(own), counts, ElementFormat::fp32,
                          Reduction::sum);
    group->all_gather(std::as_bytes(own), std::as_writable_bytes(std::span(data)), counts, ElementFormat::fp32);
    if (data != std::vector<float>{33, 36, 39, 42, 45, 48}) throw std::runtime_error("not the sums");
    if (world.rank() != 1) return;
    if (group->sent()[Collective::reduce_scatter] != Bytes(12)) throw std::runtime_error("not the others' parts");
    if (group->sent()[Collective::all_gather] != Bytes(24)) throw std::runtime_error("not the own part twice");
  });
}

TEST_CASE("Two runs give the same bits and the same counts") {
  for (const std::int32_t ranks : {4, 5}) {
    const auto once = scenario_of(ranks);
    const auto again = scenario_of(ranks);
    for (std::size_t r = 0; r < once.size(); ++r) {
      CHECK(once[r].results == again[r].results);
      for (std::size_t g = 0; g < once[r].sent.size(); ++g) CHECK(once[r].sent[g].bytes == again[r].sent[g].bytes);
    }
  }
}

/// Bytes that each of `ranks` sent in one call of each collective over `elements` numbers of fp32.
std::vector<SentByKind> sent_of(std::int32_t ranks, std::int64_t elements) {
  std::vector<SentByKind> sent(static_cast<std::size_t>(ranks));
  run_local_ranks(ranks, [&](World& world) {
    const auto group = world.everyone("data");
    ByteList data = contribution(elements, ElementFormat::fp32, world.rank(), 1);
    ByteList own(owned_size(elements, *group, ElementFormat::fp32));
    group->all_reduce(data, ElementFormat::fp32, Reduction::sum);
    group->reduce_scatter(data, own, ElementFormat::fp32, Reduction::sum);
    group->all_gather(own, data, ElementFormat::fp32);
    std::vector<std::int64_t> counts;
    for (std::int32_t r = 0; r < ranks; ++r) counts.push_back(owned_range(elements, ranks, 0).count);
    ByteList parts(static_cast<std::size_t>(counts[0] * ranks * 4));
    ByteList other(parts.size());
    group->all_to_all(parts, counts, other, counts, ElementFormat::fp32);
    group->broadcast(data, 0);
    group->barrier();
    if (world.rank() == 0 && ranks > 1) group->send(data, 1, 0);
    if (world.rank() == 1) group->receive(data, 0, 0);
    sent[static_cast<std::size_t>(world.rank())] = group->sent();
  });
  return sent;
}

constexpr std::array ring_kinds{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter};

TEST_CASE("Where the ranks divide the elements, each rank sends the bytes of the formulas") {
  for (const std::int32_t ranks : {1, 2, 3, 4, 8}) {
    const Bytes bytes(24 * std::int64_t{4});
    const auto sent = sent_of(ranks, 24);
    for (const SentByKind& rank : sent) {
      for (const Collective kind : ring_kinds) CHECK(rank[kind] == wire_bytes(kind, bytes, ranks));
      CHECK(rank[Collective::all_to_all] == wire_bytes(Collective::all_to_all, bytes, ranks));
      CHECK(rank[Collective::barrier] == Bytes(0));
      CHECK(rank.calls[static_cast<std::size_t>(Collective::all_reduce)] == 1);
    }
    CHECK(sent[0][Collective::broadcast] == wire_bytes(Collective::broadcast, bytes, ranks));
    if (ranks > 1) CHECK(sent[0][Collective::send_receive] == wire_bytes(Collective::send_receive, bytes, 2));
  }
}

// 10 numbers over 4 ranks are chunks of 3, 3, 2, 2: a reduce-scatter sends all but the own chunk, 28 or 32 bytes, where
// the formula says 30: no rank can send half a number. All ranks together send (n - 1) times the buffer, exactly.
TEST_CASE("Uneven chunks: a rank is at most one element off the formula, the group sends the formula's bytes") {
  for (const std::int32_t ranks : {2, 3, 4, 5, 7})
    for (const std::int64_t elements : {1, 10, 37, 1001}) {
      const Bytes bytes(4 * elements);
      std::map<Collective, std::int64_t> total;
      for (const SentByKind& rank : sent_of(ranks, elements))
        for (const Collective kind : ring_kinds) {
          const std::int64_t passes = kind == Collective::all_reduce ? 2 : 1;
          const std::int64_t difference = rank[kind].value() - wire_bytes(kind, bytes, ranks).value();
          CHECK(std::abs(difference) <= 4 * passes);  // the formula itself is rounded up
          total[kind] += rank[kind].value();
        }
      CHECK(total[Collective::reduce_scatter] == bytes.value() * (ranks - 1));
      CHECK(total[Collective::all_gather] == bytes.value() * (ranks - 1));
      CHECK(total[Collective::all_reduce] == 2 * bytes.value() * (ranks - 1));
    }
  const auto ten = sent_of(4, 10);
  CHECK(ten[0][Collective::reduce_scatter] == Bytes(28));
  CHECK(ten[3][Collective::reduce_scatter] == Bytes(32));
}

TEST_CASE("A broadcast goes down the chain: all but the last rank send it") {
  const auto sent = sent_of(4, 24);
  CHECK(sent[2][Collective::broadcast] == Bytes(96));
  CHECK(sent[3][Collective::broadcast] == Bytes(0));
}

TEST_CASE("Groups of one name over the same ranks do not hear each other") {
  run_local_ranks(2, [](World& world) {
    const auto first = world.everyone("data");
    const auto second = world.everyone("data");
    ByteList one(1, std::byte{1});
    ByteList two(1, std::byte{2});
    if (world.rank() == 0) {
      first->send(one, 1, 0);
      second->send(two, 1, 0);
    } else {
      second->receive(one, 0, 0);
      first->receive(two, 0, 0);
      if (one[0] != std::byte{2} || two[0] != std::byte{1}) throw std::runtime_error("mixed up");
    }
  });
}

TEST_CASE("A rank that throws ends everybody, and the error names it") {
  std::atomic<int> ended{0};
  const std::string text = failure_of(4, patient, [&](World& world) {
    if (world.rank() == 2) throw EnvironmentError("disk full");
    try {
      sum_of_ones(world);
    } catch (const CommunicationError& error) {
      const std::string words = error.what();
      if (words.find("rank 2 failed: disk full") != std::string::npos &&
          words.find("all-reduce 0 of group data") != std::string::npos)
        ++ended;
      throw;
    }
  });
  CHECK(text == "rank 2 failed: disk full");
  CHECK(ended == 3);
}

TEST_CASE("A rank that stays away is named, with the call in which the others stood") {
  const std::string text = failure_of(3, impatient, [](World& world) {
    if (world.rank() != 1)
      sum_of_ones(world);
    else
      std::this_thread::sleep_for(milliseconds(900));
  });
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("waited 300 ms in all-reduce 0 of group data for rank 1"));
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("rank 1 is in no call"));
}

TEST_CASE("A rank that never comes back is left to itself, and the run ends") {
  struct Shared {
    std::atomic<bool> may_end{false};
    std::atomic<bool> has_ended{false};
  };
  const auto shared = std::make_shared<Shared>();
  const auto hanging = [shared](World& world) {
    if (world.rank() == 0) return sum_of_ones(world);
    shared->may_end.wait(false);
    shared->has_ended = true;
    shared->has_ended.notify_all();
  };
  std::string text;
  const auto begin = Clock::now();
  try {
    run_local_ranks(2, hanging, {milliseconds(100), milliseconds(100)});
  } catch (const CommunicationError& error) {
    text = error.what();
  }
  CHECK(Clock::now() - begin < milliseconds(5000));
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("rank 1 did not end"));
  shared->may_end = true;
  shared->may_end.notify_all();
  shared->has_ended.wait(false);
}

TEST_CASE("A rank that ends early is named") {
  const std::string text = failure_of(2, impatient, [](World& world) {
    if (world.rank() == 0) sum_of_ones(world);
  });
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring("rank 1 has ended"));
}

TEST_CASE("Ranks whose calls do not fit together are told both calls") {
  const auto mismatch = [](World& world) {
    const auto group = world.everyone("tensor");
    ByteList data(8);
    if (world.rank() == 0)
      group->all_reduce(data, ElementFormat::fp32, Reduction::sum);
    else
      group->broadcast(data, 1);
  };
  try {
    run_local_ranks(2, mismatch, patient);
    FAIL("calls that differ went through");
  } catch (const InternalError& error) {
    CHECK_THAT(error.what(),
               Catch::Matchers::ContainsSubstring("rank 0 in all-reduce 0 of group tensor expected 4 bytes"));
    CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring("rank 1 sent 8 bytes of broadcast 0 of group tensor"));
  }
}

TEST_CASE("Wrong input found by a rank stays wrong input") {
  CHECK_THROWS_AS(run_local_ranks(2,
                                  [](World&) {
                                    throw InputError({"plan", "is for another model", "", ""});
                                  }),
                  InputError);
}

}  // namespace
}  // namespace plumbline

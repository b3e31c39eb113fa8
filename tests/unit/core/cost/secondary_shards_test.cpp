// Secondary shards: what a rank holds of them, and what its passes gather over which ranks, by hand.

#include "core/cost/stage_memory.h"
#include "tests/catch.h"
#include "tests/networks.h"
#include "tests/pricing.h"

namespace plumbline::secondary_shards_test {
namespace {

Strategy twelve_ranks(std::int32_t secondary) {
  Strategy s;
  s.data_parallel = s.shard_group = 12;
  s.zero_stage = 3;
  s.micro_batches = 2;
  s.secondary_shard_group = secondary;
  return s;
}

/// A layer of 12 h^2 + 13 h = 49 984 parameters, five times; an embedding of 128 tokens and 32 positions, 10 240, which
/// the head reads too; a last norm of 2 h = 128.
Pricing five_layers() { return {gpt({5, 64, 4, 128, 32}), Training{}}; }

// Each padded to a multiple of 12: 5 x 49 992 + 10 248 + 132 = 260 340 parameters of 2 bytes, 520 680 bytes.
constexpr std::int64_t whole_bytes = 520'680;

StepPricer steps() { return {BlockPricer(round_cluster(2), round_calibration()), Training{}}; }

// 520 680 x 11/12 = 477 290 bytes over all ranks, x 3/4 = 390 510 over four, x 2/3 = 347 120 over three.
TEST_CASE("a forward gathers over the shard group and a backward over the secondary one") {
  const StageCost stage = five_layers().stages(twelve_ranks(1)).front();
  REQUIRE(stage.parameters.total() == 5 * 49'984 + 10'240 + 128);
  for (const auto& [secondary, bytes] :
       std::map<std::int32_t, std::int64_t>{{1, 477'290}, {4, 390'510}, {3, 347'120}}) {
    const SharingBytes sent = steps().sharing_bytes(stage.parameters, twelve_ranks(secondary));
    CHECK(sent.gather == Bytes(477'290));
    CHECK(sent.gather_backward == Bytes(bytes));
  }
}

TEST_CASE("secondary shards are a line of their own, once for each micro-batch") {
  const std::vector<CommunicationLine> lines = five_layers().communication(twelve_ranks(4));
  std::map<std::string, Bytes> gathered;
  for (const CommunicationLine& line : lines)
    if (line.collective == "all_gather") gathered[line.group] = line.bytes_per_step;
  CHECK(gathered == std::map<std::string, Bytes>{{"shard", Bytes(954'580)}, {"secondary_shard", Bytes(781'020)}});
}

// A quarter or a third of all parameters.
TEST_CASE("a rank holds its part of all parameters while its micro-batches wait for their backwards") {
  const auto gathered = [](std::int32_t secondary) {
    return five_layers().memory(twelve_ranks(secondary)).front()[MemoryClass::gathered_parameters];
  };
  CHECK(gathered(4) - gathered(1) == Bytes(whole_bytes / 4));
  CHECK(gathered(3) - gathered(1) == Bytes(whole_bytes / 3));
}

// A group of a rank's node against one of two nodes: as long as in shard groups of that size.
TEST_CASE("backwards take the links of the secondary group") {
  Strategy whole = twelve_ranks(1);
  whole.data_parallel = whole.shard_group = 16;
  Strategy node = whole;
  node.shard_group = 8;
  Strategy secondary = whole;
  secondary.secondary_shard_group = 8;
  const StageCost stage = five_layers().stages(whole).front();
  const SharingTimes times = steps().sharing_times(stage, secondary);
  CHECK(times.gather == steps().sharing_times(stage, whole).gather);
  CHECK(times.gather_backward == steps().sharing_times(stage, node).gather);
  CHECK(times.gather_backward < times.gather);
  CHECK(times.scatter == steps().sharing_times(stage, whole).scatter);
  CHECK(five_layers().total(secondary) <= five_layers().total(whole));
}

TEST_CASE("a secondary group has a communicator") {
  const StackCalibration stack = round_calibration().stack;
  const Bytes one = communicator_buffers(twelve_ranks(4), stack) - communicator_buffers(twelve_ranks(1), stack);
  CHECK(one == Bytes(100'000'000));
}

}  // namespace
}  // namespace plumbline::secondary_shards_test

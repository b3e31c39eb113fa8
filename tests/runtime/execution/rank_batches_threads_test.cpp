// What each rank of data-parallel and context-parallel groups reads of a micro-batch, and where its rows lie in the
// whole.
#include "runtime/execution/rank_batches.h"

#include "runtime/device/cpu_device.h"
#include "runtime/local/local_ranks.h"
#include "tests/catch.h"

namespace plumbline::rank_batches_test {
namespace {

constexpr std::int32_t length = 8;

/// Token p of sequence s of the global batch is 100 s + p, its target is one more.
TokenBatch numbered(const BatchLayout& layout, std::int32_t micro_batch) {
  TokenBatch batch{layout.micro_batch_sequences, length, {}, {}};
  const std::int32_t first = (micro_batch * layout.data_ranks + layout.data_rank) * layout.micro_batch_sequences;
  for (std::int32_t s = first; s < first + layout.micro_batch_sequences; ++s)
    for (std::int32_t p = 0; p < length; ++p) {
      batch.tokens.push_back(100 * s + p);
      batch.targets.push_back(100 * s + p + 1);
    }
  return batch;
}

struct Seen {
  FirstRead first;
  std::int64_t first_sequence = -1;
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> targets;
  std::vector<std::int64_t> rows;  ///< in the whole, of each run of rows
};

}  // namespace

// Ranks: context 0, 1 of data 0, then of data 1; two micro-batches of two sequences of eight tokens, of which each
// context-parallel rank has four.
TEST_CASE("a rank's micro-batch has its slice of its sequences") {
  Strategy strategy;
  strategy.data_parallel = strategy.context_parallel = 2;
  strategy.micro_batch = strategy.micro_batches = 2;
  Training training;
  training.sequence_length = length;
  training.global_batch = 8;
  std::vector<Seen> seen(4);
  run_local_ranks(4, [&](World& world) {
    Seen& own = seen[static_cast<std::size_t>(world.rank())];
    CpuDevice lanes;
    Backend memory(lanes);
    RankGroups groups(world, strategy);
    const RankShare share(strategy, training, groups);
    RankDevice device(groups, memory, lanes);
    RankBatches batches(strategy, share, device);
    batches.begin_step(numbered);
    batches.begin_pass();
    batches.load(0);
    batches.load(1);
    const LocalBatch& batch = batches.at_hand();
    own.first = batches.first_read(1);
    own.first_sequence = batch.first_sequence;
    own.tokens.assign(batch.tokens, batch.tokens + share.local_tokens());
    own.targets.assign(batch.targets, batch.targets + share.local_tokens());
    for_row_places(share, {share.local_tokens(), 0, batch.first_sequence},
                   [&](const RowPlace& place, std::int64_t, std::int64_t) { own.rows.push_back(place.whole_row(0)); });
  });
  CHECK(seen[0].tokens == std::vector<std::int32_t>{400, 401, 402, 403, 500, 501, 502, 503});
  CHECK(seen[1].tokens == std::vector<std::int32_t>{404, 405, 406, 407, 504, 505, 506, 507});
  CHECK(seen[2].tokens == std::vector<std::int32_t>{600, 601, 602, 603, 700, 701, 702, 703});
  CHECK(seen[3].targets == std::vector<std::int32_t>{605, 606, 607, 608, 705, 706, 707, 708});
  CHECK(seen[1].first_sequence == 4);
  CHECK(seen[3].first.sequence == 6);
  CHECK(seen[3].first.token == 4);
  CHECK(seen[0].rows == std::vector<std::int64_t>{32, 40});  // the fourth and fifth of 8
  CHECK(seen[3].rows == std::vector<std::int64_t>{6 * 8 + 4, 7 * 8 + 4});
}

}  // namespace plumbline::rank_batches_test

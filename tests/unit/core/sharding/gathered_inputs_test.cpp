// What sequence-parallel ranks keep of gathered inputs, by hand.

#include "core/sharding/saved_tensors.h"
#include "tests/catch.h"
#include "tests/networks.h"

namespace plumbline::gathered_inputs_test {
namespace {

Bytes saved(const Block& block, GatheredInputs gathered, std::int32_t tensor_parallel, SequenceParallel sequence) {
  Shard shard;
  shard.lengths = {.batch = 3, .sequence = 120};
  shard.tensor_parallel = tensor_parallel;
  shard.sequence_parallel = sequence;
  shard.kept.gathered_inputs = gathered;
  Bytes sum(0);
  for (const SavedTensor& tensor : saved_tensors(block, shard)) sum += tensor.bytes;
  return sum;
}

}  // namespace

// A layer gathers two inputs of 3 x 120 tokens and 240 features in bf16: of queries, keys and values, and of gate and
// up. A rank of t holds 1/t of each where it gathers them again, all of each where it keeps what it gathered.
TEST_CASE("a layer that keeps gathered inputs keeps two of them whole") {
  const Graph graph = llama({2, 240, 30, 30, 8, 480, 32000});
  const Block& layer = first_layer(graph);
  constexpr std::int64_t whole = std::int64_t{3} * 120 * 240 * 2;
  for (const std::int32_t ranks : {2, 3, 5, 6}) {
    const Bytes more = saved(layer, GatheredInputs::kept, ranks, SequenceParallel::on) -
                       saved(layer, GatheredInputs::again, ranks, SequenceParallel::on);
    CHECK(more == Bytes(2 * (whole - whole / ranks)));
    CHECK(saved(layer, GatheredInputs::kept, ranks, SequenceParallel::off) ==
          saved(layer, GatheredInputs::again, ranks, SequenceParallel::off));
  }
  CHECK(saved(layer, GatheredInputs::kept, 1, SequenceParallel::off) ==
        saved(layer, GatheredInputs::again, 1, SequenceParallel::off));
}

}  // namespace plumbline::gathered_inputs_test

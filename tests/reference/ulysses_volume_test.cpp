// What all-to-all context parallelism sends, against DeepSpeed Ulysses, arXiv:2309.14509, section 3.2: of a layer of
// hidden size h over a sequence of N tokens on P ranks, the all-to-alls of queries, keys and values (3 N h) and of the
// output (N h) put 4 N h / P numbers on every link in the forward, and the backward as many. A rank keeps its own P-th
// part of each: it sends (P - 1) / P of them.
//
// Llama 2 7B: 32 layers, h 4096; N 32 768 tokens, P 4, bf16:
//   4 N h / P = 134 217 728 numbers, 268 435 456 bytes; x 3/4 = 201 326 592 sent in the forward of a layer
//   x 2 (backward) x 32 layers = 12 884 901 888 by a rank for a sequence; by the four ranks 51 539 607 552.
// A ring sends keys and values (2 N h / P numbers) P - 1 times in the forward, and twice as much in the backward, which
// sends their gradients too:
//   2 x 67 108 864 x 3 hops x 3 x 32 = 38 654 705 664 by a rank, 154 618 822 656 by four.

#include "tests/catch.h"
#include "tests/networks.h"
#include "tests/pricing.h"

namespace plumbline::ulysses_volume_test {
namespace {

constexpr LlamaShape llama_2_7b{
    .layers = 32, .hidden = 4096, .heads = 32, .kv_heads = 32, .head_dim = 128, .width = 11008, .vocabulary = 32000};
constexpr std::int64_t ranks = 4;
constexpr std::int64_t published = 51'539'607'552;
constexpr std::int64_t of_a_ring = 154'618'822'656;

/// The line of context-parallel ranks, of a step of so many sequences.
CommunicationLine context_line(Strategy s, std::int64_t sequences) {
  Training training;
  training.sequence_length = 32'768;
  training.global_batch = sequences;
  training.precision = PrecisionRecipe::bf16;
  s.context_parallel = ranks;
  s.micro_batches = sequences;
  for (const CommunicationLine& line : Pricing(llama(llama_2_7b), training).communication(s))
    if (line.group == "context") return line;
  return {};
}

Strategy exchanging() {
  Strategy s;
  s.context_communication = ContextCommunication::all_to_all;
  return s;
}

}  // namespace

TEST_CASE("four ranks send the 51.5 GB of DeepSpeed Ulysses for a sequence, and by a ring three times as many") {
  const CommunicationLine line = context_line(exchanging(), 1);
  CHECK(line.collective == "all_to_all");
  CHECK(line.bytes_per_step.value() * ranks == published);
  CHECK(context_line({}, 1).bytes_per_step.value() * ranks == of_a_ring);
}

// As `plan estimate --gpus 4 --cp 4 --global-batch 4` prints them: of a rank, for a step of four sequences.
TEST_CASE("a rank's line of a step of four sequences is what four ranks send for one") {
  CHECK(context_line(exchanging(), ranks).bytes_per_step.value() == published);
  CHECK(context_line({}, ranks).bytes_per_step.value() == of_a_ring);
}

// Of the eight exchanges of a layer the forward's four are made again.
TEST_CASE("full recompute exchanges the forward's tensors again: half as much more") {
  Strategy s = exchanging();
  s.recompute.mode = RecomputeMode::full;
  CHECK(2 * context_line(s, 1).bytes_per_step.value() * ranks == 3 * published);
}

// Tensor-parallel ranks hold a part of the heads each, and exchange those.
TEST_CASE("two tensor-parallel ranks send half each") {
  Strategy s = exchanging();
  s.tensor_parallel = 2;
  CHECK(2 * context_line(s, 1).bytes_per_step.value() * ranks == published);
}

}  // namespace plumbline::ulysses_volume_test

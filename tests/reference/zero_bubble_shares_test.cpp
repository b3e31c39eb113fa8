// What forward, input gradient and weight gradient take of a layer, against the profiled stages of arXiv:2401.10241
// (A100, 80 GB; sequence 1024; unfused attention): reported, not fitted. Micro-batches: table 3 there.

#include "planner/question/question.h"
#include "tests/catch.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

struct Profile {
  const char* name;
  std::int64_t hidden;
  std::int64_t heads;
  std::int64_t micro_batch;
  double forward_ms;
  double backward_input_ms;
  double backward_weight_ms;
};
/// Those with the fewest micro-batches per step; the others are within 3 % of them.
constexpr std::array profiles{Profile{"1.5B", 2304, 24, 6, 18.522, 18.086, 9.337},
                              Profile{"6.2B", 4096, 32, 3, 29.718, 29.444, 19.927},
                              Profile{"28.3B", 6144, 48, 1, 10.419, 10.207, 7.715}};

struct Shares {
  double forward;
  double input;
  double weight;
};

Shares predicted(const Profile& profile) {
  QuestionText text;
  text.model = "gpt2-xl";
  text.machine = "dgx-a100-80g";
  text.devices = 8;
  text.training.sequence_length = 1024;
  text.training.global_batch = 8;
  text.training.precision = PrecisionRecipe::fp16;
  text.stack = "megatron-lm-2021";
  const Question question(text);
  const Graph graph = gpt({3, profile.hidden, profile.heads, 51200, 1024, Dropout::yes});
  Strategy s;
  s.micro_batch = profile.micro_batch;
  s.flash_attention = FlashAttention::off;
  for (const Block& block : graph.blocks()) {
    if (block.kind() != BlockKind::layer) continue;
    const BlockCost cost = question.block_pricer().price(block, shard_of(s, question.training()), block_groups(s));
    const double whole = to_seconds(cost.forward.total() + cost.backward.total()).value();
    const double weight = to_seconds(cost.backward_weight).value() / whole;
    const double backward = to_seconds(cost.backward.total()).value() / whole;
    return {1 - backward, backward - weight, weight};
  }
  return {};
}

}  // namespace

// Three stages of one network measured; the model is a layer's kernels. What the profile has and the model has not is
// in the input gradient: the model splits a product's backward evenly where the shapes are.
TEST_CASE("weight gradients take the part of a layer that profiles show, and input gradients the rest of backward") {
  for (const Profile& profile : profiles) {
    const Shares p = predicted(profile);
    const double whole = profile.forward_ms + profile.backward_input_ms + profile.backward_weight_ms;
    const Shares measured{profile.forward_ms / whole, profile.backward_input_ms / whole,
                          profile.backward_weight_ms / whole};
    WARN(profile.name << ": forward " << p.forward << " (profiled " << measured.forward << "), input gradient "
                      << p.input << " (" << measured.input << "), weight gradient " << p.weight << " ("
                      << measured.weight << ")");
    CHECK(p.weight == Approx(measured.weight).margin(0.05));
    // Half of backward, the guess before, is further off for every one of them.
    const double halves = (p.input + p.weight) / 2;
    CHECK(std::abs(p.weight - measured.weight) < std::abs(halves - measured.weight));
  }
}

}  // namespace plumbline

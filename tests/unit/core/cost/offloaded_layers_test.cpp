// Which layers `offload:N` moves to the host, and what that leaves on the device.

#include "core/cost/ruled_variants.h"
#include "tests/catch.h"
#include "tests/networks.h"
#include "tests/pricing.h"

namespace plumbline {
namespace {

std::int64_t offloaded(const Graph& graph, std::int32_t layers) {
  const std::vector<std::int32_t> variants =
      ruled_variants(graph, {RecomputeMode::offloaded, layers}, split_into_chunks(graph, 1));
  return std::count(variants.begin(), variants.end(), Variant::offloaded);
}

Graph gpt_of(std::int64_t layers) {
  return gpt({.layers = layers, .hidden = 768, .heads = 12, .vocabulary = 1000, .positions = 1024});
}

}  // namespace

// As Megatron-LM's cpu_offloading_num_layers: at most all layers but one.
TEST_CASE("The model's last layer is not offloaded") {
  for (const std::int64_t layers : {1, 2, 5}) {
    const Graph graph = gpt_of(layers);
    for (const std::int32_t asked : {1, 2, 4, 5, 100})
      CHECK(offloaded(graph, asked) == std::min<std::int64_t>(asked, layers - 1));
  }
}

TEST_CASE("Layers that are offloaded on one rank never need more memory than layers that are kept") {
  for (const std::int64_t layers : {1, 2, 3, 5, 8}) {
    Training training;
    training.sequence_length = 1024;
    training.global_batch = 4;
    const Pricing pricing(gpt_of(layers), training);
    Strategy s;
    s.micro_batches = training.global_batch;
    const Bytes kept = pricing.memory(s).front().device_total();
    Bytes before = kept;
    for (std::int32_t count = 1; count <= layers; ++count) {
      s.recompute = {RecomputeMode::offloaded, count};
      const Bytes total = pricing.memory(s).front().device_total();
      INFO(count << " of " << layers);
      CHECK(total <= before);
      before = total;
    }
    if (layers > 3) CHECK(before < kept);
  }
}

}  // namespace plumbline

// Boundaries between pipeline stages: each has its own link, and ranks of a node share its network cards.

#include "core/cost/stage_links.h"
#include "models/machine_catalog.h"
#include "models/network_catalog.h"
#include "planner/pricing/evaluate.h"
#include "planner/pricing/simulated.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline::stage_links_test {
namespace {

Strategy pipeline(std::int32_t tensor, std::int32_t stages, std::int32_t data, std::int64_t micro_batches) {
  Strategy s;
  s.tensor_parallel = tensor;
  s.pipeline_stages = stages;
  s.data_parallel = data;
  s.micro_batches = micro_batches;
  s.schedule = Schedule::one_f_one_b;
  s.recompute = {RecomputeMode::full, 1};
  return s;
}

Question llama_on(const char* machine) { return question_of("llama-3-8b", machine, 32, 4096, 32); }

Seconds hop(const Question& question, const Strategy& s, std::int32_t rank, Bytes message) {
  return to_seconds(stage_link(question.block_pricer(0), rank, message, s).hop);
}

double exposure(const Question& question) { return question.calibration().stack.communication.pipeline_exposure; }

// Eight stages of four ranks on four nodes of eight: ranks 0-3 and 4-7 share the first node. Four ranks send over the
// node's one 100 Gb/s card at once: 12.5 GB/s * 0.96 / 4 = 3 GB/s each, and 14 us.
TEST_CASE("stages of half a node cross the network at every second boundary") {
  const Question question = llama_on("a100-80g-ethernet-100g");
  const Strategy s = pipeline(4, 8, 1, 32);
  const double seconds = exposure(question) * (14e-6 + 1 / 3.);
  for (std::int32_t rank = 1; rank < 8; ++rank) {
    INFO("rank " << rank);
    const StageLink link = stage_link(question.block_pricer(0), rank, 1_GB, s);
    CHECK(link.leaves_node == (rank % 2 == 0));
    if (link.leaves_node)
      CHECK(to_seconds(link.hop).value() == Approx(seconds).epsilon(0.01));
    else
      CHECK(to_seconds(link.hop).value() < seconds / 50);
  }
  CHECK(
      stage_link(question.block_pricer(0), 0, 1_GB, s).leaves_node);  // round the loop, from the last node to the first
}

TEST_CASE("a rank with a card of its own shares it with nobody") {
  const Question question = llama_on("dgx-a100-80g");
  // 25 GB/s * 0.96.
  CHECK(hop(question, pipeline(4, 8, 1, 32), 2, 1_GB).value() ==
        Approx(exposure(question) * (14e-6 + 1 / 24.)).epsilon(0.01));
}

// Of six ranks a stage, 2-5 of the first leave node 0 and 6, 7 of the second; 10 and 11 leave node 1 with them.
TEST_CASE("stages that straddle nodes send over the edge what lies on it") {
  const Question question = question_of("llama-3-8b", "a100-80g-ethernet-100g", 24, 4096, 36);
  const Strategy s = pipeline(2, 4, 3, 12);
  CHECK(hop(question, s, 1, 1_GB).value() == Approx(exposure(question) * (14e-6 + 4 / 12.)).epsilon(0.01));
  CHECK(hop(question, s, 2, 1_GB).value() == Approx(exposure(question) * (14e-6 + 2 / 12.)).epsilon(0.01));
}

TEST_CASE("a slow network between stages is in the step, by closed form and simulated") {
  const Strategy s = pipeline(4, 8, 1, 32);
  const Plan fast = evaluate(llama_on("dgx-a100-80g"), s);
  const Question ethernet = llama_on("a100-80g-ethernet-100g");
  const Plan slow = evaluate(ethernet, s);
  const double difference =
      (to_seconds(slow.prediction.time.total()) - to_seconds(fast.prediction.time.total())).value();
  // Three boundaries of seven cross, there and back, as the pipeline fills and drains: 32 MiB by 3 and by 24 GB/s.
  const double message = 4096. * 4096 * 2;
  CHECK(difference >= 2 * 3 * exposure(ethernet) * message * (1 / 3e9 - 1 / 24e9) * 0.99);
  CHECK(to_seconds(simulated(ethernet, s).simulation.step()).value() ==
        Approx(to_seconds(slow.prediction.time.total()).value()).epsilon(1e-6));
}

Question llama_over_10_gigabits() {
  Cluster cluster = find_machine("dgx-a100-40g");
  NetworkInterfaces& network = *cluster.groups.front().node.network;
  network.count = 1;
  network.bandwidth.value = BytesPerSecond(1.25e9);
  const QuestionText text = question_text("llama-2-13b", "dgx-a100-40g", 32, 4096, 128);
  return Question(text, find_network("llama-2-13b"), with_device_count(cluster, 32));
}

// Eight stages of four ranks, two stages a node, so that the four ranks of every second stage share one card of 10
// Gb/s. 64 micro-batches of five chunks each hand on 4096 * 5120 values of two bytes, half on each tensor-parallel
// rank: 320 * 4 * 20.97 MB / (0.96 * 1.25 GB/s) = 22.4 s in one direction, whatever is computed alongside.
TEST_CASE("a link carries one message after the other") {
  const Question question = llama_over_10_gigabits();
  Strategy s = pipeline(2, 8, 2, 64);
  s.schedule = Schedule::interleaved;
  s.virtual_stages = 5;
  s.sequence_parallel = SequenceParallel::on;
  const double message = 4096. * 5120 * 2 / 2;
  const double alone = 64 * 5 * 4 * message / (0.96 * 1.25e9);
  REQUIRE(alone == Approx(22.4).epsilon(0.01));
  CHECK(to_seconds(evaluate(question, s).prediction.time.total()).value() >= alone);
  CHECK(to_seconds(simulated(question, s).simulation.step()).value() >= alone);
  s.virtual_stages = 1;
  s.schedule = Schedule::one_f_one_b;
  CHECK(to_seconds(evaluate(question, s).prediction.time.total()).value() >= alone / 5);
  CHECK(to_seconds(simulated(question, s).simulation.step()).value() >= alone / 5);
  s.schedule = Schedule::gpipe;
  CHECK(to_seconds(evaluate(question, s).prediction.time.total()).value() >= 2 * alone / 5);
  CHECK(to_seconds(simulated(question, s).simulation.step()).value() >= 2 * alone / 5);
}

TEST_CASE("loads of links count what crosses each boundary in one direction, of GPipe in both") {
  Strategy s = pipeline(1, 4, 1, 3);
  const StageLink link{Picoseconds(9), Picoseconds(10), false};
  const std::vector<StageLink> links(4, link);
  using Loads = std::vector<Picoseconds>;
  const auto of = [](std::int64_t wrap, std::int64_t others) {
    return Loads{Picoseconds(wrap), Picoseconds(others), Picoseconds(others), Picoseconds(others)};
  };
  s.schedule = Schedule::one_f_one_b;
  CHECK(link_loads(links, s) == of(0, 30));
  s.schedule = Schedule::gpipe;
  CHECK(link_loads(links, s) == of(0, 60));  // gradients after the last activation
  s.schedule = Schedule::interleaved;
  s.virtual_stages = 3;
  CHECK(link_loads(links, s) == of(60, 90));  // round the loop once less often
  s.schedule = Schedule::zbv;
  s.virtual_stages = 2;
  CHECK(link_loads(links, s) == of(0, 60));  // there and back
  // Of two ranks one link carries what goes round the loop as well: five boundaries of six stages.
  s = pipeline(1, 2, 1, 3);
  s.schedule = Schedule::interleaved;
  s.virtual_stages = 3;
  CHECK(link_loads({link, link}, s) == Loads{Picoseconds(0), Picoseconds(150)});
}

}  // namespace
}  // namespace plumbline::stage_links_test

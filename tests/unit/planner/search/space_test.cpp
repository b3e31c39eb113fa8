// What a search considers: axes read from text, and the walk over all of them.

#include "planner/search/space.h"

#include <set>

#include "core/base/errors.h"
#include "planner/search/space_axes.h"
#include "tests/catch.h"

namespace plumbline::space_test {
namespace {

std::string refusal(std::string_view fixes) {
  try {
    static_cast<void>(space_from_text(fixes));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

Question question(const std::string& model, const std::string& machine, std::int64_t devices, std::int64_t sequence,
                  std::int64_t batch) {
  QuestionText text;
  text.model = model;
  text.machine = machine;
  text.devices = devices;
  text.training.sequence_length = sequence;
  text.training.global_batch = batch;
  return Question(text);
}

using Degrees = std::array<std::int32_t, 4>;
Degrees degrees(const Strategy& s) {
  return {s.pipeline_stages, s.tensor_parallel, s.context_parallel, s.data_parallel};
}

/// The families of a space, those that break a rule too.
std::vector<Strategy> families(const Question& question, std::string_view fixes) {
  std::vector<Strategy> result;
  SpaceEnumerator(question, space_from_text(fixes))
      .for_each_family([&](const Strategy& s, const Violation*, std::int64_t) { result.push_back(s); });
  return result;
}

/// "stage/group" of the sharding choices of the plans in one family.
std::vector<std::string> sharding(const Question& question, std::string_view fixes) {
  const SpaceEnumerator space(question, space_from_text(fixes));
  std::vector<std::string> result;
  std::optional<Strategy> family;
  space.for_each_family([&](const Strategy& s, const Violation*, std::int64_t) {
    if (!family) family = s;
  });
  if (!family) return {"no family"};
  for (const Strategy& s : space.leaves(*family))
    if (s.recompute == space.recompute_choices().front())
      result.push_back(std::to_string(s.zero_stage) + "/" + std::to_string(s.shard_group));
  return result;
}

TEST_CASE("every axis is read from text, several values apart by a bar") {
  const SearchSpace s = space_from_text(
      "pp=1|2,tp=8,cp=4,cp-comm=all-to-all|ring,ep=2|8,etp=2,dp=16,virtual-stages=3,zero=0|3,shard-group=8|16,micro-"
      "batch=1|2,schedule=gpipe|"
      "interleaved,recompute=none|every:4|full,sequence-parallel=on|off");
  CHECK(s.pipeline_stages == std::vector<std::int32_t>{1, 2});
  CHECK(s.tensor_parallel == std::vector<std::int32_t>{8});
  CHECK(s.context_parallel == std::vector<std::int32_t>{4});
  CHECK(s.context_communication ==
        std::vector<ContextCommunication>{ContextCommunication::all_to_all, ContextCommunication::ring});
  CHECK(s.expert_parallel == std::vector<std::int32_t>{2, 8});
  CHECK(s.expert_tensor_parallel == std::vector<std::int32_t>{2});
  CHECK(s.data_parallel == std::vector<std::int32_t>{16});
  CHECK(s.virtual_stages == std::vector<std::int32_t>{3});
  CHECK(s.zero_stage == std::vector<std::int32_t>{0, 3});
  CHECK(s.shard_group == std::vector<std::int32_t>{8, 16});
  CHECK(s.micro_batch == std::vector<std::int64_t>{1, 2});
  CHECK(s.schedule == std::vector<Schedule>{Schedule::gpipe, Schedule::interleaved});
  CHECK(s.recompute ==
        std::vector<Recompute>{{RecomputeMode::none, 1}, {RecomputeMode::every_nth, 4}, {RecomputeMode::full, 1}});
  CHECK(s.sequence_parallel == std::vector<SequenceParallel>{SequenceParallel::on, SequenceParallel::off});
}

TEST_CASE("no text leaves every axis free") {
  const SearchSpace s = space_from_text("");
  CHECK(s.pipeline_stages.empty());
  CHECK(s.recompute.empty());
  CHECK(s.expert_tensor_parallel.empty());
  CHECK(s.flash_attention.empty());
}

TEST_CASE("a fix that names no axis is refused with the nearest") {
  CHECK(refusal("tpp=8") == "--fix: \"tpp=8\"; expected axis=value with an axis of the strategy; nearest: tp, pp, cp");
  CHECK(refusal("tp").starts_with("--fix: \"tp\"; expected axis=value with an axis of the strategy"));
  CHECK(refusal("tp=8,").starts_with("--fix: \"\"; expected axis=value"));
  CHECK(refusal("micro-bach=1").find("nearest: micro-batch") != std::string::npos);
  CHECK(refusal("=").starts_with("--fix: \"=\"; expected axis=value"));
}

TEST_CASE("a value that an axis cannot take is refused in the words of its flag") {
  const auto no_number = [](const std::string& axis, const std::string& text, const std::string& range) {
    return "--fix " + axis + ": \"" + text + "\" is not a whole number in range; expected " + range +
           ", K, M, B, T allowed";
  };
  for (const std::string text : {"0", "-1", "x", "", "8x", "99999999999"})
    CHECK(refusal("tp=" + text) == no_number("tp", text, "from 1 to 10000000"));
  CHECK(refusal("micro-batch=1||2") == no_number("micro-batch", "", "from 1 to 1000000000"));
  CHECK(refusal("zero=4") == no_number("zero", "4", "from 0 to 3"));
  CHECK(refusal("zero=-1") == no_number("zero", "-1", "from 0 to 3"));
  CHECK(refusal("etp=1|x") == no_number("etp", "x", "from 1 to 10000000"));
  CHECK(
      refusal("schedule=1f1") ==
      "--fix schedule: \"1f1\" is unknown; expected one of none, gpipe, 1f1b, interleaved, zb-h1, zb-h2, zbv, v-half, "
      "dualpipev; nearest: 1f1b");
  CHECK(
      refusal("recompute=every:0") ==
      "--fix recompute: \"every:0\" is unknown; expected one of none, selective, selective:MODULE+..., full, every:N, "
      "uniform:N, block:N, sqrt, by-operator, offload:N, optimal; nearest: every:N");
  CHECK(refusal("recompute=selective:mlp|selective:moe_act") ==
        "--fix recompute: \"selective:moe_act\"; expected one set of modules in a search");
  CHECK(refusal("sequence-parallel=yes") == "--fix sequence-parallel: \"yes\" is unknown; expected one of on, off");
  CHECK(refusal("prefetch=") == "--fix prefetch: \"\" is unknown; expected one of on, off");
  CHECK(refusal(std::string("schedule=").append(200, 'x')).find(std::string(41, 'x')) == std::string::npos);
}

// N = 2^a has C(a + 3, 3) ordered factorisations into four: C(12, 3) = 220, C(15, 3) = 455, C(17, 3) = 680;
// 24 = 2^3 * 3 has C(6, 3) * C(4, 3) = 80.
TEST_CASE("degrees run over all ordered factorisations of the GPU count, each once") {
  const auto [devices, count] =
      GENERATE(std::pair(std::int64_t{512}, 220U), std::pair(std::int64_t{4096}, 455U),
               std::pair(std::int64_t{16384}, 680U), std::pair(std::int64_t{24}, 80U), std::pair(std::int64_t{1}, 1U));
  std::set<Degrees> seen;
  for (const Strategy& s : families(question("gpt3-175b", "dgx-a100-80g", devices, 2048, 1536), "micro-batch=1")) {
    CHECK(s.devices() == devices);
    seen.insert(degrees(s));
  }
  CHECK(seen.size() == count);
}

// The published waterfall for GPT-3 on 512 GPUs, batch 1536: of 220, 56 have tp beyond a node and 10 of the rest more
// stages than layers; 154 remain, 735 with the micro-batches of 1, 2, 4, 8, 16 that divide.
TEST_CASE("the rules leave 154 factorisations for GPT-3 on 512 GPUs") {
  std::map<std::string, std::set<Degrees>> refused;
  std::set<Degrees> kept;
  std::int64_t with_micro_batches = 0;
  SpaceEnumerator(question("gpt3-175b", "dgx-a100-80g", 512, 2048, 1536),
                  space_from_text("schedule=none|gpipe,micro-batch=1|2|4|8|16"))
      .for_each_family([&](const Strategy& s, const Violation* violation, std::int64_t) {
        if (s.sequence_parallel == SequenceParallel::on) return;
        if (violation != nullptr) {
          refused[std::string(violation->rule.id)].insert(degrees(s));
        } else {
          kept.insert(degrees(s));
          ++with_micro_batches;
        }
      });
  CHECK(refused["R02"].size() == 56);
  CHECK(refused["R07"].size() == 10);
  CHECK(kept.size() == 154);
  CHECK(with_micro_batches == 735);
}

TEST_CASE("a family stands for as many plans as it has leaves, in increasing order and each once") {
  const Question asked = question("mixtral-8x7b", "dgx-h100", 16, 4096, 64);
  const SpaceEnumerator space(asked, {});
  std::set<Strategy> all;
  std::int64_t total = 0;
  space.for_each_family([&](const Strategy& s, const Violation*, std::int64_t count) {
    const std::vector<Strategy> leaves = space.leaves(s);
    CHECK(static_cast<std::int64_t>(leaves.size()) == count);
    CHECK(std::is_sorted(leaves.begin(), leaves.end()));
    total += count;
    all.insert(leaves.begin(), leaves.end());
  });
  CHECK(static_cast<std::int64_t>(all.size()) == total);
}

TEST_CASE("a value fixed twice is considered once") {
  const Question asked = question("gpt2", "dgx-h100", 8, 1024, 64);
  const auto count = [&](std::string_view fixes) {
    std::int64_t sum = 0;
    SpaceEnumerator(asked, space_from_text(fixes))
        .for_each_family([&](const Strategy&, const Violation*, std::int64_t leaves) { sum += leaves; });
    return sum;
  };
  CHECK(count("tp=2|2,zero=1|1,shard-group=4|2|4,micro-batch=2|1|2,recompute=full|none|full") ==
        count("tp=2,zero=1,shard-group=2|4,micro-batch=1|2,recompute=none|full"));
}

TEST_CASE("an axis without a rule of its own has the values that are listed, where it means something") {
  const Question asked = question("gpt2", "dgx-h100", 8, 1024, 64);
  for (const SpaceAxis& one : space_axes()) {
    if (one.axis->in_search != InSearch::listed) continue;
    INFO(one.name());
    Strategy unusual;
    one.axis->set(unusual, one.axis->kind == AxisKind::choice ? 1 : one.axis->neighbours(unusual).front());
    REQUIRE_FALSE(one.axis->is_usual(unusual));
    SearchSpace fixed = space_from_text("pp=1,micro-batch=1,recompute=none");
    one.add(fixed, unusual);
    const SpaceEnumerator space(asked, fixed);
    std::int64_t meant = 0;
    std::int64_t others = 0;
    space.for_each_family([&](const Strategy& family, const Violation*, std::int64_t) {
      for (const Strategy& s : space.leaves(family)) {
        ++(one.axis->means_something(s) ? meant : others);
        CHECK(one.axis->is_usual(s) != one.axis->means_something(s));
      }
    });
    CHECK(meant > 0);
    CHECK((others > 0) == (one.axis->applies != nullptr));
  }
}

TEST_CASE("all-to-all is considered where it is asked for, and where sequences are divided") {
  const Question asked = question("gpt2", "dgx-h100", 8, 1024, 64);
  for (const Strategy& s : families(asked, "")) CHECK(s.context_communication == ContextCommunication::ring);
  std::set<std::pair<bool, ContextCommunication>> found;
  for (const Strategy& s : families(asked, "cp-comm=ring|all-to-all"))
    found.emplace(s.context_parallel > 1, s.context_communication);
  CHECK(found == std::set<std::pair<bool, ContextCommunication>>{{false, ContextCommunication::ring},
                                                                 {true, ContextCommunication::ring},
                                                                 {true, ContextCommunication::all_to_all}});
  CHECK_THROWS_WITH(space_from_text("cp-comm=p2p"), Catch::Matchers::Contains("expected one of ring, all-to-all"));
}

TEST_CASE("choices that mean the same appear once") {
  for (const Strategy& s : families(question("gpt2", "dgx-h100", 8, 1024, 64), "")) {
    if (s.pipeline_stages == 1) CHECK((s.schedule == Schedule::none && s.virtual_stages == 1));
    if (s.pipeline_stages > 1) CHECK((s.schedule == Schedule::interleaved) == (s.virtual_stages > 1));
    if (s.tensor_parallel == 1) CHECK(s.sequence_parallel == SequenceParallel::off);
  }
}

// 12 layers, an embedding and a head. Two stages: 2 x 2, 2 x 3, 2 x 6 divide 12 and 2 x 7 divides 14; 2 x 4 leaves a
// remainder. Four stages: 4 x 3 divides 12, 4 x 2 leaves a remainder. Eight: 16 chunks would be more than 14 blocks.
TEST_CASE("interleaving takes every count of virtual stages that splits the layers evenly, and up to four others") {
  std::map<std::int32_t, std::set<std::int32_t>> virtual_stages;
  for (const Strategy& s : families(question("gpt2", "dgx-h100", 8, 1024, 64), "schedule=interleaved,micro-batch=1"))
    if (s.schedule == Schedule::interleaved) virtual_stages[s.pipeline_stages].insert(s.virtual_stages);
  CHECK(virtual_stages[2] == std::set<std::int32_t>{2, 3, 4, 6, 7});
  CHECK(virtual_stages[4] == std::set<std::int32_t>{2, 3});
  CHECK(virtual_stages[8].empty());
}

TEST_CASE("schedules that split the backward are considered where that is asked for, V-Half where it is soon packed") {
  const auto schedules = [](std::int64_t batch, bool has_split_backwards) {
    const Question asked = question("gpt2", "dgx-h100", 8, 1024, batch);
    SearchSpace space = space_from_text("pp=4,micro-batch=1,cp=1,tp=1");
    space.has_split_backwards = has_split_backwards;
    std::set<Schedule> seen;
    SpaceEnumerator(asked, space).for_each_family([&](const Strategy& s, const Violation*, std::int64_t) {
      seen.insert(s.schedule);
    });
    return seen;
  };
  const std::set<Schedule> usual{Schedule::gpipe, Schedule::one_f_one_b, Schedule::interleaved};
  CHECK(schedules(64, false) == usual);
  std::set<Schedule> all(all_schedules.begin() + 1, all_schedules.end());
  CHECK(schedules(64, true) == all);  // 4 ranks of 32 micro-batches
  all.erase(Schedule::v_half);
  CHECK(schedules(640, true) == all);
}

// GPT-2 keeps at least the inputs of 12 layers: 12 x 1024 x 768 x 2 bytes, 19 MB a sequence. Llama 3 70B keeps those of
// 80: 80 x 8192 x 8192 x 2 bytes, 10.7 GB a sequence on 8 ranks of 85 GB.
TEST_CASE("micro-batches double up to what the batch gives a rank, or memory could hold") {
  const auto largest = [](const std::string& model, std::int64_t sequence, std::string_view fixes) {
    std::int64_t most = 0;
    for (const Strategy& s : families(question(model, "dgx-h100", 8, sequence, 4096), fixes))
      most = std::max(most, s.micro_batch);
    return most;
  };
  CHECK(largest("gpt2", 1024, "dp=8") == 512);
  CHECK(largest("gpt2", 1024, "dp=8,micro-batch=2|8") == 8);
  CHECK(largest("llama-3-70b", 8192, "dp=1") == 32);
  CHECK(largest("llama-3-70b", 8192, "dp=8") == 16);
}

// 45 = 3 x 3 x 5: neither 2, 4, 8 nor 16 divides it; 3, 5 and 15 are the largest divisors below 4, 8 and 16. 24 = 8
// x 3.
TEST_CASE("a micro-batch that does not divide the batch gives way to the largest below its double that does") {
  const auto sizes = [](std::int64_t batch) {
    std::set<std::int64_t> all;
    for (const Strategy& s : families(question("llama-3-8b", "dgx-h100", 1, 128, batch), ""))
      if (batch % s.micro_batch == 0) all.insert(s.micro_batch);
    return all;
  };
  CHECK(sizes(45) == std::set<std::int64_t>{1, 3, 5, 15, 45});
  CHECK(sizes(24) == std::set<std::int64_t>{1, 2, 4, 8, 24});
  CHECK(sizes(64) == std::set<std::int64_t>{1, 2, 4, 8, 16, 32, 64});
}

TEST_CASE("virtual stages that are named are considered whether or not layers divide over them") {
  std::set<std::int32_t> counts;
  for (const Strategy& s : families(question("llama-3-70b", "dgx-h100", 64, 4096, 64), "pp=4,virtual-stages=7|19|21"))
    counts.insert(s.virtual_stages);
  CHECK(counts == std::set<std::int32_t>{7, 19});  // 82 blocks on 4 ranks: at most 20 chunks each
}

TEST_CASE("every operator but attention and every second product is recomputed where no placement is launched") {
  SearchSpace torchtitan;
  torchtitan.allows = [](const Strategy& s) { return s.recompute.mode != RecomputeMode::placed; };
  const Question asked = question("llama-3-8b", "dgx-h100", 8, 4096, 64);
  const auto has = [&](const SearchSpace& space) {
    const std::vector<Recompute> choices = SpaceEnumerator(asked, space).recompute_choices();
    return std::count(choices.begin(), choices.end(), Recompute{RecomputeMode::by_operator, 1}) == 1;
  };
  CHECK(has(torchtitan));
  CHECK(!has({}));
}

TEST_CASE("FlashAttention on and off, and experts divided in several ways, are considered where both are asked for") {
  SearchSpace space = space_from_text("ep=2,etp=1|2,tp=4,pp=1,cp=1,mbs=1,sp=on");
  space.flash_attention = {FlashAttention::off, FlashAttention::on};
  std::set<std::pair<FlashAttention, std::int32_t>> found;
  SpaceEnumerator(question("qwen2-57b-a14b", "dgx-h100", 8, 4096, 64), space)
      .for_each_family([&](const Strategy& s, const Violation*, std::int64_t) {
        found.emplace(s.flash_attention, s.expert_tensor_parallel);
      });
  CHECK(found.size() == 4);
}

TEST_CASE("ZeRO shards over the whole gradient group and over its part inside the fast interconnect") {
  const Question two_nodes = question("gpt2", "dgx-h100", 16, 1024, 64);
  CHECK(sharding(two_nodes, "pp=1,cp=1,tp=1") ==
        std::vector<std::string>{"0/1", "1/8", "1/16", "2/8", "2/16", "3/8", "3/16"});
  CHECK(sharding(two_nodes, "pp=1,cp=1,tp=2,zero=1") == std::vector<std::string>{"1/4", "1/8"});
  CHECK(sharding(two_nodes, "pp=1,cp=1,tp=8,zero=3") == std::vector<std::string>{"3/2"});  // one rank per node
  CHECK(sharding(two_nodes, "pp=1,cp=1,tp=1,zero=3,shard-group=4|2") == std::vector<std::string>{"3/2", "3/4"});
  CHECK(sharding(two_nodes, "pp=1,cp=1,tp=1,zero=3,shard-group=3") == std::vector<std::string>{"no family"});
  const Question one_node = question("gpt2", "dgx-h100", 8, 1024, 64);
  CHECK(sharding(one_node, "pp=1,cp=1,tp=1,zero=1") == std::vector<std::string>{"1/8"});
  CHECK(sharding(one_node, "pp=8,zero=1|2") == std::vector<std::string>{"0/1"});  // nobody to share with
}

/// Secondary groups of the plans in the first family that share states so.
std::vector<std::int32_t> secondary_groups(const Question& question, std::string_view fixes) {
  const SpaceEnumerator space(question, space_from_text(fixes));
  std::vector<std::int32_t> result;
  std::optional<Strategy> family;
  space.for_each_family([&](const Strategy& s, const Violation*, std::int64_t) {
    if (!family) family = s;
  });
  REQUIRE(family);
  for (const Strategy& s : space.leaves(*family))
    if (s.recompute == space.recompute_choices().front()) result.push_back(s.secondary_shard_group);
  return result;
}

// 16 ranks in one group and in two; those of stage 2 gather nothing for a backward.
TEST_CASE("secondary shard groups are searched where they are named, as far as they divide the shard group") {
  const Question two_nodes = question("gpt2", "dgx-h100", 16, 1024, 64);
  const std::string one_family = "pp=1,cp=1,tp=1,";
  using Groups = std::vector<std::int32_t>;
  CHECK(secondary_groups(two_nodes, one_family + "zero=3") == Groups{1, 1});
  CHECK(secondary_groups(two_nodes, one_family + "zero=3,shard-group=16,secondary-shard-group=8|1|4") ==
        Groups{1, 4, 8});
  CHECK(secondary_groups(two_nodes, one_family + "zero=3,secondary-shard-group=8") == Groups{8});
  CHECK(secondary_groups(two_nodes, one_family + "zero=2|3,shard-group=16,secondary_shard_group=8") == Groups{1, 8});
  CHECK(secondary_groups(two_nodes, one_family + "zero=3,shard-group=16,secondary-shard-group=3|8|16") == Groups{8});
}

TEST_CASE("axes are fixed under their flags, their short names, or their keys in plan files") {
  const SearchSpace flags = space_from_text("virtual-stages=2,micro-batch=4,sequence-parallel=on,tp=8,pp=4,zero=1");
  for (const std::string_view text :
       {"vs=2,mbs=4,sp=on,tp=8,pp=4,zero=1",
        "virtual_stages=2,micro_batch=4,sequence_parallel=on,tensor_parallel=8,pipeline_stages=4,zero_stage=1"}) {
    const SearchSpace space = space_from_text(text);
    CHECK(space.virtual_stages == flags.virtual_stages);
    CHECK(space.micro_batch == flags.micro_batch);
    CHECK(space.sequence_parallel == flags.sequence_parallel);
    CHECK(space.tensor_parallel == flags.tensor_parallel);
    CHECK(space.pipeline_stages == flags.pipeline_stages);
    CHECK(space.zero_stage == flags.zero_stage);
  }
}

TEST_CASE("expert parallelism takes the divisors of the expert count") {
  const auto degrees_of = [](const Question& asked) {
    std::set<std::int32_t> result;
    for (const Strategy& s : families(asked, "micro-batch=1")) result.insert(s.expert_parallel);
    return result;
  };
  CHECK(degrees_of(question("mixtral-8x7b", "dgx-h100", 8, 4096, 64)) == std::set<std::int32_t>{1, 2, 4, 8});
  CHECK(degrees_of(question("gpt2", "dgx-h100", 8, 1024, 64)) == std::set<std::int32_t>{1});
}

}  // namespace
}  // namespace plumbline::space_test

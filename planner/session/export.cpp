#include "planner/session/export.h"

#include <algorithm>

#include "core/base/errors.h"
#include "planner/session/nearest_launchable.h"
#include "planner/session/plan_file.h"

namespace plumbline::session {
namespace {

bool has_mixtures(const Question& question) { return !question.facts().experts.empty(); }

/// Layers of each chunk of a plan, in the order of the network.
std::vector<std::int32_t> layers_of(const Plan& plan) {
  const std::size_t stages = plan.layout.stages.size();
  std::vector<std::int32_t> layers;
  for (std::int32_t chunk = 0; chunk < plan.strategy.chunks(); ++chunk) {
    const auto index = static_cast<std::size_t>(chunk);
    const std::vector<std::int64_t>& ends = plan.layout.stages[index % stages].layers[index / stages];
    layers.push_back(ends.empty() ? 0 : static_cast<std::int32_t>(ends.back() - ends.front() + 1));
  }
  return layers;
}

/// A split that was found becomes one by hand: the same layers.
Strategy with_layers(const Plan& plan) {
  Strategy s = plan.strategy;
  if (s.split == StageSplit::even || placement(s.schedule) != StagePlacement::looped) return s;
  s.layers_per_stage = s.chunks() > 1 ? layers_of(plan) : std::vector<std::int32_t>{};
  s.split = StageSplit::even;
  return s;
}

struct Candidate {
  Strategy strategy;
  std::size_t sentences = 0;
  Plan plan;
};

bool is_nearer(const Candidate& a, const Candidate& b) {
  if (a.sentences != b.sentences) return a.sentences < b.sentences;
  if (a.plan.verdict.fits != b.plan.verdict.fits) return a.plan.verdict.fits;
  return a.plan.prediction.step_time_s.expected < b.plan.prediction.step_time_s.expected;
}

/// The nearest of those one axis away that leave fewer sentences than `most`.
std::optional<Candidate> nearest(const Strategy& from, Framework framework, const Question& question,
                                 std::size_t most) {
  std::optional<Candidate> best;
  for (const Strategy& strategy : one_axis_away(from, record_of(framework), question)) {
    const std::size_t sentences = inexpressible(framework, strategy, has_mixtures(question)).size();
    if (sentences >= most || (best && sentences > best->sentences)) continue;
    Candidate one{strategy, sentences, signed_plan(question, strategy)};
    if (!best || is_nearer(one, *best)) best = std::move(one);
  }
  return best;
}

void require_training(Framework framework, const Training& training) {
  if (const auto sentences = inexpressible(framework, training); !sentences.empty())
    throw InputError({"--to", sentences.front(), "another framework, or another recipe", ""});
}

/// Changes what the framework does not launch, noting each change; the plan of the last, if any.
std::optional<Plan> make_launchable(Strategy& strategy, Framework framework, const Question& question,
                                    std::vector<Substitution>& substitutions) {
  std::optional<Plan> plan;
  auto sentences = inexpressible(framework, strategy, has_mixtures(question));
  while (!sentences.empty()) {
    std::optional<Candidate> next = nearest(strategy, framework, question, sentences.size());
    if (!next)
      throw InputError({"--to", sentences.front() + "; no legal strategy one step away can be launched",
                        "another framework, or a plan of plan search --for " + std::string(to_text(framework)), ""});
    const auto left = inexpressible(framework, next->strategy, has_mixtures(question));
    for (const std::string& sentence : sentences)
      if (std::find(left.begin(), left.end(), sentence) == left.end())
        substitutions.push_back({sentence, changes_between(strategy, next->strategy)});
    strategy = next->strategy;
    plan = std::move(next->plan);
    sentences = left;
  }
  return plan;
}

std::string_view known_release(const LaunchTarget& target, std::string_view asked) {
  if (asked.empty()) return target.releases.empty() ? std::string_view() : target.releases.back();
  std::vector<std::string> names;
  std::string all;
  for (const std::string_view release : target.releases) {
    if (release == asked) return release;
    names.emplace_back(release);
    all += (all.empty() ? "" : ", ") + names.back();
  }
  throw InputError({"--release", "'" + std::string(asked) + "' is not among those of " + std::string(target.title),
                    "one of " + all, nearest_text(asked, names)});
}

void add_difference(std::string& text, const char* name, const std::string& before, const std::string& after) {
  if (before != after) text += (text.empty() ? "" : ", ") + std::string(name) + " " + before + " -> " + after;
}

LaunchSettings settings_to_write(const PricedQuestion& asked, const Strategy& strategy) {
  LaunchSettings settings = settings_of(strategy, asked.question.training());
  settings.model = asked.plan.model.name;
  settings.devices = asked.question.devices();
  const Cluster& cluster = asked.question.cluster();
  if (cluster.groups.size() == 1) {
    settings.nodes = cluster.groups.front().count;
    settings.devices_per_node = cluster.groups.front().node.devices;
  }
  if (const std::string config = config_of(asked); !config.empty())
    settings.network_config = parse_json(config, "network");
  return settings;
}

}  // namespace

std::string changes_between(const Strategy& before, const Strategy& after) {
  std::string text;
  const auto degree = [&](const char* name, std::int64_t a, std::int64_t b) {
    add_difference(text, name, std::to_string(a), std::to_string(b));
  };
  const auto word = [&](const char* name, std::string_view a, std::string_view b) {
    add_difference(text, name, std::string(a), std::string(b));
  };
  word("schedule", to_text(before.schedule), to_text(after.schedule));
  degree("virtual stages", before.virtual_stages, after.virtual_stages);
  degree("tp", before.tensor_parallel, after.tensor_parallel);
  degree("pp", before.pipeline_stages, after.pipeline_stages);
  degree("cp", before.context_parallel, after.context_parallel);
  degree("ep", before.expert_parallel, after.expert_parallel);
  degree("etp", before.expert_tensor_parallel, after.expert_tensor_parallel);
  degree("dp", before.data_parallel, after.data_parallel);
  degree("micro-batch", before.micro_batch, after.micro_batch);
  degree("ZeRO", before.zero_stage, after.zero_stage);
  degree("shard group", before.shard_group, after.shard_group);
  word("recompute", to_text(before.recompute), to_text(after.recompute));
  word("split", before.layers_per_stage.empty() ? to_text(before.split) : layers_text(before.layers_per_stage),
       after.layers_per_stage.empty() ? to_text(after.split) : layers_text(after.layers_per_stage));
  const auto on = [](bool is_on) { return is_on ? "on" : "off"; };
  word("sequence parallelism", on(before.sequence_parallel == SequenceParallel::on),
       on(after.sequence_parallel == SequenceParallel::on));
  word("flash attention", on(before.flash_attention == FlashAttention::on),
       on(after.flash_attention == FlashAttention::on));
  return text;
}

ExportAnswer export_plan(const PricedQuestion& asked, std::string_view name, std::string_view release) {
  const LaunchTarget& target = launch_target(name, "--to");
  ExportAnswer answer{std::string(target.title), std::string(known_release(target, release)), {}, {}, std::nullopt};
  require_training(target.framework, asked.question.training());
  Strategy strategy = with_layers(asked.plan);
  answer.nearest = make_launchable(strategy, target.framework, asked.question, answer.substitutions);
  if (answer.nearest) strategy = with_layers(*answer.nearest);
  answer.files = target.write(settings_to_write(asked, strategy), answer.release);
  return answer;
}

}  // namespace plumbline::session

#include "planner/search/space.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

#include "core/base/errors.h"
#include "core/plan/pipeline_schedule.h"
#include "core/plan/stage_split.h"
#include "planner/checkpointing/placement.h"

namespace plumbline {
namespace {

/// Usual sizes; then twice as many while memory could hold what every plan keeps of them.
constexpr std::array<std::int64_t, 5> micro_batch_sizes{1, 2, 4, 8, 16};
constexpr std::int32_t most_virtual_stages = 16;
/// Where layers do not divide over the chunks; every count more makes the space as much larger again.
constexpr std::int32_t most_uneven_virtual_stages = 4;
/// Ranks times micro-batches of a V-Half that nobody named: packing its order takes the square of it.
constexpr std::int64_t most_packed = 600;
/// Every n-th layer is what a placement may come to; it is looked at where it is asked for.
constexpr std::array recompute_modes{Recompute{RecomputeMode::none, 1}, Recompute{RecomputeMode::selective, 1},
                                     Recompute{RecomputeMode::full, 1}, Recompute{RecomputeMode::placed, 1}};

template <class T>
bool allows(const std::vector<T>& fixed, T value) {
  return fixed.empty() || std::find(fixed.begin(), fixed.end(), value) != fixed.end();
}

/// A value that was asked for twice is one value.
template <class T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::vector<std::int32_t> divisors(std::int64_t n) {
  std::vector<std::int32_t> result;
  for (std::int64_t d = 1; d <= n; ++d)
    if (n % d == 0) result.push_back(static_cast<std::int32_t>(d));
  return result;
}

/// What the layers keep of one sequence under every plan, on all ranks of a replica together.
Bytes kept_by_all(const Question& question) {
  Bytes sum(0);
  for (const BlockRun& run : question.graph().runs()) {
    const Block& block = question.graph().block(run.block);
    if (block.kind() == BlockKind::layer) sum += run.count * least_kept(block, question, {});
  }
  return sum;
}

std::int64_t greatest_common_divisor(const std::vector<std::int64_t>& values) {
  std::int64_t result = 0;
  for (const std::int64_t value : values) result = std::gcd(result, value);
  return result;
}

// ---- "tp=8,zero=1|2" ----

[[noreturn]] void refuse_schedule(std::string_view text) {
  std::vector<std::string> names;
  for (const Schedule schedule : all_schedules) names.emplace_back(to_text(schedule));
  throw InputError({"--fix schedule", "\"" + std::string(text.substr(0, 40)) + "\"", "a schedule as --schedule takes",
                    nearest_text(text, names)});
}

struct AxisParser {
  std::string_view name;
  std::function<void(SearchSpace&, std::string_view)> add;
};

[[noreturn]] void refuse_value(std::string_view axis, std::string_view text, const std::string& expected) {
  throw InputError({"--fix " + std::string(axis), "\"" + std::string(text.substr(0, 40)) + "\"", expected, ""});
}

std::int32_t degree(std::string_view axis, std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1)
    refuse_value(axis, text, "a whole number from 1 on");
  return value;
}

AxisParser degrees(std::string_view name, std::vector<std::int32_t> SearchSpace::*list) {
  return {name,
          [name, list](SearchSpace& space, std::string_view text) { (space.*list).push_back(degree(name, text)); }};
}

const std::vector<AxisParser>& axis_parsers() {
  static const std::vector<AxisParser> parsers{
      degrees("pp", &SearchSpace::pipeline_stages),
      degrees("tp", &SearchSpace::tensor_parallel),
      degrees("cp", &SearchSpace::context_parallel),
      degrees("ep", &SearchSpace::expert_parallel),
      degrees("dp", &SearchSpace::data_parallel),
      degrees("virtual-stages", &SearchSpace::virtual_stages),
      {"zero",
       [](SearchSpace& space, std::string_view text) {
         if (text.size() != 1 || text[0] < '0' || text[0] > '3') refuse_value("zero", text, "a stage from 0 to 3");
         space.zero_stages.push_back(text[0] - '0');
       }},
      degrees("shard-group", &SearchSpace::shard_groups),
      {"etp", [](SearchSpace& space, std::string_view text) { space.expert_tensor_parallel = degree("etp", text); }},
      {"micro-batch", [](SearchSpace& space,
                         std::string_view text) { space.micro_batch_sizes.push_back(degree("micro-batch", text)); }},
      {"schedule",
       [](SearchSpace& space, std::string_view text) {
         const auto schedule = schedule_from_text(text);
         if (!schedule) refuse_schedule(text);
         space.schedules.push_back(*schedule);
       }},
      {"recompute",
       [](SearchSpace& space, std::string_view text) {
         const auto recompute = recompute_from_text(text);
         if (!recompute)
           refuse_value("recompute", text,
                        "none, selective, selective:MODULE+..., full, every:N, offload:N or optimal");
         for (const Recompute& other : space.recompute)
           if (!other.modules.empty() && !recompute->modules.empty() && other.modules != recompute->modules)
             refuse_value("recompute", text, "one set of modules in a search");
         space.recompute.push_back(*recompute);
       }},
      {"sequence-parallel",
       [](SearchSpace& space, std::string_view text) {
         if (text != "on" && text != "off") refuse_value("sequence-parallel", text, "on or off");
         space.sequence_parallel.push_back(text == "on" ? SequenceParallel::on : SequenceParallel::off);
       }},
  };
  return parsers;
}

/// Short names of axes, and how plan files spell them.
struct AxisAlias {
  std::string_view alias;
  std::string_view axis;
};
constexpr std::array axis_aliases{AxisAlias{"vs", "virtual-stages"},
                                  AxisAlias{"vpp", "virtual-stages"},
                                  AxisAlias{"virtual_stages", "virtual-stages"},
                                  AxisAlias{"mbs", "micro-batch"},
                                  AxisAlias{"micro_batch", "micro-batch"},
                                  AxisAlias{"sp", "sequence-parallel"},
                                  AxisAlias{"sequence_parallel", "sequence-parallel"},
                                  AxisAlias{"shard_group", "shard-group"},
                                  AxisAlias{"zero_stage", "zero"},
                                  AxisAlias{"tensor_parallel", "tp"},
                                  AxisAlias{"pipeline_stages", "pp"},
                                  AxisAlias{"context_parallel", "cp"},
                                  AxisAlias{"expert_parallel", "ep"},
                                  AxisAlias{"data_parallel", "dp"}};

std::string_view axis_of(std::string_view name) {
  for (const AxisAlias& each : axis_aliases)
    if (each.alias == name) return each.axis;
  return name;
}

std::vector<std::string_view> pieces(std::string_view text, char separator) {
  std::vector<std::string_view> result;
  while (true) {
    const std::size_t end = text.find(separator);
    result.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return result;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

SearchSpace space_from_text(std::string_view fixes) {
  SearchSpace space;
  if (fixes.empty()) return space;
  std::vector<std::string> names;
  for (const AxisParser& parser : axis_parsers()) names.emplace_back(parser.name);
  for (const std::string_view fix : pieces(fixes, ',')) {
    const std::size_t equals = fix.find('=');
    const std::string_view name = axis_of(fix.substr(0, equals));
    const auto parser =
        std::find_if(axis_parsers().begin(), axis_parsers().end(), [&](const AxisParser& p) { return p.name == name; });
    if (equals == std::string_view::npos || parser == axis_parsers().end())
      throw InputError({"--fix", "\"" + std::string(fix.substr(0, 40)) + "\"",
                        "axis=value with an axis of the strategy", nearest_text(name, names)});
    const std::vector<std::string_view> values = pieces(fix.substr(equals + 1), '|');
    if (name == "etp" && values.size() > 1) refuse_value(name, fix.substr(equals + 1), "one value");
    for (const std::string_view value : values) parser->add(space, value);
  }
  return space;
}

SpaceEnumerator::SpaceEnumerator(const Question& question, SearchSpace space)
    : question_(&question), space_(std::move(space)) {
  recompute_ = space_.recompute;
  if (recompute_.empty()) recompute_.assign(recompute_modes.begin(), recompute_modes.end());
  if (space_.admits)
    std::erase_if(recompute_, [&](const Recompute& recompute) {
      Strategy alone;
      alone.recompute = recompute;
      return !space_.admits(alone);
    });
  sort_unique(recompute_);
  sort_unique(space_.micro_batch_sizes);
  sort_unique(space_.shard_groups);
  const bool any_on_host =
      std::any_of(recompute_.begin(), recompute_.end(), [](Recompute r) { return r.mode == RecomputeMode::offloaded; });
  if (!any_on_host) kept_per_sequence_ = kept_by_all(question);
}

std::vector<SpaceEnumerator::ScheduleChoice> SpaceEnumerator::schedule_choices(std::int32_t pp) const {
  std::vector<ScheduleChoice> choices;
  const auto add = [&](Schedule schedule, std::int32_t virtual_stages) {
    if (allows(space_.schedules, schedule) && allows(space_.virtual_stages, virtual_stages))
      choices.push_back({schedule, virtual_stages});
  };
  if (pp == 1) {
    // One stage has no schedule, whatever is asked of pipelines.
    if (allows(space_.virtual_stages, 1)) choices.push_back({Schedule::none, 1});
    return choices;
  }
  const std::int64_t most =
      std::min<std::int64_t>(most_virtual_stages, (question_->facts().layers + question_->facts().fillers) / pp);
  for (const ScheduleRecord& record : schedule_records) {
    if (record.schedule == Schedule::none) continue;
    const bool is_unnamed = record.considered == Considered::when_named && space_.schedules.empty();
    if (is_unnamed && !space_.has_split_backwards) continue;
    if (record.chunks == RankChunks::one) {
      add(record.schedule, 1);
      continue;
    }
    const std::int64_t last = record.chunks == RankChunks::two ? std::min<std::int64_t>(2, most) : most;
    for (std::int32_t v = 2; v <= last; ++v)
      if (v <= most_uneven_virtual_stages || splits_evenly(question_->graph(), std::int64_t{pp} * v))
        add(record.schedule, v);
  }
  return choices;
}

/// A family that is not admitted has no choice.
std::vector<SpaceEnumerator::ZeroChoice> SpaceEnumerator::zero_choices(const Strategy& family) const {
  std::vector<ZeroChoice> choices = allowed_zero_choices(family);
  if (space_.admits)
    std::erase_if(choices, [&](const ZeroChoice& choice) {
      Strategy s = family;
      s.zero_stage = choice.stage;
      s.shard_group = choice.group;
      return !space_.admits(s);
    });
  return choices;
}

std::vector<SpaceEnumerator::ZeroChoice> SpaceEnumerator::allowed_zero_choices(const Strategy& family) const {
  std::vector<ZeroChoice> choices;
  const std::int32_t ranks = family.gradient_ranks();
  if (allows(space_.zero_stages, 0)) choices.push_back({0, 1});
  if (ranks == 1) {
    if (choices.empty()) choices.push_back({0, 1});  // nothing to share: every stage is stage 0
    return choices;
  }
  std::vector<std::int32_t> groups = space_.shard_groups;
  if (groups.empty()) {
    const std::int64_t inside = question_->limits().nvlink_domain / std::max(1, family.tensor_parallel);
    if (inside > 1 && inside < ranks && ranks % inside == 0) groups.push_back(static_cast<std::int32_t>(inside));
    groups.push_back(ranks);
  }
  for (std::int32_t stage = 1; stage <= 3; ++stage)
    for (const std::int32_t group : groups)
      if (allows(space_.zero_stages, stage) && group > 1 && ranks % group == 0) choices.push_back({stage, group});
  return choices;
}

std::vector<std::int32_t> SpaceEnumerator::expert_choices() const {
  std::vector<std::int32_t> result;
  for (const std::int32_t ep : divisors(std::max<std::int64_t>(1, greatest_common_divisor(question_->facts().experts))))
    if (allows(space_.expert_parallel, ep)) result.push_back(ep);
  return result;
}

bool SpaceEnumerator::for_each_family(const Visit& visit, const StopRequest& stop) const {
  const std::int64_t n = question_->devices();
  const std::vector<std::int32_t> degrees_of_n = divisors(n);
  const std::vector<std::int32_t> expert_degrees = expert_choices();
  for (const std::int32_t pp : degrees_of_n) {
    if (!allows(space_.pipeline_stages, pp)) continue;
    const std::vector<ScheduleChoice> schedules = schedule_choices(pp);
    for (const std::int32_t tp : degrees_of_n) {
      if ((n / pp) % tp != 0 || !allows(space_.tensor_parallel, tp)) continue;
      for (const std::int32_t cp : degrees_of_n) {
        if ((n / pp / tp) % cp != 0 || !allows(space_.context_parallel, cp)) continue;
        const auto dp = static_cast<std::int32_t>(n / pp / tp / cp);
        if (!allows(space_.data_parallel, dp)) continue;
        if (stop.stop_requested()) return false;
        Strategy s;
        s.pipeline_stages = pp;
        s.tensor_parallel = tp;
        s.context_parallel = cp;
        s.data_parallel = dp;
        s.expert_tensor_parallel = space_.expert_tensor_parallel;
        s.flash_attention = space_.flash_attention;
        for (const std::int32_t ep : expert_degrees) {
          s.expert_parallel = ep;
          visit_inner(s, schedules, visit);
        }
      }
    }
  }
  return true;
}

std::vector<std::int64_t> SpaceEnumerator::micro_batch_choices(const Strategy& family) const {
  if (!space_.micro_batch_sizes.empty()) return space_.micro_batch_sizes;
  std::vector<std::int64_t> sizes(micro_batch_sizes.begin(), micro_batch_sizes.end());
  const std::int64_t ranks = std::int64_t{family.pipeline_stages} * family.tensor_parallel * family.context_parallel;
  const std::int64_t batch = question_->training().global_batch / family.data_parallel;
  const Bytes kept = kept_per_sequence_ / ranks;
  for (std::int64_t size = 2 * sizes.back(); size <= batch; size *= 2) {
    // The first rank of a pipeline has a micro-batch in flight for each rank; that of V-Half for every second.
    const std::int64_t in_flight =
        std::max<std::int64_t>(2, std::min<std::int64_t>(family.pipeline_stages, batch / size)) / 2;
    if (kept * in_flight > question_->largest_capacity() / size) break;
    sizes.push_back(size);
  }
  return sizes;
}

void SpaceEnumerator::visit_inner(Strategy s, const std::vector<ScheduleChoice>& schedules, const Visit& visit) const {
  for (const ScheduleChoice& choice : schedules) {
    s.virtual_stages = choice.virtual_stages;
    s.schedule = choice.schedule;
    const bool is_packed = s.schedule == Schedule::v_half && space_.schedules.empty();
    for (const std::int64_t micro_batch : micro_batch_choices(s)) {
      s.micro_batch = micro_batch;
      s.micro_batches = question_->training().global_batch / (s.data_parallel * micro_batch);
      if (is_packed && s.pipeline_stages * s.micro_batches > most_packed) continue;
      for (const SequenceParallel sequence_parallel : {SequenceParallel::off, SequenceParallel::on}) {
        if (sequence_parallel == SequenceParallel::on && s.tensor_parallel == 1) continue;
        // Fixing sequence parallelism says nothing about plans without tensor parallelism.
        if (s.tensor_parallel > 1 && !allows(space_.sequence_parallel, sequence_parallel)) continue;
        s.sequence_parallel = sequence_parallel;
        const std::vector<ZeroChoice> zero = zero_choices(s);
        const auto leaves = static_cast<std::int64_t>(zero.size() * recompute_.size());
        if (leaves == 0) continue;
        const auto violation = first_violation(s, question_->training(), question_->facts(), question_->limits());
        visit(s, violation ? &*violation : nullptr, leaves);
      }
    }
  }
}

std::vector<Strategy> SpaceEnumerator::leaves(const Strategy& family) const {
  std::vector<Strategy> result;
  for (const ZeroChoice& zero : zero_choices(family)) {
    for (const Recompute recompute : recompute_) {
      Strategy s = family;
      s.zero_stage = zero.stage;
      s.shard_group = zero.group;
      s.recompute = recompute;
      result.push_back(s);
    }
  }
  return result;
}

}  // namespace plumbline

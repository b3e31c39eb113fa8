#include "planner/search/space.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "core/plan/pipeline_schedule.h"
#include "core/plan/stage_split.h"
#include "core/program/pipeline_orders.h"
#include "planner/checkpointing/placement.h"

namespace plumbline {
namespace {

/// Usual sizes; then twice as many while memory could hold what every plan keeps of them.
constexpr std::array<std::int64_t, 5> micro_batch_sizes{1, 2, 4, 8, 16};
/// Where layers do not divide over the chunks; every count more makes the space as much larger again.
constexpr std::int32_t most_uneven_virtual_stages = 4;
/// Ranks times micro-batches of a packed order (V-Half) that nobody named: packing takes the square of it.
constexpr std::int64_t most_packed = 600;
/// Every n-th layer is what a placement may come to; it is looked at where it is asked for.
constexpr std::array recompute_modes{Recompute{RecomputeMode::none, 1}, Recompute{RecomputeMode::selective, 1},
                                     Recompute{RecomputeMode::full, 1}, Recompute{RecomputeMode::by_operator, 1},
                                     Recompute{RecomputeMode::placed, 1}};

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

/// What the layers keep of one sequence under every plan, on all ranks of a replica together.
Bytes kept_by_all(const Question& question) {
  Bytes sum(0);
  for (const BlockRun& run : question.graph().runs()) {
    const Block& block = question.graph().block(run.block);
    if (block.kind() == BlockKind::layer) sum += run.count * least_kept(block, question, {});
  }
  return sum;
}

/// In increasing order.
std::vector<std::int64_t> all_divisors(std::int64_t n) {
  std::vector<std::int64_t> result;
  for (std::int64_t d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    result.push_back(d);
    if (d != n / d) result.push_back(n / d);
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<std::int32_t> degrees_of(std::int64_t n) {
  std::vector<std::int32_t> result;
  for (const std::int64_t d : all_divisors(n)) result.push_back(static_cast<std::int32_t>(d));
  return result;
}

std::int64_t greatest_common_divisor(const std::vector<std::int64_t>& values) {
  std::int64_t result = 0;
  for (const std::int64_t value : values) result = std::gcd(result, value);
  return result;
}

/// The largest of `divisors` that divides `n`, from `size` on and below its double; `size` where there is none.
std::int64_t divisor_from(const std::vector<std::int64_t>& divisors, std::int64_t n, std::int64_t size) {
  if (n % size == 0) return size;
  auto above = std::lower_bound(divisors.begin(), divisors.end(), 2 * size);
  while (above != divisors.begin() && *--above >= size)
    if (n % *above == 0) return *above;
  return size;
}

}  // namespace

SpaceEnumerator::SpaceEnumerator(const Question& question, SearchSpace space)
    : question_(&question), space_(std::move(space)) {
  recompute_ = space_.recompute;
  const bool is_free = recompute_.empty();
  if (is_free) recompute_.assign(recompute_modes.begin(), recompute_modes.end());
  if (space_.allows)
    std::erase_if(recompute_, [&](const Recompute& recompute) {
      Strategy alone;
      alone.recompute = recompute;
      return !space_.allows(alone);
    });
  // A placement chooses among all sets of operators, this one too.
  if (is_free &&
      std::find(recompute_.begin(), recompute_.end(), Recompute{RecomputeMode::placed, 1}) != recompute_.end())
    std::erase(recompute_, Recompute{RecomputeMode::by_operator, 1});
  sort_unique(recompute_);
  if (space_.flash_attention.empty()) space_.flash_attention = {question.usual_flash_attention()};
  sort_lists();
  take_listed_axes();
  const bool any_on_host =
      std::any_of(recompute_.begin(), recompute_.end(), [](Recompute r) { return r.mode == RecomputeMode::offloaded; });
  if (!any_on_host) kept_per_sequence_ = kept_by_all(question);
  batch_divisors_ = all_divisors(question.training().global_batch);
}

void SpaceEnumerator::sort_lists() {
#define PLUMBLINE_AXIS(MEMBER, PRICED_IN) sort_unique(space_.MEMBER);
  PLUMBLINE_STRATEGY_AXES(PLUMBLINE_AXIS)
#undef PLUMBLINE_AXIS
}

std::vector<SpaceEnumerator::ScheduleChoice> SpaceEnumerator::schedule_choices(std::int32_t pp) const {
  std::vector<ScheduleChoice> choices;
  const auto add = [&](Schedule schedule, std::int32_t virtual_stages) {
    if (allows(space_.schedule, schedule) && allows(space_.virtual_stages, virtual_stages))
      choices.push_back({schedule, virtual_stages});
  };
  if (pp == 1) {
    // One stage has no schedule, whatever is asked of pipelines.
    if (allows(space_.virtual_stages, 1)) choices.push_back({Schedule::none, 1});
    return choices;
  }
  for (const ScheduleRecord& record : schedule_records) {
    if (record.schedule == Schedule::none) continue;
    const bool is_unnamed = record.considered == Considered::when_named && space_.schedule.empty();
    if (is_unnamed && !space_.has_split_backwards) continue;
    if (record.chunks == RankChunks::one) {
      add(record.schedule, 1);
      continue;
    }
    for (const std::int32_t v : virtual_stage_choices(record.chunks, pp)) add(record.schedule, v);
  }
  return choices;
}

std::vector<std::int32_t> SpaceEnumerator::virtual_stage_choices(RankChunks chunks, std::int32_t pp) const {
  const std::int64_t most = (question_->facts().layers + question_->facts().fillers) / pp;
  std::vector<std::int32_t> choices;
  if (chunks == RankChunks::two) {
    if (most >= 2) choices.push_back(2);
    return choices;
  }
  if (!space_.virtual_stages.empty()) {
    choices = space_.virtual_stages;
    std::erase_if(choices, [&](std::int32_t v) { return v < 2 || v > most; });
    return choices;
  }
  for (std::int32_t v = 2; v <= std::min<std::int64_t>(most_virtual_stages, most); ++v)
    if (v <= most_uneven_virtual_stages || splits_evenly(question_->graph(), std::int64_t{pp} * v))
      choices.push_back(v);
  return choices;
}

/// A family that is not allowed has no choice.
std::vector<SpaceEnumerator::ZeroChoice> SpaceEnumerator::zero_choices(const Strategy& family) const {
  std::vector<ZeroChoice> choices = zero_choices_of_space(family);
  if (!space_.allows) return choices;
  Strategy s = family;
  std::erase_if(choices, [&](const ZeroChoice& choice) { return !is_allowed(s, choice); });
  return choices;
}

bool SpaceEnumerator::is_allowed(Strategy& family, const ZeroChoice& sharing) const {
  if (!space_.allows) return true;
  sharing.apply(family);
  return space_.allows(family);
}

std::vector<SpaceEnumerator::ZeroChoice> SpaceEnumerator::zero_choices_of_space(Strategy s) const {
  constexpr std::size_t usual_choices = 8;
  std::vector<ZeroChoice> choices;
  choices.reserve(usual_choices);
  const std::int32_t ranks = s.gradient_ranks();
  const auto add = [&](std::int32_t stage, std::int32_t group) {
    s.zero_stage = stage;
    s.shard_group = group;
    if (std::all_of(details_of_family_.begin(), details_of_family_.end(),
                    [&](const ListedAxis& detail) { return detail.allows(s); }))
      add_zero_choices(s, details_of_sharing_, choices);
  };
  for (const ListedAxis& detail : details_of_sharing_) detail.set(s, detail.usual);
  // One rank has nothing to share: every stage is stage 0.
  if (allows(space_.zero_stage, 0) || ranks == 1) add(0, 1);
  if (ranks == 1) return choices;
  const std::int64_t inside = question_->limits().nvlink_domain / std::max(1, s.tensor_parallel);
  const std::array usual_groups{static_cast<std::int32_t>(inside), ranks};
  const bool has_inside = inside > 1 && inside < ranks && ranks % inside == 0;
  const std::span<const std::int32_t> groups =
      space_.shard_group.empty() ? std::span(usual_groups).subspan(has_inside ? 0 : 1) : std::span(space_.shard_group);
  for (std::int32_t stage = 1; stage <= 3; ++stage) {
    if (!allows(space_.zero_stage, stage)) continue;
    for (const std::int32_t group : groups)
      if (group > 1 && ranks % group == 0) add(stage, group);
  }
  return choices;
}

std::vector<std::int32_t> SpaceEnumerator::expert_choices() const {
  std::vector<std::int32_t> result;
  for (const std::int32_t ep :
       degrees_of(std::max<std::int64_t>(1, greatest_common_divisor(question_->facts().experts))))
    if (allows(space_.expert_parallel, ep)) result.push_back(ep);
  return result;
}

bool SpaceEnumerator::for_each_family(const Visit& visit, const StopRequest& stop) const {
  const std::int64_t n = question_->devices();
  const std::vector<std::int32_t> degrees_of_n = degrees_of(n);
  for (const std::int32_t pp : degrees_of_n) {
    if (!allows(space_.pipeline_stages, pp)) continue;
    Degrees degrees{schedule_choices(pp), {}, {}};
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
        degrees.details = detail_choices(s);
        degrees.violation =
            first_violation_of_degrees(s, question_->training(), question_->facts(), question_->limits());
        visit_listed(s, listed_, degrees, visit);
      }
    }
  }
  return true;
}

void SpaceEnumerator::visit_experts(Strategy s, const Degrees& degrees, const Visit& visit) const {
  const std::vector<std::int32_t> undivided{1};
  const std::vector<std::int32_t>& parts =
      space_.expert_tensor_parallel.empty() ? undivided : space_.expert_tensor_parallel;
  for (const std::int32_t ep : expert_choices()) {
    s.expert_parallel = ep;
    for (const std::int32_t etp : parts) {
      s.expert_tensor_parallel = etp;
      visit_inner(s, degrees, visit);
    }
  }
}

std::vector<std::int64_t> SpaceEnumerator::micro_batch_choices(const Strategy& family) const {
  if (!space_.micro_batch.empty()) return space_.micro_batch;
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
  if (batch > 0 && question_->training().global_batch % family.data_parallel == 0)
    for (std::int64_t& size : sizes) size = divisor_from(batch_divisors_, batch, size);
  return sizes;
}

void SpaceEnumerator::visit_inner(Strategy s, const Degrees& degrees, const Visit& visit) const {
  for (const ScheduleChoice& choice : degrees.schedules) {
    s.virtual_stages = choice.virtual_stages;
    s.schedule = choice.schedule;
    const bool is_packed = order_of(s.schedule).drain == Drain::packed_anew && space_.schedule.empty();
    for (const std::int64_t micro_batch : micro_batch_choices(s)) {
      s.micro_batch = micro_batch;
      static_cast<void>(s.set_batch(question_->training().global_batch));  // where not, a rule refuses it
      if (is_packed && s.pipeline_stages * s.micro_batches > most_packed) continue;
      for (const SequenceParallel sequence_parallel : {SequenceParallel::off, SequenceParallel::on}) {
        if (sequence_parallel == SequenceParallel::on && s.tensor_parallel == 1) continue;
        // Fixing sequence parallelism says nothing about plans without tensor parallelism.
        if (s.tensor_parallel > 1 && !allows(space_.sequence_parallel, sequence_parallel)) continue;
        s.sequence_parallel = sequence_parallel;
        visit_details(s, degrees, visit);
      }
    }
  }
}

void SpaceEnumerator::visit_details(Strategy s, const Degrees& degrees, const Visit& visit) const {
  Strategy sharing = s;
  for (const DetailChoice& choice : degrees.details) {
    for (const ListedValue& detail : choice.details) {
      detail.axis->set(s, detail.value);
      detail.axis->set(sharing, detail.value);
    }
    const ZeroChoice* first = nullptr;
    std::size_t count = 0;
    for (const ZeroChoice& zero : choice.sharing) {
      if (!is_allowed(sharing, zero)) continue;
      if (first == nullptr) first = &zero;
      ++count;
    }
    const auto leaves = static_cast<std::int64_t>(count * recompute_.size());
    if (leaves == 0) continue;
    if (&choice != &degrees.details.front()) first->apply(s);  // not every stage has such details
    if (degrees.violation) {
      visit(s, &*degrees.violation, leaves);
      continue;
    }
    const auto violation = first_violation(s, question_->training(), question_->facts(), question_->limits());
    visit(s, violation ? &*violation : nullptr, leaves);
  }
}

std::vector<Strategy> SpaceEnumerator::leaves(const Strategy& family) const {
  std::vector<Strategy> result;
  for (const ZeroChoice& zero : zero_choices(family)) {
    for (const Recompute recompute : recompute_) {
      Strategy s = family;
      zero.apply(s);
      s.recompute = recompute;
      result.push_back(s);
    }
  }
  return result;
}

std::optional<Violation> SpaceEnumerator::violation(const Strategy& family, std::size_t recompute) const {
  const Recompute& choice = recompute_[recompute];
  // All other choices are legal in every legal family.
  if (choice.mode != RecomputeMode::block && !joins_layers(choice)) return std::nullopt;
  Strategy s = family;
  s.recompute = choice;
  return first_violation(s, question_->training(), question_->facts(), question_->limits());
}

std::vector<std::size_t> SpaceEnumerator::legal_recompute(const Strategy& family) const {
  std::vector<std::size_t> legal;
  for (std::size_t r = 0; r < recompute_.size(); ++r)
    if (!violation(family, r)) legal.push_back(r);
  return legal;
}

}  // namespace plumbline

#include "planner/session/fit/fit_limits.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/base/errors.h"
#include "core/plan/legality.h"
#include "core/training/limits.h"
#include "models/machine_catalog.h"
#include "models/network_catalog.h"
#include "models/network_family.h"
#include "planner/session/fit/fit_probe.h"

namespace plumbline::session {
namespace {

constexpr std::int64_t sequence_unit = 128;
constexpr std::int64_t free_sequence_unit = 256;  // divides by twice as many context-parallel ranks

using ProbeAt = std::function<std::optional<FitProbe>(std::int64_t)>;

using Holds = bool (*)(const FitProbe&);
bool fits(const FitProbe& probe) { return probe.plan.has_value(); }
bool fits_surely(const FitProbe& probe) { return probe.plan && !probe.plan->verdict.near_edge; }

/// Neighbours of which `holds` is so of one and not of the other.
struct Edge {
  std::int64_t index = 1;  ///< of `before`
  FitProbe before;
  std::optional<FitProbe> after;  ///< at `index` + 1; nothing: no change up to the last
};

/// Doubles and bisects for the first change of `holds` from 1 to `last`. Nothing where it was stopped.
std::optional<Edge> first_edge(std::int64_t last, const ProbeAt& probe_at, Holds holds) {
  std::optional<FitProbe> before = probe_at(1);
  if (!before) return std::nullopt;
  const bool holds_before = holds(*before);
  std::int64_t low = 1;
  std::int64_t high = 0;  // 0: no change was seen
  std::optional<FitProbe> after;
  while (low < last && high - low != 1) {
    const std::int64_t middle = high == 0 ? std::min(2 * low, last) : low + (high - low) / 2;
    std::optional<FitProbe> probe = probe_at(middle);
    if (!probe) return std::nullopt;
    const bool is_same = holds(*probe) == holds_before;
    (is_same ? low : high) = middle;
    (is_same ? before : after) = std::move(probe);
  }
  return Edge{low, std::move(*before), std::move(after)};
}

class LimitFinder {
 public:
  LimitFinder(FitLimits& answer, const FitPoint& base, bool sequence_given, const FitProber& prober, const Task& task)
      : answer_(answer), base_(base), sequence_given_(sequence_given), prober_(prober), task_(task) {}

  void find_all() {
    const bool has_model = !base_.model.empty();
    if (!has_model && !find_model()) return;
    answer_.request.question.model = base_.model;
    answer_.request.question.training.sequence_length = base_.sequence_length;
    find_micro_batch();
    const Network network = find_network(base_.model);
    if (network.default_sequence_length > 1 && divisibility(network.graph).sequence_symbol) find_sequence();
    if (has_model) find_model();
    find_devices();
  }

 private:
  /// Of a limit that more is worse for.
  void add_largest(LimitKind kind, std::int64_t last, std::int64_t unit,
                   const std::function<FitPoint(std::int64_t)>& at) {
    const auto probe_at = [&](std::int64_t i) { return prober_.at(at(i * unit), task_); };
    FitLimit limit;
    limit.kind = kind;
    const auto smallest = probe_at(1);
    if (!smallest) return stop();
    if (!smallest->plan) {
      limit.beyond = Beyond{unit, "", smallest->reason};
      return add(std::move(limit));
    }
    const auto edge = first_edge(last, probe_at, fits);
    if (!edge) return stop();
    limit.value = edge->index * unit;
    limit.plan = edge->before.plan;
    if (edge->after) limit.beyond = Beyond{limit.value + unit, "", edge->after->reason};
    if (fits_surely(*smallest)) {
      const auto sure = first_edge(edge->index, probe_at, fits_surely);
      if (!sure) return stop();
      limit.sure = SureLimit{sure->index * unit, *sure->before.plan};
    }
    add(std::move(limit));
  }

  void find_micro_batch() {
    add_largest(LimitKind::micro_batch, most_limit_micro_batch, 1, [&](std::int64_t value) {
      FitPoint point = base_;
      point.micro_batch = value;
      return point;
    });
  }

  void find_sequence() {
    const std::int64_t unit = unit_of_sequences();
    add_largest(LimitKind::sequence, longest_sequence / unit, unit, [&](std::int64_t value) {
      FitPoint point = base_;
      point.sequence_length = value;
      return point;
    });
    const std::int64_t made_for = find_network(base_.model).default_sequence_length;
    FitLimit& limit = answer_.limits.back();
    if (limit.kind == LimitKind::sequence && limit.value > made_for)
      limit.note = "longer than the " + std::to_string(made_for) + " tokens that the model was made for";
  }

  [[nodiscard]] std::int64_t unit_of_sequences() const {
    if (!answer_.request.strategy) return free_sequence_unit;
    const Strategy& s = answer_.request.strategy->strategy;
    return std::lcm(std::lcm(sequence_unit, 2 * std::int64_t{s.context_parallel}), std::int64_t{s.tensor_parallel});
  }

  /// Tries a family from its largest member on: one that fits, and one that surely does, of which the rest is asked
  /// where there is no model. Whether there is one that fits.
  bool find_model() {
    if (answer_.request.family.empty()) return false;
    FitLimit limit;
    limit.kind = LimitKind::model;
    const bool chooses = base_.model.empty();
    for (const std::string& name : family_members(answer_.request.family)) {
      FitPoint point = base_;
      point.model = name;
      if (!sequence_given_) point.sequence_length = 0;
      const auto probe = prober_.at(point, task_);
      if (!probe) {
        stop();
        return false;
      }
      if (!probe->plan && !limit.plan) limit.beyond = Beyond{0, name, probe->reason};
      const bool is_sure = fits_surely(*probe);
      if (!probe->plan || (limit.plan && !is_sure)) continue;
      if (!limit.plan) {
        limit.value = 1;
        limit.plan = probe->plan;
      }
      if (is_sure) limit.sure = SureLimit{1, *probe->plan};
      if (chooses) {
        base_ = point;
        base_.sequence_length = probe->plan->training.sequence_length;
      }
      if (!sequence_given_)
        limit.note = "each model with the sequence that it was made for, this one with " +
                     std::to_string(probe->plan->training.sequence_length);
      if (is_sure) break;
    }
    const bool is_found = limit.plan.has_value();
    add(std::move(limit));
    return is_found;
  }

  /// Parts of a node that divide it, then whole nodes; of a given strategy those that its degrees divide.
  [[nodiscard]] std::vector<std::int64_t> device_counts() const {
    const Cluster cluster = find_machine(answer_.request.question.machine);
    if (cluster.groups.size() != 1) return {};
    const std::int64_t node = cluster.groups.front().node.devices;
    std::vector<std::int64_t> counts;
    const auto add_if_legal = [&](std::int64_t devices) {
      if (devices % model_ranks() != 0 || (fixed_devices() != 0 && devices != fixed_devices())) return true;
      try {
        (void)with_device_count(cluster, devices);
      } catch (const InputError&) {
        return false;
      }
      counts.push_back(devices);
      return true;
    };
    for (std::int64_t part = 1; part < node; ++part)
      if (node % part == 0) add_if_legal(part);
    for (std::int64_t devices = node; devices <= most_limit_devices; devices += node)
      if (!add_if_legal(devices)) break;
    return counts;
  }
  [[nodiscard]] std::int64_t model_ranks() const {
    if (!answer_.request.strategy) return 1;
    const Strategy& s = answer_.request.strategy->strategy;
    return std::int64_t{s.pipeline_stages} * s.tensor_parallel * s.context_parallel;
  }
  [[nodiscard]] std::int64_t fixed_devices() const {
    const auto& given = answer_.request.strategy;
    return given && given->data_parallel_given ? model_ranks() * given->strategy.data_parallel : 0;
  }

  void find_devices() {
    const std::vector<std::int64_t> counts = device_counts();
    if (counts.empty()) return;
    const auto at = [&](std::int64_t i) { return counts[static_cast<std::size_t>(i - 1)]; };
    const auto probe_at = [&](std::int64_t i) {
      FitPoint point = base_;
      point.devices = at(i);
      return prober_.at(point, task_);
    };
    FitLimit limit;
    limit.kind = LimitKind::devices;
    std::optional<FitProbe> smallest = probe_at(1);
    if (!smallest) return stop();
    const auto last = static_cast<std::int64_t>(counts.size());
    std::optional<FitProbe> least = smallest;
    if (fits(*smallest)) {  // what does not fit on more is of no interest
      limit.value = at(1);
    } else {
      auto edge = first_edge(last, probe_at, fits);
      if (!edge) return stop();
      limit.beyond = Beyond{at(edge->index), "", edge->before.reason};
      if (edge->after) limit.value = at(edge->index + 1);
      least = std::move(edge->after);
    }
    if (least) limit.plan = least->plan;
    if (fits_surely(*smallest)) {
      limit.sure = SureLimit{at(1), *smallest->plan};
    } else if (limit.plan) {
      const auto sure = first_edge(last, probe_at, fits_surely);
      if (!sure) return stop();
      if (sure->after) limit.sure = SureLimit{at(sure->index + 1), *sure->after->plan};
    }
    add(std::move(limit));
  }

  void add(FitLimit limit) {
    task_.end(to_text(limit.kind));
    answer_.limits.push_back(std::move(limit));
  }
  void stop() { answer_.complete = false; }

  FitLimits& answer_;
  FitPoint base_;
  bool sequence_given_;
  const FitProber& prober_;
  const Task& task_;
};

}  // namespace

std::string_view to_text(LimitKind kind) {
  switch (kind) {
    case LimitKind::micro_batch: return "micro_batch";
    case LimitKind::sequence: return "sequence_length";
    case LimitKind::model: return "model";
    case LimitKind::devices: return "devices";
  }
  return "";
}

FitLimitsRequest limits_request(const QuestionFlags& question, const StrategyFlags& strategy) {
  FitLimitsRequest request;
  request.question = question.question(QuestionParts::some);
  if (!strategy.given().empty()) request.strategy = strategy.strategy();
  return request;
}

FitLimits fit_limits(const FitLimitsRequest& request, const Task& task) {
  FitLimits answer;
  answer.request = request;
  QuestionText& text = answer.request.question;
  if (text.model.empty() && request.family.empty())
    throw InputError({"--model", "is missing", "a name of plan models or a file, or --family", ""});
  if (request.family.empty()) answer.request.family = family_of(text.model);
  const bool sequence_given = text.training.sequence_length > 0;
  QuestionText resolved = text;
  resolved.training.global_batch = 1;
  if (text.model.empty()) resolved.model = family_members(request.family).front();
  const Question question(resolved);
  answer.warning = name_warning(resolved);
  FitPoint base{resolved.model, question.devices(), question.training().sequence_length, 1};
  if (request.strategy) base.micro_batch = request.strategy->strategy.micro_batch;
  text.devices = base.devices;
  const FitProber prober(answer.request, base);
  answer.framework = prober.framework();
  base.model = text.model;
  if (!text.model.empty()) text.training.sequence_length = base.sequence_length;
  LimitFinder(answer, base, sequence_given, prober, task).find_all();
  return answer;
}

}  // namespace plumbline::session

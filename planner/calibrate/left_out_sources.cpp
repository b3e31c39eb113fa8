#include "planner/calibrate/left_out_sources.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "planner/calibrate/source_rules.h"

namespace plumbline {
namespace {

std::string key(const std::string& source, const std::string& id) { return source + "|" + id; }

/// Adds what a set's runs are when they are read so; their places by id.
std::map<std::string, std::size_t> add_read(std::vector<FitRun>& runs, const RunSet& set, const RunResolver& resolver,
                                            const std::string& how) {
  std::map<std::string, std::size_t> places;
  for (FitRun& run : fit_runs({set}, resolver).runs) {
    places.emplace(run.id, runs.size());
    run.source += how;  // so that it is no run of the source that is trained on
    runs.push_back(std::move(run));
  }
  return places;
}

/// Fits of sets of runs, each made once. Each begins where the fit over all would lie, to first order, without the runs
/// that are left out.
class Fits {
 public:
  Fits(const RereadRuns& reread, const CalibrationSet& set, const ParameterSpace& space, const PriorTable& priors,
       const CrossValidationOptions& options)
      : reread_(reread),
        set_(set),
        space_(space),
        priors_(priors),
        options_(options),
        all_(space, reread.runs, all_own(reread), options.fit) {}

  /// As it would ship had no run that `is_left_out` been measured.
  template <class IsLeftOut>
  const CalibrationSet& without(const std::string& what, IsLeftOut is_left_out) {
    std::vector<std::size_t> training;
    std::set<std::size_t> left_out;
    for (std::size_t i = 0; i < reread_.own; ++i)
      if (is_left_out(i))
        left_out.insert(i);
      else
        training.push_back(i);
    const auto known = fits_.find(training);
    if (known != fits_.end()) return known->second;
    if (options_.progress) options_.progress("without " + what);
    const Trained trained(space_, reread_.runs, training, options_.fit,
                          all_.unknowns_without(reread_.runs, left_out, options_.fit.loss_scale));
    return fits_.emplace(training, fitted_set(set_, space_, trained, reread_.runs, priors_, "fit")).first->second;
  }

 private:
  const RereadRuns& reread_;
  const CalibrationSet& set_;
  const ParameterSpace& space_;
  const PriorTable& priors_;
  const CrossValidationOptions& options_;
  Trained all_;
  std::map<std::vector<std::size_t>, CalibrationSet> fits_;
};

class LeavingOut {
 public:
  LeavingOut(const RereadRuns& reread, const CalibrationSet& set, Fits& fits)
      : reread_(reread), set_(set), fits_(fits) {
    for (std::size_t i = 0; i < reread.own; ++i) {
      frameworks_.push_back(set.software_stack(reread.runs[i].stack).framework);
      devices_.push_back(set.device(reread.runs[i].device).name);
    }
  }

  void framework_known(std::size_t i, std::vector<LeftOutRun>& tested) {
    const bool is_known_elsewhere = any_other([&](std::size_t other) {
      return source(other) != source(i) && frameworks_[other] == frameworks_[i] && reread_.runs[other].weight > 0;
    });
    if (!is_known_elsewhere || !reread_.without_rules[i]) return;
    test(i, *reread_.without_rules[i],
         fits_.without(source(i), [&](std::size_t other) { return source(other) == source(i); }), tested);
  }
  void framework_unknown(std::size_t i, std::vector<LeftOutRun>& tested) {
    const std::optional<std::size_t>& read = reread_.runs[i].of_unknown_framework;
    if (!read) return;
    const auto is_left_out = [&](std::size_t other) {
      return source(other) == source(i) || frameworks_[other] == frameworks_[i];
    };
    test(i, *read, fits_.without(source(i) + " and " + frameworks_[i], is_left_out), tested);
  }
  void device_unknown(std::size_t i, std::vector<LeftOutRun>& tested) {
    const auto is_left_out = [&](std::size_t other) { return devices_[other] == devices_[i]; };
    test(i, i, fits_.without(devices_[i], is_left_out), tested);
  }

 private:
  [[nodiscard]] const std::string& source(std::size_t i) const { return reread_.runs[i].source; }
  template <class Holds>
  [[nodiscard]] bool any_other(Holds holds) const {
    for (std::size_t i = 0; i < reread_.own; ++i)
      if (holds(i)) return true;
    return false;
  }
  void test(std::size_t run, std::size_t read, const CalibrationSet& set, std::vector<LeftOutRun>& tested) const {
    tested.push_back({run, read, shipped_prediction(set, reread_.runs[read])});
  }

  const RereadRuns& reread_;
  const CalibrationSet& set_;
  Fits& fits_;
  std::vector<std::string> frameworks_;
  std::vector<std::string> devices_;
};

}  // namespace

RereadRuns reread(std::vector<FitRun> runs, const std::vector<RunSet>& sets, const RunRuleTable& meanings,
                  const RunRuleTable& assumptions) {
  RereadRuns result{std::move(runs), 0, {}};
  result.own = result.runs.size();
  std::map<std::string, std::size_t> without_rules;
  std::map<std::string, std::size_t> unknown;
  const RunResolver all_rules({meanings}, assumptions);
  for (const RunSet& set : sets) {
    const RunResolver few_rules({without_rules_for(meanings, set.name, sets)},
                                without_rules_for(assumptions, set.name, sets));
    for (const auto& [id, place] : add_read(result.runs, without_own_rules(set), few_rules, " (without its rules)"))
      without_rules.emplace(key(set.name, id), place);
    for (const auto& [id, place] : add_read(result.runs, of_unknown_framework(set), all_rules, " (unknown framework)"))
      unknown.emplace(key(set.name, id), place);
  }
  const auto place_of = [](const auto& places, const std::string& name) {
    const auto found = places.find(name);
    return found == places.end() ? std::nullopt : std::optional(found->second);
  };
  for (std::size_t i = 0; i < result.own; ++i) {
    const std::string name = key(result.runs[i].source, result.runs[i].id);
    result.without_rules.push_back(place_of(without_rules, name));
    result.runs[i].of_unknown_framework = place_of(unknown, name);
  }
  return result;
}

std::vector<std::size_t> all_own(const RereadRuns& reread) {
  std::vector<std::size_t> all(reread.own);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

LeftOutSources leave_sources_out(const RereadRuns& reread, const CalibrationSet& set, const ParameterSpace& space,
                                 const PriorTable& priors, const CrossValidationOptions& options) {
  Fits fits(reread, set, space, priors, options);
  LeavingOut leaving(reread, set, fits);
  LeftOutSources result;
  for (std::size_t i = 0; i < reread.own && !options.fit.stop.stop_requested(); ++i) {
    leaving.framework_known(i, result.framework_known);
    leaving.framework_unknown(i, result.framework_unknown);
    leaving.device_unknown(i, result.device_unknown);
  }
  return result;
}

}  // namespace plumbline

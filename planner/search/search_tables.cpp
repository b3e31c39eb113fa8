#include "planner/search/search_tables.h"

#include <algorithm>

namespace plumbline {

PlanBound SearchTables::tighten(Candidate& candidate, Tighter way) const {
  const PlanBound bound = of(candidate).tighter_bound(candidate, way);
  candidate.score = std::max(candidate.score, score_of(bound.step, bound.peak_memory, candidate.question));
  ++candidate.tightened;
  return bound;
}

RankedStrategy written_out(const CandidateTable& table, const Candidate& candidate) {
  const Question& question = table.question();
  const Training& training = question.training();
  RankedStrategy plan;
  static_cast<Candidate&>(plan) = candidate;
  plan.strategy = table.strategy(candidate);
  plan.devices = question.devices();
  plan.precision = training.precision;
  plan.gradient_format = training.gradient_format;
  plan.optimizer = training.optimizer;
  plan.lora_rank = training.adaptation.lora_rank;
  return plan;
}

RankedStrategy SearchTables::priced(const Candidate& candidate) const {
  const CandidateTable& table = of(candidate);
  const Candidate exact = table.priced(candidate);
  RankedStrategy plan = exact.outcome == Outcome::priced ? written_out(table, exact) : RankedStrategy{exact};
  plan.score = score_of(plan.step_time, plan.peak_memory, plan.question);
  return plan;
}

}  // namespace plumbline

#include "planner/search/bounded_plans.h"

#include <algorithm>
#include <tuple>

#include "core/cost/time_limits.h"
#include "planner/search/parallel.h"

namespace plumbline {
namespace {

/// Families bounded between two looks at the clock and the user.
constexpr std::size_t families_per_epoch = 2048;
constexpr std::size_t families_per_task = 16;

class Bounding {
 public:
  Bounding(const SearchTables& tables, const BoundingContext& context, SearchAudit& audit)
      : tables_(tables), context_(context), audit_(audit) {}

  void bound_all(std::uint32_t q) {
    const CandidateTable& table = *tables_.tables[q];
    const std::size_t families = table.family_count();
    if (!table.is_complete()) return leave(table, 0, families);
    for (std::size_t first = 0; first < families; first += families_per_epoch) {
      const std::size_t last = std::min(families, first + families_per_epoch);
      std::vector<std::optional<CandidateBatch>> slots((last - first + families_per_task - 1) / families_per_task);
      const auto end_of = [&](std::size_t task) { return std::min(last, first + (task + 1) * families_per_task); };
      const bool done = parallel_for(
          slots.size(), context_.threads,
          [&](std::size_t task) {
            CandidateBatch& slot = slots[task].emplace();
            if (found_.smallest_too_large) slot.told_below = found_.smallest_too_large->peak_memory;
            for (std::size_t f = first + task * families_per_task; f < end_of(task); ++f) table.bound_family(f, slot);
          },
          context_.stop);
      for (std::size_t task = 0; task < slots.size(); ++task)
        slots[task] ? take(*slots[task], q) : leave(table, first + task * families_per_task, end_of(task));
      context_.report(static_cast<std::int64_t>(last), static_cast<std::int64_t>(families));
      if (!done) return leave(table, last, families);
    }
  }

  BoundedPlans sorted() {
    std::sort(found_.plans.begin(), found_.plans.end(), [](const Candidate& a, const Candidate& b) {
      return std::tie(a.score, a.question, a.family, a.leaf) < std::tie(b.score, b.question, b.family, b.leaf);
    });
    return std::move(found_);
  }

 private:
  /// Families that a stop leaves unvisited.
  void leave(const CandidateTable& table, std::size_t first, std::size_t last) {
    found_.is_complete = false;
    for (std::size_t f = first; f < last; ++f) audit_.unvisited += table.leaves_of(f);
  }

  void take(const CandidateBatch& slot, std::uint32_t q) {
    audit_.memory += slot.too_large;
    audit_.dominated += slot.dominated;
    for (const Candidate& plan : slot.fitting) {
      if (plan.step_time > longest_step) {
        found_.has_too_long = true;
        ++audit_.infeasible;
        continue;
      }
      Candidate& found = found_.plans.emplace_back(plan);
      found.question = q;
      found.score = tables_.score_of(plan.step_time, plan.peak_memory, q);
    }
    auto& missed = found_.smallest_too_large;
    if (!slot.smallest_too_large || (missed && slot.smallest_too_large->peak_memory >= missed->peak_memory)) return;
    missed = slot.smallest_too_large;
    missed->question = q;
  }

  const SearchTables& tables_;
  const BoundingContext& context_;
  SearchAudit& audit_;
  BoundedPlans found_;
};

}  // namespace

BoundedPlans bounded_plans(const SearchTables& tables, const BoundingContext& context, SearchAudit& audit) {
  Bounding bounding(tables, context, audit);
  for (std::size_t q = 0; q < tables.tables.size(); ++q) bounding.bound_all(static_cast<std::uint32_t>(q));
  return bounding.sorted();
}

std::int64_t leaves_of(const CandidateTable& table) {
  std::int64_t leaves = 0;
  for (std::size_t f = 0; f < table.family_count(); ++f) leaves += table.leaves_of(f);
  return leaves;
}

}  // namespace plumbline

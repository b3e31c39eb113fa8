// Axes of which a search takes the values that are listed, without a rule of their own (StrategyAxis::in_search).
#include <algorithm>

#include "planner/search/space.h"
#include "planner/search/space_axes.h"

namespace plumbline {

void SpaceEnumerator::take_listed_axes() {
  for (const SpaceAxis& one : all_space_axes()) {
    if (one.axis->in_search != InSearch::listed) continue;
    std::vector<ListedAxis>& details =
        one.axis->priced_in == PricedIn::sharing ? details_of_sharing_ : details_of_family_;
    (one.axis->detail_of.empty() ? listed_ : details).emplace_back(*one.axis, one.values(space_));
  }
}

SpaceEnumerator::ListedAxis::ListedAxis(const StrategyAxis& of, const std::vector<Strategy>& with_values)
    : axis(&of), usual(of.get({})) {
  for (const Strategy& one : with_values) values.push_back(of.get(one));
}

/// Fixing an axis says nothing about plans in which it means nothing.
bool SpaceEnumerator::ListedAxis::allows(const Strategy& s) const {
  const std::int64_t value = axis->get(s);
  if (!axis->means_something(s)) return value == usual;
  return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
}

void SpaceEnumerator::add_zero_choices(Strategy& s, std::span<const ListedAxis> details,
                                       std::vector<ZeroChoice>& into) const {
  if (details.empty()) {
    into.push_back({values_priced_in<PricedIn::sharing>(s)});
    return;
  }
  const ListedAxis& detail = details.front();
  if (detail.values.empty() || !detail.axis->means_something(s)) {
    add_zero_choices(s, details.subspan(1), into);
    return;
  }
  for (const std::int64_t value : detail.values) {
    detail.set(s, value);
    if (detail.axis->goes_with == nullptr || detail.axis->goes_with(s)) add_zero_choices(s, details.subspan(1), into);
  }
  detail.set(s, detail.usual);
}

std::vector<SpaceEnumerator::DetailChoice> SpaceEnumerator::detail_choices(const Strategy& degrees) const {
  std::vector<DetailChoice> choices(1);
  for (const ListedAxis& detail : details_of_family_) {
    if (detail.values.empty()) continue;
    std::vector<DetailChoice> more;
    for (const DetailChoice& choice : choices) {
      more.emplace_back(choice).details.push_back({&detail, detail.usual});
      for (const std::int64_t value : detail.values)
        if (value != detail.usual) more.emplace_back(choice).details.push_back({&detail, value});
    }
    choices = std::move(more);
  }
  for (DetailChoice& choice : choices) {
    Strategy s = degrees;
    for (const ListedValue& detail : choice.details) detail.axis->set(s, detail.value);
    choice.sharing = zero_choices_of_space(std::move(s));
  }
  return choices;
}

void SpaceEnumerator::visit_listed(Strategy s, std::span<const ListedAxis> axes, const Degrees& degrees,
                                   const Visit& visit) const {
  if (axes.empty()) {
    visit_experts(std::move(s), degrees, visit);
    return;
  }
  const ListedAxis& axis = axes.front();
  if (axis.values.empty() || !axis.axis->means_something(s)) {
    visit_listed(std::move(s), axes.subspan(1), degrees, visit);
    return;
  }
  for (const std::int64_t value : axis.values) {
    axis.set(s, value);
    visit_listed(s, axes.subspan(1), degrees, visit);
  }
}

}  // namespace plumbline

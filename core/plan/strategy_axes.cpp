#include "core/plan/strategy_axes.h"

#include <utility>

#include "core/plan/axis_row.h"

namespace plumbline {
namespace {

StrategyAxis listed_row(StrategyAxis row, std::string_view member, PricedIn priced_in) {
  row.member = member;
  row.priced_in = priced_in;
  return row;
}

std::vector<StrategyAxis> listed_rows() {
  std::vector<StrategyAxis> rows;
#define PLUMBLINE_AXIS(MEMBER, PRICED_IN) \
  rows.push_back(listed_row(axes::MEMBER##_axis(), #MEMBER, PricedIn::PRICED_IN));
#define PLUMBLINE_OTHER(MEMBER) rows.push_back(axes::MEMBER##_axis());
  PLUMBLINE_STRATEGY_ROWS(PLUMBLINE_AXIS, PLUMBLINE_OTHER)
#undef PLUMBLINE_AXIS
#undef PLUMBLINE_OTHER
  return rows;
}

}  // namespace

const std::vector<StrategyAxis>& strategy_axes() {
  static const std::vector<StrategyAxis> rows = listed_rows();
  return rows;
}

}  // namespace plumbline

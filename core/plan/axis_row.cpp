#include "core/plan/axis_row.h"

#include <utility>

namespace plumbline::axes {

StrategyAxis new_row(StrategyAxis axis, const Words& words) {
  axis.flag = words.flag;
  axis.key = words.key;
  axis.change = words.change;
  axis.foreign = words.foreign;
  axis.meaning = words.meaning;
  axis.help = words.help;
  if (axis.help.empty() && !axis.meaning.empty()) axis.help = axis.meaning + " (" + axis.text({}) + ")";
  axis.examples = words.examples;
  axis.column = words.column;
  axis.caption = words.caption;
  axis.in_schema = words.in_schema;
  return axis;
}

StrategyAxis first_row(Places places, StrategyAxis axis, const Words& words) {
  StrategyAxis row = new_row(std::move(axis), words);
  row.in_files = InFiles::required;
  row.in_search = InSearch::by_rule;
  row.in_tables = InTables::always;
  row.file_place = places.file;
  row.change_place = places.change;
  row.column_place = places.column;
  row.form_place = places.form;
  return row;
}

}  // namespace plumbline::axes

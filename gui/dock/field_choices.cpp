#include "gui/dock/field_choices.h"

#include "core/io/value_text.h"
#include "gui/text.h"
#include "models/calibration_catalog.h"
#include "models/machine_catalog.h"
#include "models/network_catalog.h"
#include "planner/session/question_flags.h"

namespace plumbline::gui {
namespace {

QStringList list_from(const std::vector<std::string>& names) {
  QStringList list;
  for (const std::string& name : names) list.append(qt(name));
  return list;
}

QStringList machines() {
  QStringList list = list_from(machine_names());
  list.prepend("this-computer");  // found where the program runs, and in no catalogue
  return list;
}

QStringList choices_of(const StrategyAxis& axis) {
  switch (axis.kind) {
    case AxisKind::toggle: return {"on", "off"};
    case AxisKind::choice: return list_from(axis.names);
    case AxisKind::recompute: return {"none", "selective", "full", "optimal"};  // others have a number or modules
    case AxisKind::number:
    case AxisKind::layers: break;
  }
  return {};
}

}  // namespace

QStringList choices_of(Field field) {
  switch (field) {
    case Field::model: return list_from(network_names());
    case Field::machine: return machines();
    case Field::objective: return list_from(names_of(all_objectives));
    case Field::precision: return list_from(names_of(all_precision_recipes));
    case Field::optimizer: return list_from(session::optimizer_names());
    case Field::stack: return list_from(stack_names());
    case Field::framework: return list_from(names_of(all_frameworks));
    default: break;
  }
  const StrategyAxis* const axis = facts_of(field).axis;
  return axis == nullptr ? QStringList() : choices_of(*axis);
}

}  // namespace plumbline::gui

#include "core/cost/software_stack.h"

#include "core/base/found_by_name.h"

namespace plumbline {
namespace {

template <class T>
std::vector<std::string> names_of(const std::vector<T>& all) {
  std::vector<std::string> names;
  for (const T& one : all) names.push_back(one.name);
  return names;
}

}  // namespace

const AxisValue* StackAxis::find(std::string_view value) const { return named(values, value); }
std::vector<std::string> StackAxis::value_names() const { return names_of(values); }
const StackAxis* StackAxisTable::find(std::string_view axis) const { return named(axes, axis); }
std::vector<std::string> StackAxisTable::axis_names() const { return names_of(axes); }

}  // namespace plumbline

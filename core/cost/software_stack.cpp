#include "core/cost/software_stack.h"

#include <algorithm>

namespace plumbline {
namespace {

template <class T>
const T* named(const std::vector<T>& all, std::string_view name) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const T& one) { return one.name == name; });
  return at == all.end() ? nullptr : &*at;
}

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

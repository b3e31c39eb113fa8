#include "models/calibration_numbers.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/base/errors.h"
#include "core/base/found_by_name.h"
#include "core/cost/calibration_fields.h"
#include "models/stack_composition.h"

namespace plumbline {
namespace {

/// May be changed where its owner may.
template <class Owner>
using NumberOf = std::conditional_t<std::is_const_v<Owner>, const Coefficient, Coefficient>;

template <class Coefficients>
NumberOf<Coefficients>* coefficient_in(Coefficients& coefficients, std::string_view name) {
  auto* found = named(coefficients, name);
  return found == nullptr ? nullptr : &found->coefficient;
}

template <class Owner, class Fields>
NumberOf<Owner>* coefficient_in(Owner& owner, const Fields& fields, std::string_view key) {
  const auto* field = find_field(fields, key);
  return field == nullptr ? nullptr : &field->of(owner);
}

template <class Calibration>
NumberOf<Calibration>* number_in_device(Calibration& device, const ParameterId& id) {
  if (id.kind == ParameterKind::device) return coefficient_in(device, device_fields, id.field);
  for (auto& product : device.products)
    if (product.format == id.format) return coefficient_in(product, product_fields, id.field);
  return nullptr;
}

/// Null where there is none.
template <class Devices, class Axes, class Stacks>
NumberOf<Devices>* number_in(Devices& devices, Axes& table, Stacks& stacks, const ParameterId& id) {
  switch (id.kind) {
    case ParameterKind::base: return coefficient_in(table.base, id.field);
    case ParameterKind::axis_value: {
      auto* axis = named(table.axes, id.owner);
      auto* value = axis == nullptr ? nullptr : named(axis->values, id.value);
      return value == nullptr ? nullptr : coefficient_in(value->coefficients, id.field);
    }
    case ParameterKind::stack: {
      auto* stack = named(stacks, id.owner);
      return stack == nullptr ? nullptr : coefficient_in(stack->coefficients, id.field);
    }
    case ParameterKind::device:
    case ParameterKind::product: break;
  }
  auto* device = named(devices, id.owner);
  return device == nullptr ? nullptr : number_in_device(*device, id);
}

std::vector<ParameterId> parameters_in(const DeviceCalibration& device) {
  std::vector<ParameterId> ids;
  for (const ProductEfficiency& product : device.products)
    for (const CoefficientField<ProductEfficiency>& field : product_fields)
      ids.push_back(ParameterId::of_product(device.name, product.format, field.key));
  for (const CoefficientField<DeviceCalibration>& field : device_fields)
    ids.push_back(ParameterId::of_device(device.name, field.key));
  return ids;
}

[[noreturn]] void refuse(const CalibrationSet& set, const ParameterId& id) {
  std::vector<std::string> known;
  for (const ParameterId& each : parameters_of(set)) known.push_back(to_text(each));
  const std::string text = to_text(id);
  throw InputError({"calibration", "\"" + text.substr(0, 120) + "\" is no number of it",
                    "a path such as base/step_factor", nearest_text(text, known)});
}

}  // namespace

std::vector<ParameterId> parameters_of(const CalibrationSet& set) {
  std::vector<ParameterId> all;
  const auto add = [&](const std::vector<NamedCoefficient>& coefficients, ParameterId id) {
    for (const NamedCoefficient& c : coefficients) {
      id.field = c.name;
      all.push_back(id);
    }
  };
  for (const DeviceCalibration& device : set.devices())
    for (ParameterId& id : parameters_in(device)) all.push_back(std::move(id));
  add(set.axis_table().base, ParameterId::of_base(""));
  for (const StackAxis& axis : set.axis_table().axes)
    for (const AxisValue& value : axis.values)
      add(value.coefficients, ParameterId::of_axis_value(axis.name, value.name, ""));
  for (const SoftwareStack& stack : set.stacks()) add(stack.coefficients, ParameterId::of_stack(stack.name, ""));
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<ParameterId> parameters_of(const CalibrationSet& set, const Device& device, std::string_view stack) {
  std::vector<ParameterId> all = parameters_in(set.stated_for(device));
  for (DecidedCoefficient& one : decided_coefficients(set, set.software_stack(stack))) all.push_back(std::move(one.id));
  std::sort(all.begin(), all.end());
  return all;
}

std::optional<std::pair<double, double>> range_of(const ParameterId& id) {
  const auto bounds = [](const auto* field) -> std::optional<std::pair<double, double>> {
    if (field == nullptr) return std::nullopt;
    return std::pair(field->smallest, field->largest);
  };
  if (id.kind == ParameterKind::device) return bounds(find_field(device_fields, id.field));
  if (id.kind == ParameterKind::product) return bounds(find_field(product_fields, id.field));
  return bounds(find_field(stack_fields, id.field));
}

const Coefficient* CalibrationSet::locate(const ParameterId& id) const {
  return number_in(devices_, axis_table_, stacks_, id);
}

bool CalibrationSet::has(const ParameterId& id) const { return locate(id) != nullptr; }

const Coefficient& CalibrationSet::at(const ParameterId& id) const {
  const Coefficient* found = locate(id);
  if (found == nullptr) refuse(*this, id);
  return *found;
}

void CalibrationSet::set(const ParameterId& id, const Coefficient& coefficient) {
  const auto range = range_of(id);
  if (!range) refuse(*this, id);
  Coefficient kept = coefficient;
  kept.value = std::clamp(kept.value, range->first, range->second);
  if (Coefficient* found = number_in(devices_, axis_table_, stacks_, id)) {
    *found = std::move(kept);
    return;
  }
  SoftwareStack* stack = id.kind == ParameterKind::stack ? named(stacks_, id.owner) : nullptr;
  if (stack == nullptr) refuse(*this, id);
  stack->coefficients.push_back({id.field, std::move(kept)});
}

}  // namespace plumbline

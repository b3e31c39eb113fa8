// The numbers of a CalibrationSet by their ids.
#include <algorithm>
#include <array>

#include "core/base/errors.h"
#include "core/cost/calibration_fields.h"
#include "models/calibration_set.h"
#include "models/found_by_name.h"

namespace plumbline {
namespace {

const Coefficient* coefficient_in(const std::vector<NamedCoefficient>& coefficients, std::string_view name) {
  const NamedCoefficient* found = named(coefficients, name);
  return found == nullptr ? nullptr : &found->coefficient;
}

template <class Owner, std::size_t N>
const Coefficient* coefficient_in(const Owner& owner, const std::array<CoefficientField<Owner>, N>& fields,
                                  std::string_view key) {
  const auto* field = find_field(fields, key);
  return field == nullptr ? nullptr : &field->of(owner);
}

const Coefficient* in_device(const DeviceCalibration& device, const ParameterId& id) {
  if (id.kind == ParameterKind::device) return coefficient_in(device, device_fields, id.field);
  for (const ProductEfficiency& product : device.products)
    if (product.format == id.format) return coefficient_in(product, product_fields, id.field);
  return nullptr;
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

[[noreturn]] void refuse(const CalibrationSet& set, std::string_view text) {
  std::vector<std::string> known;
  for (const ParameterId& id : set.parameters()) known.push_back(to_text(id));
  throw InputError({"calibration", "\"" + std::string(text.substr(0, 120)) + "\" is no number of it",
                    "a path such as base/step_factor", nearest_text(text, known)});
}

}  // namespace

std::vector<ParameterId> CalibrationSet::parameters() const {
  std::vector<ParameterId> all;
  const auto add = [&](const std::vector<NamedCoefficient>& coefficients, ParameterId id) {
    for (const NamedCoefficient& c : coefficients) {
      id.field = c.name;
      all.push_back(id);
    }
  };
  for (const DeviceCalibration& device : devices_)
    for (ParameterId& id : parameters_in(device)) all.push_back(std::move(id));
  add(axis_table_.base, ParameterId::of_base(""));
  for (const StackAxis& axis : axis_table_.axes)
    for (const AxisValue& value : axis.values)
      add(value.coefficients, ParameterId::of_axis_value(axis.name, value.name, ""));
  for (const SoftwareStack& stack : stacks_) add(stack.coefficients, ParameterId::of_stack(stack.name, ""));
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<ParameterId> CalibrationSet::parameters_of(const Device& device, std::string_view stack) const {
  std::vector<ParameterId> all = parameters_in(made_for(device));
  for (DecidedCoefficient& one : decided(software_stack(stack))) all.push_back(std::move(one.id));
  std::sort(all.begin(), all.end());
  return all;
}

const Coefficient* CalibrationSet::locate(const ParameterId& id) const {
  switch (id.kind) {
    case ParameterKind::base: return coefficient_in(axis_table_.base, id.field);
    case ParameterKind::axis_value: {
      const StackAxis* axis = axis_table_.find(id.owner);
      const AxisValue* value = axis == nullptr ? nullptr : axis->find(id.value);
      return value == nullptr ? nullptr : coefficient_in(value->coefficients, id.field);
    }
    case ParameterKind::stack: {
      const SoftwareStack* stack = named(stacks_, id.owner);
      return stack == nullptr ? nullptr : coefficient_in(stack->coefficients, id.field);
    }
    case ParameterKind::device:
    case ParameterKind::product: break;
  }
  const DeviceCalibration* device = named(devices_, id.owner);
  return device == nullptr ? nullptr : in_device(*device, id);
}

ParameterId CalibrationSet::parameter(std::string_view text) const {
  const auto id = parameter_id_from_text(text);
  if (!id || !has(*id)) refuse(*this, text);
  return *id;
}

bool CalibrationSet::has(const ParameterId& id) const { return locate(id) != nullptr; }

const Coefficient& CalibrationSet::at(const ParameterId& id) const {
  const Coefficient* found = locate(id);
  if (found == nullptr) refuse(*this, to_text(id));
  return *found;
}

std::pair<double, double> CalibrationSet::range(const ParameterId& id) const {
  const auto bounds = [&](const auto* field) {
    if (field == nullptr) refuse(*this, to_text(id));
    return std::pair(field->smallest, field->largest);
  };
  if (id.kind == ParameterKind::device) return bounds(find_field(device_fields, id.field));
  if (id.kind == ParameterKind::product) return bounds(find_field(product_fields, id.field));
  return bounds(find_field(stack_fields, id.field));
}

void CalibrationSet::set(const ParameterId& id, const Coefficient& coefficient) {
  const auto [smallest, largest] = range(id);
  Coefficient kept = coefficient;
  kept.value = std::clamp(kept.value, smallest, largest);
  const Coefficient* found = locate(id);
  if (found != nullptr) {
    *const_cast<Coefficient*>(found) = std::move(kept);  // points into this object, which is not const here
    return;
  }
  SoftwareStack* stack = id.kind == ParameterKind::stack ? named(stacks_, id.owner) : nullptr;
  if (stack == nullptr) refuse(*this, to_text(id));
  stack->coefficients.push_back({id.field, std::move(kept)});
}

}  // namespace plumbline

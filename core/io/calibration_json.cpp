#include "core/io/calibration_json.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/cost/calibration_fields.h"

namespace plumbline {
namespace {

Coefficient coefficient_from_json(const JsonPlace& place, double smallest, double largest) {
  JsonObject object(place);
  Coefficient result;
  result.value = object.at("value").number(smallest, largest);
  result.relative_sigma = object.at("relative_sigma").number(0, 10);
  const JsonPlace kind = object.at("kind");
  result.kind = kind.string();
  const std::vector<std::string> kinds{"fitted", "measured", "assumed"};
  if (std::find(kinds.begin(), kinds.end(), result.kind) == kinds.end())
    throw InputError(
        {kind.where(), "\"" + result.kind + "\"", "fitted, measured or assumed", nearest_text(result.kind, kinds)});
  result.source = object.at("source").string();
  object.finish();
  return result;
}

template <class Owner, std::size_t N>
void read_fields(JsonObject& object, Owner& owner, const std::array<CoefficientField<Owner>, N>& fields) {
  for (const CoefficientField<Owner>& field : fields)
    owner.*field.member = coefficient_from_json(object.at(field.key), field.smallest, field.largest);
}

template <class Owner, std::size_t N>
std::vector<NamedCoefficient> named(const Owner& owner, const std::array<CoefficientField<Owner>, N>& fields) {
  std::vector<NamedCoefficient> result;
  for (const CoefficientField<Owner>& field : fields) result.push_back({std::string(field.key), owner.*field.member});
  return result;
}

ProductEfficiency product_from_json(const JsonPlace& place) {
  JsonObject object(place);
  ProductEfficiency product;
  const JsonPlace format = object.at("format");
  const auto read = number_format_from_text(format.string());
  if (!read) throw InputError({format.where(), "\"" + format.string() + "\"", "a number format such as bf16", ""});
  product.format = *read;
  product.peak_fraction = coefficient_from_json(object.at("peak_fraction"), 0.001, 1);
  product.half_depth = coefficient_from_json(object.at("half_depth"), 0, 1e6);
  object.finish();
  return product;
}

}  // namespace

DeviceCalibration device_calibration_from_json(const JsonPlace& root) {
  JsonObject object = open_document(root, "plumbline.calibration/1");
  DeviceCalibration device;
  device.name = object.at("name").string();
  for (const JsonPlace& name : object.at("devices").elements()) device.devices.push_back(name.string());
  const JsonPlace products = object.at("products");
  for (const JsonPlace& product : products.elements()) device.products.push_back(product_from_json(product));
  if (device.products.empty())
    throw InputError({products.where(), "is empty", "the efficiency of at least one number format", ""});
  read_fields(object, device, device_fields);
  object.finish();
  return device;
}

StackCalibration stack_calibration_from_json(const JsonPlace& root) {
  JsonObject object = open_document(root, "plumbline.stack/1");
  StackCalibration stack;
  stack.name = object.at("name").string();
  stack.description = object.at("description").string();
  read_fields(object, stack, stack_fields);
  object.finish();
  return stack;
}

std::vector<NamedCoefficient> coefficients(const DeviceCalibration& device) {
  std::vector<NamedCoefficient> result;
  for (const ProductEfficiency& p : device.products) {
    const std::string format(to_text(p.format));
    result.push_back({format + " peak_fraction", p.peak_fraction});
    result.push_back({format + " half_depth", p.half_depth});
  }
  for (NamedCoefficient& c : named(device, device_fields)) result.push_back(std::move(c));
  return result;
}
std::vector<NamedCoefficient> coefficients(const StackCalibration& stack) { return named(stack, stack_fields); }

}  // namespace plumbline

#include "core/io/calibration_json.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/cost/calibration_fields.h"
#include "core/io/feature_json.h"
#include "core/io/json_array.h"
#include "core/io/json_choice.h"
#include "core/io/product_shapes_json.h"
#include "core/io/residuals_json.h"

namespace plumbline {

std::string coefficient_kind_from_json(const JsonPlace& place) {
  const std::string& kind = place.string();
  const std::vector<std::string> kinds{"fitted", "measured", "assumed"};
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
    throw InputError({place.where(), "\"" + kind + "\"", "fitted, measured or assumed", nearest_text(kind, kinds)});
  return kind;
}

Coefficient coefficient_from_json(const JsonPlace& place, double smallest, double largest) {
  JsonObject object(place);
  Coefficient result;
  result.value = object.at("value").number(smallest, largest);
  result.relative_sigma = object.at("relative_sigma").number(0, 10);
  result.kind = coefficient_kind_from_json(object.at("kind"));
  result.source = object.at("source").string();
  object.finish();
  return result;
}

namespace {

template <class Owner, std::size_t N>
void read_fields(JsonObject& object, Owner& owner, const std::array<CoefficientField<Owner>, N>& fields) {
  for (const CoefficientField<Owner>& field : fields)
    field.of(owner) = coefficient_from_json(object.at(field.key), field.smallest, field.largest);
}

template <class Owner, std::size_t N>
std::vector<NamedCoefficient> named(const Owner& owner, const std::array<CoefficientField<Owner>, N>& fields) {
  std::vector<NamedCoefficient> result;
  for (const CoefficientField<Owner>& field : fields) result.push_back({std::string(field.key), field.of(owner)});
  return result;
}

ProductEfficiency product_from_json(const JsonPlace& place) {
  JsonObject object(place);
  ProductEfficiency product;
  product.format = choice_from_json(object.at("format"), all_number_formats);
  read_fields(object, product, product_fields);
  object.finish();
  return product;
}

OperatorTraffic traffic_from_json(const JsonPlace& place) {
  JsonObject object(place);
  OperatorTraffic traffic;
  traffic.kind = choice_from_json(object.at("operator"), values_up_to(op_records.back().kind));
  read_fields(object, traffic, operator_fields);
  object.finish();
  return traffic;
}

void read_operators(JsonObject& object, DeviceCalibration& device) {
  const auto operators = object.find("operators");
  if (!operators) return;
  for (const JsonPlace& place : operators->elements()) {
    const OperatorTraffic traffic = traffic_from_json(place);
    if (device.traffic(traffic.kind) != nullptr)
      throw InputError({place.where(), "is a second entry of " + std::string(to_text(traffic.kind)), "one", ""});
    device.operators.push_back(traffic);
  }
}

/// Adds the coefficients of an owner to `object`.
template <class Owner, class Fields>
Json::Object with_coefficients(Json::Object object, const Owner& owner, const Fields& fields) {
  for (const auto& field : fields) object.emplace_back(field.key, coefficient_json(field.of(owner)));
  return object;
}

Json operators_json(const std::vector<OperatorTraffic>& operators) {
  return json_array(operators, [](const OperatorTraffic& traffic) {
    return with_coefficients({{"operator", to_text(traffic.kind)}}, traffic, operator_fields);
  });
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
  read_operators(object, device);
  if (const auto shapes = object.find("shapes")) device.shapes = product_shapes_from_json(*shapes);
  if (const auto residuals = object.find("residuals")) device.residuals = residuals_from_json(*residuals);
  object.finish();
  return device;
}

StackNumbers stack_numbers_from_json(const JsonPlace& place) {
  StackNumbers result;
  std::vector<std::string> known;
  for (const CoefficientField<StackCalibration>& field : stack_fields) known.emplace_back(field.key);
  for (const auto& [key, number] : JsonObject(place).members()) {
    if (const FeatureField* feature = feature_of_number(key)) {
      result.features.push_back(feature_from_number(*feature, number));
      continue;
    }
    const auto* field = find_field(stack_fields, key);
    if (field == nullptr)
      throw InputError({number.where(), "is no coefficient of a software stack",
                        "one of " + std::to_string(known.size()) + " (docs/calibrations.md)",
                        nearest_text(key, known)});
    result.coefficients.push_back({key, coefficient_from_json(number, field->smallest, field->largest)});
  }
  return result;
}

Json coefficient_json(const Coefficient& coefficient) {
  return Json::Object{{"value", coefficient.value},
                      {"relative_sigma", coefficient.relative_sigma},
                      {"kind", coefficient.kind},
                      {"source", coefficient.source}};
}

Json coefficients_json(const std::vector<NamedCoefficient>& coefficients) {
  Json::Object object;
  for (const NamedCoefficient& c : coefficients) object.emplace_back(c.name, coefficient_json(c.coefficient));
  return object;
}

Json calibration_json(const DeviceCalibration& device) {
  const auto product_json = [](const ProductEfficiency& product) {
    return with_coefficients({{"format", to_text(product.format)}}, product, product_fields);
  };
  Json::Object object = with_coefficients({{"format", "plumbline.calibration/1"},
                                           {"name", device.name},
                                           {"devices", json_array(device.devices)},
                                           {"products", json_array(device.products, product_json)}},
                                          device, device_fields);
  if (!device.operators.empty()) object.emplace_back("operators", operators_json(device.operators));
  if (device.shapes) object.emplace_back("shapes", product_shapes_json(*device.shapes));
  if (device.residuals) object.emplace_back("residuals", residuals_json(*device.residuals));
  return object;
}

std::vector<NamedCoefficient> coefficients(const DeviceCalibration& device) {
  std::vector<NamedCoefficient> result;
  for (const ProductEfficiency& p : device.products) {
    const std::string format(to_text(p.format));
    result.push_back({format + " peak_fraction", p.peak_fraction});
    result.push_back({format + " half_depth", p.half_depth});
  }
  for (NamedCoefficient& c : named(device, device_fields)) result.push_back(std::move(c));
  for (const OperatorTraffic& traffic : device.operators) {
    const std::string kind(to_text(traffic.kind));
    result.push_back({kind + " forward", traffic.forward});
    result.push_back({kind + " backward", traffic.backward});
  }
  return result;
}
std::vector<NamedCoefficient> coefficients(const StackCalibration& stack) { return named(stack, stack_fields); }

}  // namespace plumbline

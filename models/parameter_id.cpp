#include "models/parameter_id.h"

#include <vector>

namespace plumbline {
namespace {

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

ParameterId ParameterId::of_base(std::string_view field) {
  return {.kind = ParameterKind::base, .owner = {}, .value = {}, .field = std::string(field)};
}

ParameterId ParameterId::of_device(std::string_view device, std::string_view field) {
  return {.kind = ParameterKind::device, .owner = std::string(device), .value = {}, .field = std::string(field)};
}

ParameterId ParameterId::of_product(std::string_view device, NumberFormat format, std::string_view field) {
  ParameterId id = of_device(device, field);
  id.kind = ParameterKind::product;
  id.format = format;
  return id;
}

ParameterId ParameterId::of_stack(std::string_view stack, std::string_view field) {
  return {.kind = ParameterKind::stack, .owner = std::string(stack), .value = {}, .field = std::string(field)};
}

ParameterId ParameterId::of_axis_value(std::string_view axis, std::string_view value, std::string_view field) {
  return {.kind = ParameterKind::axis_value,
          .owner = std::string(axis),
          .value = std::string(value),
          .field = std::string(field)};
}

bool operator<(const ParameterId& a, const ParameterId& b) { return to_text(a) < to_text(b); }

std::string place_of(const ParameterId& id) {
  switch (id.kind) {
    case ParameterKind::base: return "base";
    case ParameterKind::device: return "device/" + id.owner;
    case ParameterKind::product: return "device/" + id.owner + "/products/" + std::string(to_text(id.format));
    case ParameterKind::stack: return "stack/" + id.owner;
    case ParameterKind::axis_value: return "trait/" + id.owner + "/" + id.value;
  }
  return "";
}

std::string to_text(const ParameterId& id) { return place_of(id) + "/" + id.field; }

std::optional<ParameterId> parameter_id_from_text(std::string_view text) {
  const std::vector<std::string_view> parts = parts_of(text);
  const std::string_view kind = parts.front();
  if (kind == "base" && parts.size() == 2) return ParameterId::of_base(parts[1]);
  if (kind == "stack" && parts.size() == 3) return ParameterId::of_stack(parts[1], parts[2]);
  if (kind == "trait" && parts.size() == 4) return ParameterId::of_axis_value(parts[1], parts[2], parts[3]);
  if (kind == "device" && parts.size() == 3) return ParameterId::of_device(parts[1], parts[2]);
  if (kind != "device" || parts.size() != 5 || parts[2] != "products") return std::nullopt;
  const auto format = number_format_from_text(parts[3]);
  if (!format) return std::nullopt;
  return ParameterId::of_product(parts[1], *format, parts[4]);
}

}  // namespace plumbline

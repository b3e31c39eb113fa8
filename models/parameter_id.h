#pragma once
/// \file parameter_id.h: which number of a CalibrationSet: a device's, the base's, an axis value's or a stack's.
///
/// Spelled in files and output as a path that says where the number is in the files:
///   device/h100/products/bf16/peak_fraction       device/h100/wave_exponent
///   base/step_overhead_s                          trait/fusion/compiled/memory_bound_factor
///   stack/plumbline/step_factor
/// Checked against: tests/unit/models/parameter_id_test.cpp.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/quantity/number_format.h"

namespace plumbline {

enum class ParameterKind : std::uint8_t { base, device, product, stack, axis_value };

struct ParameterId {
  ParameterKind kind = ParameterKind::base;
  std::string owner;                         ///< name of the device, the stack or the axis; of the base: empty
  std::string value;                         ///< of an axis value: the value of its axis
  NumberFormat format = NumberFormat::bf16;  ///< of a product
  std::string field;                         ///< key of the coefficient (core/cost/calibration_fields.h)

  [[nodiscard]] static ParameterId of_base(std::string_view field);
  [[nodiscard]] static ParameterId of_device(std::string_view device, std::string_view field);
  [[nodiscard]] static ParameterId of_product(std::string_view device, NumberFormat format, std::string_view field);
  [[nodiscard]] static ParameterId of_stack(std::string_view stack, std::string_view field);
  [[nodiscard]] static ParameterId of_axis_value(std::string_view axis, std::string_view value, std::string_view field);

  /// Whether it is a number of a device, its products included.
  [[nodiscard]] bool is_of_device() const { return kind == ParameterKind::device || kind == ParameterKind::product; }
  /// The same field of another stack.
  [[nodiscard]] ParameterId with_stack(std::string_view stack) const { return of_stack(stack, field); }

  bool operator==(const ParameterId&) const = default;
};

/// In the order of their texts.
[[nodiscard]] bool operator<(const ParameterId& a, const ParameterId& b);

[[nodiscard]] std::string to_text(const ParameterId& id);
/// None: the text has not the form of one. Whether a set holds such a number is the set's to say.
[[nodiscard]] std::optional<ParameterId> parameter_id_from_text(std::string_view text);
/// The text without the field: "trait/fusion/compiled".
[[nodiscard]] std::string place_of(const ParameterId& id);

}  // namespace plumbline

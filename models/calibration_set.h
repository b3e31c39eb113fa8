#pragma once
/// \file calibration_set.h: every calibration as one value: devices, axis values and stacks, composed into what
/// estimators read.
///
/// Each number has an id, which says where it is in the files (parameter_id.h); features, which are no numbers, have
/// none. A fit copies the shipped set, asks which numbers decide a run's device and stack (calibration_numbers.h),
/// moves them, and composes again.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/software_stack.h"
#include "core/machine/device.h"
#include "models/parameter_id.h"

namespace plumbline {

/// The stack that choices were made of: "pytorch" of "pytorch+loss=chunked"; what chooses nothing is returned whole.
[[nodiscard]] std::string_view without_choices(std::string_view name_or_path);

class CalibrationSet {
 public:
  /// The catalogue's (models/calibrations), read once.
  [[nodiscard]] static const CalibrationSet& shipped();

  /// The device's calibration, the stack's own where it brings one, with the stack's composed coefficients. `stack`:
  /// name, alias or plumbline.stack/1 file. Throws InputError with the nearest names, or what the file's reader throws.
  [[nodiscard]] Calibration of(const Device& device, std::string_view stack) const;
  /// The calibration made for a device, else that of its architecture's kind, else the generic one; what states no
  /// residuals gets those of an unknown device, what states no shapes of products the generic ones. Never fails.
  [[nodiscard]] DeviceCalibration device(const Device& device) const;
  /// Composed; what states no residuals gets those of an unknown stack, whose axis values were measured wherever any
  /// stack was, and is no surer than the stack that it is like. Throws as `of`.
  [[nodiscard]] StackCalibration stack(std::string_view name_or_path) const;
  /// As its file says; "pytorch+loss=chunked" is a stack with another value of a trait (traits.json),
  /// "nemo-fp8+fp8_copies=none" with another choice of a feature (stack_feature_table.h), one behind the other. Throws
  /// as `of`.
  [[nodiscard]] SoftwareStack software_stack(std::string_view name_or_path) const;
  /// What to say about a text that could be read both ways (name_or_path.h); or empty.
  [[nodiscard]] std::string stack_name_warning(std::string_view name_or_path) const;
  /// In which format the stack's framework, or that of the one it is like, keeps gradients under a recipe when nobody
  /// says; none: the recipe's. Throws as `of`.
  [[nodiscard]] std::optional<NumberFormat> gradient_format(std::string_view name_or_path,
                                                            PrecisionRecipe recipe) const;

  /// The value that the stack, or the nearest that it is like, chose on an axis of traits.json; empty: none. Throws as
  /// `of`.
  [[nodiscard]] std::string axis_value(std::string_view name_or_path, std::string_view axis) const;

  /// The stack of this set with a name or alias, or null.
  [[nodiscard]] const SoftwareStack* find(std::string_view name) const;
  /// The calibration from which `device` composes, as its file says.
  [[nodiscard]] const DeviceCalibration& stated_for(const Device& device) const;
  [[nodiscard]] const StackAxisTable& axis_table() const { return axis_table_; }
  [[nodiscard]] const std::vector<DeviceCalibration>& devices() const { return devices_; }
  [[nodiscard]] const std::vector<SoftwareStack>& stacks() const { return stacks_; }
  /// Sorted; without aliases.
  [[nodiscard]] std::vector<std::string> stack_names() const;

  [[nodiscard]] bool has(const ParameterId& id) const;
  // Both throw InputError for an id that names no number.
  [[nodiscard]] const Coefficient& at(const ParameterId& id) const;
  /// Replaces a number; a value outside its range is moved to the range's end. An id of a stack of this set gives it a
  /// number of its own, also where it had none.
  void set(const ParameterId& id, const Coefficient& coefficient);

  /// Replaces what a device or a stack of this set says about its runs; nothing: it knows none. Throws InputError for
  /// an unknown name.
  void set_device_residuals(std::string_view device, std::optional<Residuals> residuals);
  void set_stack_residuals(std::string_view stack, std::optional<Residuals> residuals);
  /// Replaces what stands for step times of a calibration that states no residuals of its own.
  void set_regime(CalibrationRegime regime, Coefficient time);

  /// Adds a stack, in the place of the one that has its name. Throws InputError when it is like none of this set.
  void add(SoftwareStack stack);
  /// Adds a device calibration, in the place of the one that has its name; it is found before those that came earlier.
  void add(DeviceCalibration device);

 private:
  [[nodiscard]] const Coefficient* locate(const ParameterId& id) const;

  std::vector<DeviceCalibration> devices_;
  StackAxisTable axis_table_;
  std::vector<SoftwareStack> stacks_;
};

struct CalibrationFile {
  std::string name;  ///< "device-h100.json", "traits.json", "stack-megatron-core-0.12.json"
  std::string text;
};
/// As they are in models/calibrations: the same set gives the same bytes, sorted by name.
[[nodiscard]] std::vector<CalibrationFile> calibration_files(const CalibrationSet& set);
/// Writes them into a folder, each by temporary and rename.
void write_files(const CalibrationSet& set, const std::filesystem::path& folder);

}  // namespace plumbline

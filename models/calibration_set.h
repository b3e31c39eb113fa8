#pragma once
/// \file calibration_set.h: every calibration as one value: devices, axis values and stacks, composed into what
/// estimators read.
///
/// Each number has an id, which says where it is in the files (parameter_id.h); features, which are no numbers, have
/// none. A fit copies the shipped set, asks which numbers decide a run's device and stack, moves them, and composes
/// again.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cost/software_stack.h"
#include "core/machine/device.h"
#include "models/name_or_path.h"
#include "models/parameter_id.h"

namespace plumbline {

/// Which number of a set a coefficient of a stack takes.
struct DecidedCoefficient {
  ParameterId id;
  Coefficient coefficient;
};

/// A feature of a stack, and where in the set it is stated: "base", "trait/AXIS/VALUE" or "stack/NAME".
struct DecidedFeature {
  std::string place;
  NamedFeature feature;
};

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
  /// As its file says. Throws as `of`.
  [[nodiscard]] SoftwareStack software_stack(std::string_view name_or_path) const;
  /// What to say about a text that could be read both ways (name_or_path.h); or empty.
  [[nodiscard]] std::string stack_name_remark(std::string_view name_or_path) const;
  /// The value that a stack, or one that it is like, chose on every axis, in the order of the table; empty where own
  /// numbers stand for an axis.
  [[nodiscard]] std::vector<AxisChoice> axis_choices_of(const SoftwareStack& stack) const;

  /// In which format the stack's framework, or that of the one it is like, keeps gradients under a recipe when nobody
  /// says; none: the recipe's. Throws as `of`.
  [[nodiscard]] std::optional<NumberFormat> gradient_format(std::string_view name_or_path,
                                                            PrecisionRecipe recipe) const;

  /// In the order of the fields of StackCalibration.
  [[nodiscard]] std::vector<DecidedCoefficient> decided(const SoftwareStack& stack) const;
  /// In the order of stack_feature_fields().
  [[nodiscard]] std::vector<DecidedFeature> decided_features(const SoftwareStack& stack) const;

  [[nodiscard]] const StackAxisTable& axis_table() const { return axis_table_; }
  [[nodiscard]] const std::vector<DeviceCalibration>& devices() const { return devices_; }
  [[nodiscard]] const std::vector<SoftwareStack>& stacks() const { return stacks_; }
  /// Sorted; without aliases.
  [[nodiscard]] std::vector<std::string> stack_names() const;

  /// All numbers, in the order of their texts.
  [[nodiscard]] std::vector<ParameterId> parameters() const;
  /// Those that decide a device and a stack of this set, in the order of their texts. Throws as `of`.
  [[nodiscard]] std::vector<ParameterId> parameters_of(const Device& device, std::string_view stack) const;
  /// The number that a text names. Throws InputError with the nearest texts.
  [[nodiscard]] ParameterId parameter(std::string_view text) const;
  [[nodiscard]] bool has(const ParameterId& id) const;
  // Each throws InputError for an id that names no number.
  [[nodiscard]] const Coefficient& at(const ParameterId& id) const;
  /// The range that physics leaves a number (core/cost/calibration_fields.h).
  [[nodiscard]] std::pair<double, double> range(const ParameterId& id) const;
  /// Replaces a number; a value outside its range is moved to the range's end. An id of a stack of this set gives it a
  /// number of its own, also where it had none.
  void set(const ParameterId& id, const Coefficient& coefficient);

  /// Replaces what a device or a stack of this set says about its runs. Throws InputError for an unknown name.
  void set_device_residuals(std::string_view device, Residuals residuals);
  void set_stack_residuals(std::string_view stack, Residuals residuals);
  /// Replaces what stands for step times of a calibration that states no residuals of its own.
  void set_regime(CalibrationRegime regime, Coefficient time);

  /// Adds a stack, in the place of the one that has its name. Throws InputError when it is like none of this set.
  void add(SoftwareStack stack);
  /// Adds a device calibration, in the place of the one that has its name; it is found before those that came earlier.
  void add(DeviceCalibration device);

  struct File {
    std::string name;  ///< "device-h100.json", "traits.json", "stack-megatron-core-0.12.json"
    std::string text;
  };
  /// As they are in models/calibrations: the same set gives the same bytes, sorted by name.
  [[nodiscard]] std::vector<File> files() const;

 private:
  [[nodiscard]] const SoftwareStack* find(std::string_view name) const;
  [[nodiscard]] NameOrPath resolved(std::string_view text) const;
  [[nodiscard]] const DeviceCalibration& made_for(const Device& device) const;
  template <class T>
  [[nodiscard]] Residuals unknown(const std::vector<T>& all) const;
  template <class Take>
  void decide(const SoftwareStack& stack, const Take& take, std::size_t depth) const;
  [[nodiscard]] const Coefficient* locate(const ParameterId& id) const;

  std::vector<DeviceCalibration> devices_;
  StackAxisTable axis_table_;
  std::vector<SoftwareStack> stacks_;
};

/// Writes the files of a set into a folder, each by temporary and rename.
void write_files(const CalibrationSet& set, const std::filesystem::path& folder);

}  // namespace plumbline

#pragma once
/// \file software_stack.h: software stacks as values of axes: what a framework of some release does, axis by axis.
///
/// An axis (attention, fusion, gradient reduction, ...) has a few values; each value sets the same coefficients and
/// features of a StackCalibration. The base sets those that no axis decides. A stack names one value of every axis, so
/// that what two stacks share is one number, and a stack without a measured run is predicted from what it shares. It
/// keeps numbers of its own only where its runs contradict its axis values. Where both speak, what is nearer to the
/// stack decides: own number, own axis value, the stack that it is like (by the same order), base.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/calibration.h"
#include "core/cost/stack_feature_table.h"
#include "core/training/precision.h"

namespace plumbline {

struct AxisValue {
  std::string name;
  std::string description;
  std::vector<NamedCoefficient> coefficients;
  std::vector<NamedFeature> features;
};

struct StackAxis {
  std::string name;
  std::string description;
  std::vector<AxisValue> values;

  /// The value with a name, or null.
  [[nodiscard]] const AxisValue* find(std::string_view value) const;
  [[nodiscard]] std::vector<std::string> value_names() const;
};

/// Base and axes together set every coefficient and feature of a StackCalibration exactly once; readers see to it.
struct StackAxisTable {
  std::string description;
  std::vector<NamedCoefficient> base;
  std::vector<NamedFeature> base_features;
  std::vector<StackAxis> axes;
  std::array<RegimeSigma, calibration_regimes.size()> regimes;  ///< by CalibrationRegime

  /// The axis with a name, or null.
  [[nodiscard]] const StackAxis* find(std::string_view axis) const;
  [[nodiscard]] std::vector<std::string> axis_names() const;
};

/// Both ends included, as the framework spells its releases.
struct Releases {
  std::string oldest;
  std::string newest;
};

/// In which format a framework accumulates and reduces gradients, unless it is told otherwise, under these recipes.
struct GradientDefault {
  NumberFormat format = NumberFormat::fp32;
  std::vector<PrecisionRecipe> precisions;
  std::string source;
};

struct AxisChoice {
  std::string axis;
  std::string value;
};

/// One file stack-*.json: nothing in it is composed yet (models/calibration_set.h does that).
struct SoftwareStack {
  std::string name;
  std::vector<std::string> aliases;
  std::string framework;
  std::optional<Releases> releases;
  std::string description;
  std::string like;  ///< the stack that decides what this one leaves open; empty: none
  std::vector<AxisChoice> axis_choices;
  std::vector<NamedCoefficient> coefficients;  ///< own numbers, against those of its axis values
  std::optional<Residuals> residuals;          ///< absent: no run of it was ever measured
  /// Of the devices that a file of one's own was calibrated on; it counts before the catalogue's.
  std::optional<DeviceCalibration> device = std::nullopt;
  std::optional<GradientDefault> gradients = std::nullopt;  ///< absent: that of the stack it is like, else the recipe's
  std::vector<NamedFeature> features = {};                  ///< own choices, against those of its axes
};

}  // namespace plumbline

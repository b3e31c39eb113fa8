#include "models/calibration_set.h"

#include <algorithm>
#include <array>

#include "core/base/errors.h"
#include "core/base/found_by_name.h"
#include "core/base/joined.h"
#include "core/cost/calibration_fields.h"
#include "core/cost/stack_feature_table.h"
#include "core/io/calibration_json.h"
#include "core/io/json_file.h"
#include "core/io/output_file.h"
#include "core/io/stack_json.h"
#include "models/embedded.h"
#include "models/name_or_path.h"
#include "models/stack_composition.h"

namespace plumbline {
namespace {

constexpr std::string_view stack_prefix = "stack-";
constexpr std::string_view device_prefix = "device-";
constexpr std::string_view axes_file = "traits";
constexpr std::string_view generic_device = "*";

template <class Read>
auto read_embedded(const embedded::EmbeddedFile& file, Read read) {
  const std::string where = "calibrations/" + std::string(file.name) + ".json";
  const Json json = parse_json(file.text, where);
  return read(JsonPlace(json, where));
}

std::vector<std::string> embedded_stacks() {
  std::vector<std::string> names;
  for (const embedded::EmbeddedFile& file : embedded::calibrations())
    if (file.name.starts_with(stack_prefix)) names.emplace_back(file.name.substr(stack_prefix.size()));
  return names;
}

bool is_made_for(const DeviceCalibration& calibration, std::string_view device) {
  return std::find(calibration.devices.begin(), calibration.devices.end(), device) != calibration.devices.end();
}

template <class T>
void replace_or_add(std::vector<T>& all, T one, bool in_front) {
  if (T* same = named(all, one.name))
    *same = std::move(one);
  else
    all.insert(in_front ? all.begin() : all.end(), std::move(one));
}

/// The generic calibration's, where a device states none.
DeviceCalibration with_shapes(DeviceCalibration calibration, const std::vector<DeviceCalibration>& devices) {
  if (calibration.shapes) return calibration;
  const auto generic = std::find_if(devices.begin(), devices.end(), [](const DeviceCalibration& each) {
    return is_made_for(each, generic_device) && each.shapes;
  });
  if (generic == devices.end()) throw InternalError("the catalogue's generic calibration states shapes of products");
  calibration.shapes = generic->shapes;
  return calibration;
}

NameOrPath resolved(const CalibrationSet& set, std::string_view text) {
  const SoftwareStack* stack = set.find(text);
  return name_or_path(text, {stack == nullptr ? "" : stack->name, true}, "");
}

/// Of "pytorch+loss=chunked" where the choice begins; npos: there is none.
std::size_t choice_begin(std::string_view text) {
  const std::size_t plus = text.rfind('+');
  const bool has_choice =
      plus != std::string_view::npos && text.find('=', plus) != std::string_view::npos && !text.ends_with(".json");
  return has_choice ? plus : std::string_view::npos;
}

InputError unknown_choice(std::string_view word, std::string_view kind, std::string_view of,
                          const std::vector<std::string>& known) {
  return InputError({"stack",
                     "\"" + std::string(word.substr(0, 60)) + "\" is no " + std::string(kind) + " " + std::string(of),
                     "one of " + joined(known), nearest_text(word, known)});
}

/// Its own numbers of the axis give way.
void choose_value(SoftwareStack& stack, const StackAxis& axis, const std::string& word) {
  const AxisValue* value = axis.find(word);
  if (value == nullptr) throw unknown_choice(word, "value of the trait", axis.name, axis.value_names());
  const auto is_of_value = [&](const auto& own, const auto& all) {
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.name == own.name; });
  };
  std::erase_if(stack.axis_choices, [&](const AxisChoice& own) { return own.axis == axis.name; });
  std::erase_if(stack.coefficients, [&](const auto& own) { return is_of_value(own, value->coefficients); });
  std::erase_if(stack.features, [&](const auto& own) { return is_of_value(own, value->features); });
  stack.axis_choices.push_back({axis.name, word});
}

void choose_feature(SoftwareStack& stack, const FeatureField& field, const std::string& word) {
  const FeatureChoice* choice = field.find(word);
  if (choice == nullptr) throw unknown_choice(word, "choice of the feature", field.key, field.words());
  std::erase_if(stack.features, [&](const NamedFeature& own) { return own.name == field.key; });
  stack.features.push_back({std::string(field.key), word, "the name of the stack says so"});
}

InputError unknown_trait(const std::string& name, const StackAxisTable& table) {
  std::vector<std::string> known = table.axis_names();
  for (const FeatureField& field : stack_feature_fields()) known.emplace_back(field.key);
  return InputError({"stack", "\"" + name.substr(0, 60) + "\" is no trait or feature of stacks",
                     "a trait of plan stacks, or a feature of docs/stacks.md", nearest_text(name, known)});
}

/// The stack with another value on one axis, or another choice of a feature. What it is then was not measured, unless
/// collectives alone are moved.
SoftwareStack with_choice(SoftwareStack stack, const StackAxisTable& table, std::string_view text, std::size_t plus) {
  const std::string_view choice = text.substr(plus + 1);
  const std::string name(choice.substr(0, choice.find('=')));
  const std::string word(choice.substr(name.size() + 1));
  const FeatureField* const field = find_feature(name);
  if (const StackAxis* axis = table.find(name))
    choose_value(stack, *axis, word);
  else if (field != nullptr)
    choose_feature(stack, *field, word);
  else
    throw unknown_trait(name, table);
  stack.name = std::string(text);
  if (field == nullptr || !field->moves_collectives) stack.residuals.reset();
  return stack;
}

/// What states no residuals gets these; its shared numbers were measured wherever those of `all` were.
template <class T>
Residuals unknown_residuals(const StackAxisTable& table, const std::vector<T>& all) {
  const RegimeSigma& sigma = table.regimes[static_cast<std::size_t>(CalibrationRegime::unknown)];
  Residuals residuals;
  residuals.time.sigma = sigma.time;
  residuals.memory.sigma = sigma.memory;
  for (const T& one : all)
    if (one.residuals) residuals.measured.include(one.residuals->measured);
  return residuals;
}

}  // namespace

std::string_view without_choices(std::string_view name_or_path) {
  while (choice_begin(name_or_path) != std::string_view::npos)
    name_or_path = name_or_path.substr(0, choice_begin(name_or_path));
  return name_or_path;
}

const CalibrationSet& CalibrationSet::shipped() {
  static const CalibrationSet set = [] {
    CalibrationSet made;
    for (const embedded::EmbeddedFile& file : embedded::calibrations()) {
      if (file.name.starts_with(device_prefix))
        made.devices_.push_back(read_embedded(file, device_calibration_from_json));
      if (file.name == axes_file) made.axis_table_ = read_embedded(file, stack_axes_from_json);
    }
    for (const embedded::EmbeddedFile& file : embedded::calibrations())
      if (file.name.starts_with(stack_prefix))
        made.stacks_.push_back(read_embedded(file, [&](const JsonPlace& place) {
          return software_stack_from_json(place, made.axis_table_, embedded_stacks());
        }));
    return made;
  }();
  return set;
}

const SoftwareStack* CalibrationSet::find(std::string_view name) const {
  if (const SoftwareStack* stack = named(stacks_, name)) return stack;
  for (const SoftwareStack& stack : stacks_)
    if (std::find(stack.aliases.begin(), stack.aliases.end(), name) != stack.aliases.end()) return &stack;
  return nullptr;
}

SoftwareStack CalibrationSet::software_stack(std::string_view name_or_path) const {
  if (const std::size_t plus = choice_begin(name_or_path); plus != std::string_view::npos)
    return with_choice(software_stack(name_or_path.substr(0, plus)), axis_table_, name_or_path, plus);
  if (resolved(*this, name_or_path).is_path) {
    const Json json = read_json_file(name_or_path);
    return software_stack_from_json(JsonPlace(json, std::string(name_or_path)), axis_table_, stack_names());
  }
  if (const SoftwareStack* stack = find(name_or_path)) return *stack;
  std::vector<std::string> known = stack_names();
  for (const SoftwareStack& stack : stacks_) known.insert(known.end(), stack.aliases.begin(), stack.aliases.end());
  throw InputError({"stack", "\"" + std::string(name_or_path.substr(0, 60)) + "\" is unknown",
                    "a name of plan stacks or a file", nearest_text(name_or_path, known)});
}

std::string CalibrationSet::stack_name_warning(std::string_view name_or_path) const {
  return resolved(*this, name_or_path.substr(0, choice_begin(name_or_path))).warning;
}

std::optional<NumberFormat> CalibrationSet::gradient_format(std::string_view name_or_path,
                                                            PrecisionRecipe recipe) const {
  const SoftwareStack stack = software_stack(name_or_path);
  const GradientDefault* nearest = nullptr;
  for (const SoftwareStack* each : lineage(*this, stack))
    if (each->gradients) nearest = &*each->gradients;
  if (nearest == nullptr) return std::nullopt;
  const auto& precisions = nearest->precisions;
  const PrecisionRecipe stated = is_fp8(recipe) ? PrecisionRecipe::fp8 : recipe;  // one word for every fp8 recipe
  if (std::find(precisions.begin(), precisions.end(), stated) == precisions.end()) return std::nullopt;
  return nearest->format;
}

std::string CalibrationSet::axis_value(std::string_view name_or_path, std::string_view axis) const {
  for (const AxisChoice& choice : axis_choices_of(*this, software_stack(name_or_path)))
    if (choice.axis == axis) return choice.value;
  return "";
}

StackCalibration CalibrationSet::stack(std::string_view name_or_path) const {
  const SoftwareStack described = software_stack(name_or_path);
  const std::vector<DecidedCoefficient> numbers = decided_coefficients(*this, described);
  StackCalibration calibration;
  calibration.name = described.name;
  calibration.description = described.description;
  calibration.residuals = described.residuals ? *described.residuals : unknown_residuals(axis_table_, stacks_);
  const SoftwareStack* parent = described.residuals || described.like.empty() ? nullptr : find(described.like);
  Coefficient& sigma = calibration.residuals.time.sigma;
  if (parent != nullptr && parent->residuals && parent->residuals->time.sigma > sigma)
    sigma = parent->residuals->time.sigma;
  for (std::size_t i = 0; i < stack_fields.size(); ++i) stack_fields[i].of(calibration) = numbers[i].coefficient;
  for (const DecidedFeature& one : decided_features(*this, described)) apply(one.feature, calibration.features);
  return calibration;
}

const DeviceCalibration& CalibrationSet::stated_for(const Device& device) const {
  const std::string kind = device.architecture == DeviceArchitecture::cpu ? "cpu" : std::string(generic_device);
  for (const std::string& name : {device.name, kind})
    for (const DeviceCalibration& calibration : devices_)
      if (is_made_for(calibration, name)) return calibration;
  throw InternalError("the catalogue holds a generic calibration");
}

DeviceCalibration CalibrationSet::device(const Device& device) const {
  DeviceCalibration calibration = with_shapes(stated_for(device), devices_);
  if (!calibration.residuals) calibration.residuals = unknown_residuals(axis_table_, devices_);
  return calibration;
}

Calibration CalibrationSet::of(const Device& device, std::string_view stack) const {
  const SoftwareStack described = software_stack(stack);
  const bool has_own = described.device && is_made_for(*described.device, device.name);
  return {has_own ? with_shapes(*described.device, devices_) : this->device(device), this->stack(stack)};
}

std::vector<std::string> CalibrationSet::stack_names() const {
  std::vector<std::string> names;
  for (const SoftwareStack& stack : stacks_) names.push_back(stack.name);
  std::sort(names.begin(), names.end());
  return names;
}

void CalibrationSet::set_device_residuals(std::string_view device, std::optional<Residuals> residuals) {
  DeviceCalibration* found = named(devices_, device);
  if (found == nullptr)
    throw InputError({"device calibration", "\"" + std::string(device) + "\" is unknown", "one of this set", ""});
  found->residuals = std::move(residuals);
}

void CalibrationSet::set_stack_residuals(std::string_view stack, std::optional<Residuals> residuals) {
  SoftwareStack* found = named(stacks_, stack);
  if (found == nullptr)
    throw InputError(
        {"stack", "\"" + std::string(stack) + "\" is unknown", "one of this set", nearest_text(stack, stack_names())});
  found->residuals = std::move(residuals);
}

void CalibrationSet::set_regime(CalibrationRegime regime, Coefficient time) {
  axis_table_.regimes[static_cast<std::size_t>(regime)].time = std::move(time);
}

void CalibrationSet::add(SoftwareStack stack) {
  std::string like = stack.like;
  for (std::size_t steps = 0; !like.empty(); ++steps) {
    const SoftwareStack* parent = find(like);
    if (parent == nullptr || parent->name == stack.name || steps > stacks_.size())
      throw InputError({"stack " + stack.name, "is like \"" + like + "\"", "another stack of the same set",
                        nearest_text(like, stack_names())});
    like = parent->like;
  }
  replace_or_add(stacks_, std::move(stack), false);
}

void CalibrationSet::add(DeviceCalibration device) { replace_or_add(devices_, std::move(device), true); }

std::vector<CalibrationFile> calibration_files(const CalibrationSet& set) {
  std::vector<CalibrationFile> files{
      {std::string(axes_file) + ".json", to_json_text(stack_axes_json(set.axis_table()))}};
  for (const DeviceCalibration& device : set.devices())
    files.push_back({std::string(device_prefix) + device.name + ".json", to_json_text(calibration_json(device))});
  for (const SoftwareStack& stack : set.stacks())
    files.push_back({std::string(stack_prefix) + stack.name + ".json", to_json_text(software_stack_json(stack))});
  std::sort(files.begin(), files.end(),
            [](const CalibrationFile& a, const CalibrationFile& b) { return a.name < b.name; });
  return files;
}

void write_files(const CalibrationSet& set, const std::filesystem::path& folder) {
  for (const CalibrationFile& file : calibration_files(set)) write_output_file(folder / file.name, file.text);
}

}  // namespace plumbline

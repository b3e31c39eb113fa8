#include "runtime/training/optimizer_numbers.h"

#include <array>
#include <charconv>

namespace plumbline {
namespace {

constexpr double below_one = 0.9999999;  // 1 - 2^-24 and nearer is 1 in fp32
constexpr double least_epsilon = 1e-30;  // at 0, a weight whose gradient was never more than 0 becomes 0 / 0
constexpr std::array known_numbers{
    OptimizerNumber{"beta1", &OptimizerSettings::beta1, 0, below_one, "weight of the old first moment (0.9)",
                    Hyperparameter::beta1},
    OptimizerNumber{"beta2", &OptimizerSettings::beta2, 0, below_one, "weight of the old second moment (0.95)",
                    Hyperparameter::beta2},
    OptimizerNumber{"epsilon", &OptimizerSettings::epsilon, least_epsilon, 1,
                    "added to the root of squared gradients (1e-8)", Hyperparameter::epsilon},
    OptimizerNumber{"momentum", &OptimizerSettings::momentum, 0, below_one, "weight of the old sum of gradients (0.9)",
                    Hyperparameter::momentum},
    OptimizerNumber{"weight-decay", &OptimizerSettings::weight_decay, 0, 1000,
                    "of weight matrices, per unit of learning rate (0.1)", Hyperparameter::weight_decay}};

/// The shortest decimal number that is this float: 0.95, not 0.949999988.
double as_written(float value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  double written = value;
  std::from_chars(text.data(), end, written);
  return written;
}

}  // namespace

bool OptimizerNumber::is_read_by(Optimizer optimizer) const { return facts(optimizer).reads.has(kind); }

std::span<const OptimizerNumber> optimizer_numbers() { return known_numbers; }

OptimizerRecord optimizer_record(Optimizer optimizer, const OptimizerSettings& settings) {
  OptimizerRecord record{std::string(to_text(optimizer)), {}};
  for (const OptimizerNumber& number : known_numbers)
    if (number.is_read_by(optimizer)) record.numbers.emplace_back(number.name, as_written(settings.*number.member));
  record.numbers.emplace_back("clip", settings.clip_norm);
  if (settings.clip_value > 0) record.numbers.emplace_back("clip-value", settings.clip_value);
  return record;
}

}  // namespace plumbline

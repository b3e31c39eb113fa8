#include "runtime/execution/parameter_init.h"

#include <cmath>
#include <numbers>

#include "kernels/philox.h"

namespace plumbline {
namespace {

constexpr double usual_deviation = 0.02;

/// In (0, 1].
double unit(std::uint32_t word) { return (static_cast<double>(word) + 1.0) / 4294967296.0; }

}  // namespace

/// FNV-1a, 64 bits. Source: draft-eastlake-fnv.
std::uint64_t hash_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

std::string_view to_text(Initialisation initialisation) {
  switch (initialisation) {
    case Initialisation::normal: return "normal";
    case Initialisation::zero: return "zero";
    case Initialisation::xavier: return "xavier";
    case Initialisation::he: return "he";
  }
  return "";
}

std::optional<Initialisation> initialisation_from_text(std::string_view text) {
  for (const Initialisation each : all_initialisations)
    if (to_text(each) == text) return each;
  return std::nullopt;
}

double initial_deviation(Initialisation initialisation, const TensorBox& tensor) {
  const auto outputs = static_cast<double>(tensor.whole[1]);
  const auto inputs = static_cast<double>(tensor.whole[2]);
  switch (initialisation) {
    case Initialisation::normal: return usual_deviation;
    case Initialisation::zero: return 0;
    case Initialisation::xavier: return std::sqrt(2 / (inputs + outputs));
    case Initialisation::he: return std::sqrt(2 / inputs);
  }
  return usual_deviation;
}

float initial_value(InitialValues starts, double deviation, std::uint64_t seed, std::string_view name,
                    std::int64_t index) {
  if (starts == InitialValues::ones) return 1;
  if (starts == InitialValues::zeros || deviation == 0) return 0;
  const std::uint64_t key = hash_of(name) ^ seed;
  const auto counter = static_cast<std::uint64_t>(index);
  const PhiloxCounter words = philox({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32),
                                      static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
                                     {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
  const double radius = std::sqrt(-2.0 * std::log(unit(words[0])));
  return static_cast<float>(deviation * radius * std::cos(2 * std::numbers::pi * unit(words[1])));
}

}  // namespace plumbline

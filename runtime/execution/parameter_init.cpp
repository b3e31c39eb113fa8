#include "runtime/execution/parameter_init.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <thread>
#include <vector>

#include "core/base/found_by_name.h"
#include "kernels/philox.h"

namespace plumbline {
namespace {

constexpr double usual_deviation = 0.02;

/// What a thread is started for, at least: some 2 ms of draws.
constexpr std::int64_t elements_of_thread = 1 << 16;

/// In (0, 1].
double unit(std::uint32_t word) { return (static_cast<double>(word) + 1.0) / 4294967296.0; }

float normal_value(double deviation, std::uint64_t seed, std::uint64_t key, std::int64_t index) {
  const auto counter = static_cast<std::uint64_t>(index);
  const PhiloxCounter words = philox({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32),
                                      static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
                                     {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
  const double radius = std::sqrt(-2.0 * std::log(unit(words[0])));
  return static_cast<float>(deviation * radius * std::cos(2 * std::numbers::pi * unit(words[1])));
}

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
  return value_named(all_initialisations, text);
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
  return normal_value(deviation, seed, hash_of(name) ^ seed, index);
}

void draw_initial_values(Initialisation initialisation, std::uint64_t seed, const LocalParameter& parameter,
                         std::int64_t first, std::span<float> values) {
  const double deviation = initial_deviation(initialisation, parameter.box);
  if (parameter.starts != InitialValues::normal || deviation == 0)
    return std::fill(values.begin(), values.end(), parameter.starts == InitialValues::ones ? 1.0F : 0.0F);
  const std::uint64_t key = hash_of(parameter.name) ^ seed;
  const auto draw = [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t width = parameter.box.extent[2];
    for (std::int64_t e = begin; e < end;) {
      const std::int64_t end_of_row = std::min(end, e + width - (first + e) % width);
      for (std::int64_t index = parameter.box.whole_index(first + e); e < end_of_row; ++e, ++index)
        values[static_cast<std::size_t>(e)] = normal_value(deviation, seed, key, index);
    }
  };
  const std::int64_t count = std::ssize(values);
  const std::int64_t threads =
      std::clamp<std::int64_t>(count / elements_of_thread, 1, std::max(1U, std::thread::hardware_concurrency()));
  const auto begin_of = [&](std::int64_t thread) { return count * thread / threads; };
  std::vector<std::jthread> others;
  for (std::int64_t t = 1; t < threads; ++t)
    others.emplace_back([&draw, begin = begin_of(t), end = begin_of(t + 1)] { draw(begin, end); });
  draw(0, begin_of(1));
}

}  // namespace plumbline

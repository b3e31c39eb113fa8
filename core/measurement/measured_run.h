#pragma once
/// \file measured_run.h: one published or own measurement of a training run: what was asked, and, apart from it, what
/// came out.
///
/// The two halves are different types, so that what predicts can be given the question alone and cannot see the
/// answer. A key that is absent is unknown, never a default.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline {

/// Named words and whole numbers, as published. The names are those of run_fields.h.
struct RunFields {
  std::map<std::string, std::string, std::less<>> words;
  std::map<std::string, std::int64_t, std::less<>> numbers;

  [[nodiscard]] std::optional<std::int64_t> number(std::string_view key) const;
  /// Empty when unknown.
  [[nodiscard]] std::string word(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const;
  bool operator==(const RunFields&) const = default;
};

/// The configuration of a run: nothing that was measured.
struct RunQuestion {
  std::string id;
  RunFields fields;
  std::optional<RunFields> shape;                 ///< of a network that has no name elsewhere
  std::set<std::string, std::less<>> unverified;  ///< keys that whoever collected the run inferred
};

/// Which bytes a source counts.
enum class MemoryBasis : std::uint8_t { allocated, reserved, device_total };
/// Whose.
enum class MemoryRank : std::uint8_t { heaviest, first, last };
[[nodiscard]] std::string_view to_text(MemoryBasis basis);
[[nodiscard]] std::optional<MemoryBasis> memory_basis_from_text(std::string_view text);
[[nodiscard]] std::string_view to_text(MemoryRank rank);
[[nodiscard]] std::optional<MemoryRank> memory_rank_from_text(std::string_view text);

/// What came out. Memory as printed: which bytes and which unit is for planner/validate/memory_basis.h to say.
struct RunMeasurement {
  std::optional<double> step_time_s;
  std::optional<double> tokens_per_s_per_gpu;
  std::optional<double> tokens_per_s;    ///< of all devices together, as `samples_per_s`
  std::optional<double> samples_per_s;   ///< sequences; images of an image network
  std::optional<double> tflops_per_gpu;  ///< 10^12 of the model's FLOPs a second, as planner/pricing/predict.h counts
  std::optional<double> hfu_tflops_per_gpu;  ///< the same of the executed FLOPs: what is recomputed counts again
  std::optional<double> memory_max_allocated_bytes;
  std::optional<double> memory_gib;
  std::optional<double> memory_reserved_gib;
  std::optional<double> memory_active_gib;
  std::optional<double> memory_gb_as_published;
  std::optional<bool> out_of_memory;

  [[nodiscard]] bool has_time() const {
    return step_time_s || tokens_per_s_per_gpu || tokens_per_s || samples_per_s || tflops_per_gpu || hfu_tflops_per_gpu;
  }
  [[nodiscard]] bool has_memory() const {
    return memory_max_allocated_bytes || memory_gib || memory_reserved_gib || memory_active_gib ||
           memory_gb_as_published;
  }
};

struct MeasuredRun {
  RunQuestion question;
  RunMeasurement measured;
  std::string source;  ///< where it was published
  std::string notes;
  std::optional<std::set<std::string, std::less<>>> uses;  ///< what the collector found it fit for; absent: unknown
  bool suspect = false;                                    ///< its source contradicts itself
};

/// The runs of one file.
}  // namespace plumbline

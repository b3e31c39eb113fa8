#pragma once
/// \file training_golden.h: a tiny network of Hugging Face as PyTorch trained it, written by
/// tests/data/make_training_goldens.py, which says what the file holds; and the same training by the runtime.
///
/// The reference is PyTorch in fp64. Rounding makes any run in another format miss it, by how much depends on the
/// network, so the measure is PyTorch's own miss in that format (or, where that happens to be smaller, what storing the
/// result in fp32 takes): two sums of the same numbers in different orders miss by the same order of magnitude. After
/// ten steps of AdamW a few gradients near zero decide most of a miss, and one run of PyTorch is one draw of it: what
/// the next numbers of fp32 as first weights change counts too.

#include <cstring>
#include <filesystem>

#include "core/io/json_file.h"
#include "kernels/elementwise.h"
#include "models/import/hugging_face.h"
#include "runtime/checkpoint/safetensors.h"
#include "runtime/execution/local_logits.h"
#include "tests/execution_checks.h"
#include "tests/source_folder.h"

namespace plumbline {

class TrainingGolden {
 public:
  explicit TrainingGolden(const std::string& name) : folder_(test_data_folder() + "/training_goldens"), name_(name) {
    const std::filesystem::path path = folder_ / (name + ".safetensors");
    const SafetensorsHeader header = read_safetensors_header(path);
    for (const StoredTensor& tensor : header.tensors) {
      std::vector<std::byte> data(static_cast<std::size_t>(tensor.bytes));
      read_tensor(path, header, tensor, data);
      values_[tensor.name] = numbers(tensor, data);
      if (tensor.name.starts_with("salt/")) salts_[tensor.name.substr(5)] = values_[tensor.name].front();
    }
  }

  [[nodiscard]] Network network() const {
    const Json json = read_json_file((folder_ / (name_ + ".json")).string());
    return import_hugging_face(JsonPlace(json, name_), name_);
  }
  [[nodiscard]] const std::vector<double>& operator[](const std::string& key) const { return values_.at(key); }
  /// What an element of a whole parameter starts with: as kept, or as drawn() of the script says.
  [[nodiscard]] float start(const std::string& parameter, std::int64_t index) const {
    const auto drawn = salts_.find(parameter);
    if (drawn == salts_.end())
      return static_cast<float>(values_.at("start/" + parameter).at(static_cast<std::size_t>(index)));
    std::uint64_t z =
        (static_cast<std::uint64_t>(drawn->second) << 32) + static_cast<std::uint64_t>(index) + 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    z = z ^ (z >> 31);
    const bool is_norm = parameter.find("norm") != std::string::npos;
    return static_cast<float>(0.16 * static_cast<double>(z >> 40) / 0x1p24 - 0.08 + (is_norm ? 1.0 : 0.0));
  }
  /// How far PyTorch in this recipe is from its own fp64, as a norm.
  [[nodiscard]] double error(PrecisionRecipe recipe, const std::string& key) const {
    return values_.at(std::string(to_text(recipe)) + "/" + key).front();
  }
  /// Names below a prefix, without it.
  [[nodiscard]] std::vector<std::string> below(const std::string& prefix) const {
    std::vector<std::string> names;
    for (const auto& [name, values] : values_)
      if (name.starts_with(prefix)) names.push_back(name.substr(prefix.size()));
    return names;
  }

 private:
  template <class T>
  static std::vector<double> numbers_as(std::span<const std::byte> data) {
    std::vector<T> typed(data.size() / sizeof(T));
    std::memcpy(typed.data(), data.data(), data.size());
    return {typed.begin(), typed.end()};
  }
  static std::vector<double> numbers(const StoredTensor& tensor, std::span<const std::byte> data) {
    if (tensor.format == StoredFormat::i32) return numbers_as<std::int32_t>(data);
    if (tensor.format == StoredFormat::fp64) return numbers_as<double>(data);
    check(tensor.format == StoredFormat::fp32, "a golden holds fp32, fp64 or i32");
    return numbers_as<float>(data);
  }

  std::filesystem::path folder_;
  std::string name_;
  std::map<std::string, std::vector<double>> values_;
  std::map<std::string, double> salts_;  ///< by parameter
};

/// Of two misses of one order of magnitude.
inline constexpr double same_order = 4;

/// Half the distance to the next number of fp32, relative (IEEE 754: 24 bits of significand).
inline constexpr double unit_roundoff = 0x1p-24;

inline Training golden_recipe(PrecisionRecipe precision) {
  Training training;
  training.sequence_length = 16;
  training.global_batch = 4;
  training.precision = precision;
  training.optimizer = Optimizer::adamw;
  return training;
}

inline Strategy spread(std::int32_t data, std::int32_t tensor, std::int32_t pipeline, std::int32_t zero) {
  Strategy s;
  s.data_parallel = data;
  s.tensor_parallel = tensor;
  s.pipeline_stages = pipeline;
  s.schedule = pipeline > 1 ? Schedule::one_f_one_b : Schedule::none;
  s.zero_stage = zero;
  s.shard_group = zero > 0 ? data : 1;
  s.micro_batches = 2;
  s.micro_batch = 2 / data;
  return s;
}

/// What a run makes, under the golden's names.
using Results = std::map<std::string, std::vector<double>>;

/// Where another run starts: from the golden's weights, or, drawn anew for each `draw` above 0, from the next number
/// above or below each of them.
inline float nearby_start(const TrainingGolden& golden, const std::string& parameter, std::int64_t index, int draw) {
  const float start = golden.start(parameter, index);
  if (draw == 0) return start;
  std::uint64_t bits = (static_cast<std::uint64_t>(index) + 1) * 0x9e3779b97f4a7c15U ^
                       std::hash<std::string>()(parameter) * static_cast<std::uint64_t>(2 * draw + 1);
  bits ^= bits >> 29;
  return std::nextafter(start, (bits & 1U) != 0 ? 2.0F : -2.0F);
}

/// Puts whole logits together from those of ranks.
class LogitsProbe : public ExecutionProbe {
 public:
  LogitsProbe(std::vector<double>& whole, std::int64_t vocabulary) : whole_(whole), vocabulary_(vocabulary) {}

  void on_logits(const LocalLogits& made) override {
    const std::scoped_lock lock(mutex_);
    const ConstTensorView& logits = made.values;
    std::vector<float> values(static_cast<std::size_t>(logits.size()));
    reference::cast(
        {logits, dense_view(static_cast<void*>(values.data()), NumberFormat::fp32, logits.rows, logits.columns)});
    const TokenRows all{logits.rows, 0, made.first_sequence};
    for_row_places(made.share, all, [&](RowPlace place, std::int64_t first, std::int64_t rows) {
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < logits.columns; ++column) {
          const std::int64_t at = place.whole_row(row) * vocabulary_ + made.first_class + column;
          whole_.at(static_cast<std::size_t>(at)) =
              values[static_cast<std::size_t>((first + row) * logits.columns + column)];
        }
    });
  }

 private:
  std::vector<double>& whole_;
  std::int64_t vocabulary_;
  std::mutex mutex_;
};

inline Results train(const TrainingGolden& golden, const OperatorConstants& constants, const Strategy& strategy,
                     PrecisionRecipe precision, int draw = 0) {
  const LoweredPlan plan(golden.network().graph, strategy, golden_recipe(precision));
  TrainingJob job = plan.job();
  job.constants = constants;
  job.learning_rate.peak = golden["rate"].front();
  RunOptions run = options(static_cast<std::int64_t>(golden["losses"].size()));
  const std::vector<double>& tokens = golden["tokens"];
  run.data = {std::vector<std::int32_t>(tokens.begin(), tokens.end()), 64};
  run.first_weights = [&](const LocalParameter& p, std::int64_t index) {
    return nearby_start(golden, p.name, index, draw);
  };
  Results results;
  std::vector<double>& logits = results["logits"];
  logits.resize(golden["logits"].size(), std::nan(""));
  LogitsProbe probe(logits, run.data.vocabulary);
  run.tests.probe = &probe;
  const Executed executed = execute(job, run);
  if (plan.graph.name() == "qwen3_moe")
    require_routed_bytes(plan, executed.record);
  else
    require_bytes(plan, executed.record);
  for (const StepRecord& step : executed.record.steps) {
    results["losses"].push_back(step.loss);
    results["norms"].push_back(step.gradient_norm);
  }
  const auto add = [&](const std::string& prefix, const WholeTensors& tensors) {
    for (const auto& [name, values] : tensors) results[prefix + name] = {values.begin(), values.end()};
  };
  add("gradient/", executed.gradients);
  add("end/", executed.weights);
  return results;
}

inline double miss(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

/// By name, the most that nearby first weights change. In fp32, of what ten steps leave; the rest is no draw of theirs.
using Responses = std::map<std::string, double>;

inline Responses responses(const TrainingGolden& golden) {
  constexpr int draws = 4;
  const auto run = [&](int draw) {
    return train(golden, golden.network().constants, spread(1, 1, 1, 0), PrecisionRecipe::fp32, draw);
  };
  const Results here = run(0);
  Responses most;
  for (int draw = 1; draw <= draws; ++draw)
    for (const auto& [key, values] : run(draw))
      if (key.starts_with("end/") || key == "losses" || key == "norms")
        most[key] = std::max(most[key], miss(values, here.at(key)));
  return most;
}

/// Our miss over PyTorch's, or over what rounding the first weights does.
inline double miss_ratio(const TrainingGolden& golden, const Results& results, PrecisionRecipe precision,
                         const std::string& key, const Responses& responses = {}) {
  const std::vector<double>& exact = golden[key];
  REQUIRE(results.count(key) == 1);
  REQUIRE(results.at(key).size() >= exact.size());  // of some only the first rows are kept
  const double roundoff = unit_roundoff * miss(std::vector<double>(exact.size()), exact);
  const auto nearby = responses.find(key);
  const double response = nearby == responses.end() ? 0 : nearby->second;
  return miss(results.at(key), exact) / std::max({golden.error(precision, key), roundoff, response});
}

inline void require_as_pytorch(const TrainingGolden& golden, const Results& results, PrecisionRecipe precision,
                               const Responses& responses = {}) {
  const std::vector<std::string> keys = golden.below(std::string(to_text(precision)) + "/");
  REQUIRE(!keys.empty());
  for (const std::string& key : keys) {
    INFO(key);
    CHECK(miss_ratio(golden, results, precision, key, responses) <= same_order);
  }
}

}  // namespace plumbline

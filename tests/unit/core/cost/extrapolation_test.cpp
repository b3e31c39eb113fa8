// What lies outside of the measured runs, in words.
#include "core/cost/extrapolation.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

std::vector<std::string> words_of(const Calibration& calibration, const RunFeatures& run) {
  std::vector<std::string> words;
  for (const Beyond& one : uncertainty(calibration, run).beyond) words.push_back(one.what);
  return words;
}

TEST_CASE("a kind of network that was not measured is named beside those that were") {
  Calibration calibration;
  calibration.stack.residuals.measured.networks = {"dense", "moe"};
  RunFeatures run{"H100", "bf16", "image", {}};
  CHECK(words_of(calibration, run) ==
        std::vector<std::string>{"image networks where dense transformers and mixtures of experts were measured"});
  run.network = "moe";
  CHECK(words_of(calibration, run).empty());
}

TEST_CASE("a scale outside of the measured range is named with the nearer end") {
  Calibration calibration;
  calibration.stack.residuals.measured.scales[static_cast<std::size_t>(RunScale::gpus)] = MeasuredRange{8, 1024};
  RunFeatures run{"H100", "bf16", "dense", {}};
  run[RunScale::gpus] = 4;
  CHECK(words_of(calibration, run) == std::vector<std::string>{"4 GPUs where at least 8 were measured"});
  run[RunScale::gpus] = 3000;
  CHECK(words_of(calibration, run) == std::vector<std::string>{"3000 GPUs where at most 1024 were measured"});
  run[RunScale::gpus] = 1024;
  CHECK(words_of(calibration, run).empty());
  run[RunScale::gpus] = 1;
  CHECK(words_of(calibration, run) == std::vector<std::string>{"1 GPU where at least 8 were measured"});
}

TEST_CASE("one is singular on either side") {
  constexpr std::array<std::string_view, run_scale_count> ones{"1 GPU",
                                                               "1 hidden feature",
                                                               "1 token in a sequence",
                                                               "1 token in a rank's micro-batch",
                                                               "1 tensor-parallel rank",
                                                               "1 pipeline stage",
                                                               "1 context-parallel rank",
                                                               "1 expert-parallel rank"};
  for (std::size_t scale = 0; scale < run_scale_count; ++scale) {
    Calibration calibration;
    RunFeatures run{"H100", "bf16", "dense", {}};
    run.scales[scale] = 1;
    calibration.stack.residuals.measured.scales[scale] = MeasuredRange{6, 6};
    CHECK(words_of(calibration, run) ==
          std::vector<std::string>{std::string(ones[scale]) + " where at least 6 were measured"});
    calibration.stack.residuals.measured.scales[scale] = MeasuredRange{1, 1};
    run.scales[scale] = 6;
    const std::vector<std::string> many = words_of(calibration, run);
    REQUIRE(many.size() == 1);
    CHECK(many.front().ends_with(" where at most 1 was measured"));
  }
}

}  // namespace
}  // namespace plumbline

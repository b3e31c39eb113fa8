// Memory that a plan leaves free, and the chance that it fits.

#include <cmath>
#include <random>

#include "planner/pricing/evaluate.h"
#include "planner/pricing/trust.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

QuestionText asked() {
  QuestionText text;
  text.model = "gpt2";
  text.machine = "dgx-a100-80g";
  text.training.global_batch = 64;
  return text;
}

TEST_CASE("headroom is a share of the device or bytes") {
  CHECK(headroom_from_text("5%", "--headroom").of(100_GiB) == 5_GiB);
  CHECK(headroom_from_text("5 %", "--headroom").of(100_GiB) == 5_GiB);
  CHECK(headroom_from_text("2GiB", "--headroom").of(80_GiB) == 2_GiB);
  CHECK(headroom_from_text("0", "--headroom").of(80_GiB) == 0_GiB);
}

TEST_CASE("headroom without a unit, below zero or of the whole device is refused") {
  for (const char* text : {"", "2", "%", "-5%", "101%", "5%%", "2 apples"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(headroom_from_text(text, "--headroom"), InputError);
  }
  QuestionText text = asked();
  text.headroom = headroom_from_text("80 GiB", "--headroom");
  CHECK_THROWS_WITH(Question(text), Catch::Matchers::StartsWith("headroom: 80.0 GiB leaves nothing of a device"));
}

TEST_CASE("a plan fits where it leaves the headroom that was asked for") {
  PartialStrategy partial;
  const Question free(asked());
  const Plan plan = evaluate(free, completed(partial, free));
  REQUIRE(plan.verdict.fits);
  QuestionText text = asked();
  text.headroom.bytes = plan.verdict.margin;
  const Question exact(text);
  CHECK(evaluate(exact, completed(partial, exact)).verdict.fits);
  CHECK(exact.capacity() == plan.prediction.peak_memory);
  text.headroom.bytes = plan.verdict.margin + Bytes(1);
  const Question tight(text);
  const Verdict verdict = evaluate(tight, completed(partial, tight)).verdict;
  CHECK(!verdict.fits);
  CHECK(verdict.margin == plan.verdict.margin);
  CHECK(verdict.chance_to_fit == plan.verdict.chance_to_fit);  // of the device, not of what is left of it
  CHECK(verdict.reason.find("to keep free") != std::string::npos);
}

// log(predicted / measured) is normal, so what is measured is the prediction over e^(sigma z).
TEST_CASE("the chance to fit is the share of draws that fit") {
  constexpr int draws = 200'000;
  for (const double sigma : {0.03, 0.1, 0.4})
    for (const double share : {0.7, 0.95, 1.0, 1.1}) {
      CAPTURE(sigma, share);
      std::mt19937_64 random(14);
      std::normal_distribution<double> z;
      int fitting = 0;
      for (int n = 0; n < draws; ++n)
        if (share / std::exp(sigma * z(random)) <= 1) ++fitting;
      const Bytes capacity = 80_GiB;
      const Bytes expected(static_cast<std::int64_t>(share * static_cast<double>(capacity.value())));
      const double drawn = static_cast<double>(fitting) / draws;
      CHECK(std::abs(chance_to_fit(expected, sigma, capacity) - drawn) < 0.005);
    }
  CHECK(chance_to_fit(79_GiB, 0, 80_GiB) == 1);
  CHECK(chance_to_fit(81_GiB, 0, 80_GiB) == 0);
}

TEST_CASE("a plan is near the edge where its interval of memory reaches beyond the device") {
  const Question question(asked());
  const double sigma = question.calibration().stack.residuals.memory.sigma;
  const auto capacity = static_cast<double>(question.device_memory().value());
  const auto certain = static_cast<double>(question.certain_capacity().value());
  CHECK(interval_of(certain, sigma).high <= capacity);
  CHECK(interval_of(certain + 2, sigma).high > capacity);
  CHECK(chance_to_fit(question.certain_capacity(), sigma, question.device_memory()) == 0.95);
}

TEST_CASE("chances are written in per cent") {
  CHECK(chance_text(1) == "> 99.9 %");
  CHECK(chance_text(0.9932) == "99.3 %");
  CHECK(chance_text(0.714) == "71 %");
  CHECK(chance_text(0.004) == "0.4 %");
  CHECK(chance_text(0) == "< 0.1 %");
}

}  // namespace
}  // namespace plumbline

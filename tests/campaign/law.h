#pragma once
/// \file law.h: what every legal plan must obey, whatever the numbers: a name, a sentence, a check of one case.

#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/campaign/random_plan.h"

namespace plumbline {

/// A legal plan, priced, that laws look at.
struct Subject {
  const AskedPlan& asked;
  const Question& question;
  const Plan& plan;
  Draw& draw;  ///< for what a law chooses by chance

  [[nodiscard]] const Strategy& strategy() const { return asked.strategy; }
  [[nodiscard]] const Prediction& prediction() const { return plan.prediction; }
  [[nodiscard]] Picoseconds step() const { return plan.prediction.time.total(); }
};

/// What one law says about one case: nothing, that it holds, or the first thing that broke it.
class Finding {
 public:
  void expect(bool holds, std::string_view what) {
    applies_ = true;
    if (!holds && broken_.empty()) broken_ = what;
  }
  template <class T>
  void expect_at_most(const T& less, const T& more, std::string_view what) {
    const bool is_first = broken_.empty();
    expect_relation(less <= more, less, " > ", more, what);
    if (is_first && !broken_.empty()) excess_ = as_double(less) / as_double(more) - 1;
  }
  template <class T>
  void expect_equal(const T& a, const T& b, std::string_view what) {
    expect_relation(a == b, a, " != ", b, what);
  }
  /// Equal but for the last digits of a sum of doubles.
  void expect_near(double a, double b, std::string_view what, double relative = 1e-9) {
    const bool is_first = broken_.empty();
    const double larger = std::max(std::abs(a), std::abs(b));
    expect_relation(std::abs(a - b) <= relative * larger, a, " != ", b, what);
    if (is_first && !broken_.empty()) excess_ = std::abs(a - b) / larger;
  }
  [[nodiscard]] bool applies() const { return applies_; }
  /// Of a broken "at most" or "near": by what share.
  [[nodiscard]] double excess() const { return excess_; }
  [[nodiscard]] const std::string& broken() const { return broken_; }

 private:
  template <class T>
  void expect_relation(bool holds, const T& a, std::string_view sign, const T& b, std::string_view what) {
    applies_ = true;
    if (holds || !broken_.empty()) return;
    std::ostringstream text;
    text.precision(17);
    text << what << ": " << number(a) << sign << number(b);
    broken_ = text.str();
  }
  template <class T>
  static const T& number(const T& value) {
    return value;
  }
  template <class Tag, class Rep>
  static Rep number(const Quantity<Tag, Rep>& value) {
    return value.value();
  }

  template <class T>
  static double as_double(const T& value) {
    return static_cast<double>(number(value));
  }

  bool applies_ = false;
  std::string broken_;
  double excess_ = std::numeric_limits<double>::infinity();
};

struct Law {
  std::string_view name;
  std::string_view sentence;
  std::int64_t one_in = 1;  ///< checked on every n-th case only, where it prices many plans
  std::function<void(const Subject&, Finding&)> check;
};

using Laws = std::vector<Law>;
[[nodiscard]] Laws laws_of_totals();         ///< parts sum to totals
[[nodiscard]] Laws laws_of_memory();         ///< what holds more and what holds less
[[nodiscard]] Laws later_laws_of_memory();   ///< behind all others, whose draws and cases follow from their places
[[nodiscard]] Laws laws_of_time();           ///< what takes longer and what does not
[[nodiscard]] Laws laws_of_machines();       ///< more of a resource
[[nodiscard]] Laws laws_of_communication();  ///< bytes by formula
[[nodiscard]] Laws laws_of_agreement();      ///< estimate, simulate, explain, search say the same
[[nodiscard]] Laws laws_of_writing();        ///< names, order of keys, files read back
/// All of them.
[[nodiscard]] const Laws& all_laws();

/// A violation that somebody knows of: what it covers, how far, and why it is. It is counted, not passed over.
struct KnownViolation {
  std::string_view law;
  double largest_excess = 0;  ///< beyond it the law counts as broken
  std::string_view reason;
  std::function<bool(const Subject&)> covers;
};
[[nodiscard]] const std::vector<KnownViolation>& known_violations();

}  // namespace plumbline

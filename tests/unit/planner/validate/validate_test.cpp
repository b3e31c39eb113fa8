// Rows are predicted without their answers, repetitions count once, nothing vanishes.

#include "planner/validate/validate.h"

#include "tests/unit/planner/validate/published_rows.h"

namespace plumbline {
namespace {

const RowSet& set_named(const std::string& name) {
  for (const RowSet& set : rows_of_catalogue())
    if (set.name == name) return set;
  FAIL("no set " << name);
  return rows_of_catalogue().front();
}

MeasuredRow zero_bubble_row() { return *published_row("zb-t4-1.5b-1f1b-m24").first; }

}  // namespace

TEST_CASE("a prediction does not change when every measured value does") {
  RowSet set = set_named("zero_bubble");
  const Validation before = validate({set}, resolver_of_catalogue());
  for (MeasuredRow& row : set.rows) {
    if (row.measured.step_time_s) *row.measured.step_time_s *= 17;
    if (row.measured.memory_gb_as_published) *row.measured.memory_gb_as_published *= 3;
  }
  const Validation after = validate({set}, resolver_of_catalogue());
  REQUIRE(before.rows.size() == after.rows.size());
  for (std::size_t i = 0; i < before.rows.size(); ++i) {
    CHECK(before.rows[i].pair.predicted.expected == after.rows[i].pair.predicted.expected);
    CHECK(before.rows[i].pair.predicted.low == after.rows[i].pair.predicted.low);
    CHECK(before.rows[i].pair.measured < after.rows[i].pair.measured);
  }
}

TEST_CASE("every use of every row is predicted or skipped with a reason") {
  for (const RowSet& set : rows_of_catalogue()) {
    std::size_t uses = 0;
    for (const MeasuredRow& row : set.rows) uses += row.suspect ? 1 : row.uses->size();
    const Validation validation = validate({set}, resolver_of_catalogue());
    CAPTURE(set.name);
    CHECK(validation.rows.size() + validation.skipped.size() == uses);
    for (const SkippedRow& row : validation.skipped) CHECK_FALSE(row.reason.empty());
  }
}

TEST_CASE("of two runs of one question the faster counts, of their peaks the larger") {
  MeasuredRow slow = zero_bubble_row();
  MeasuredRow fast = slow;
  slow.question.id = "slow";
  fast.question.id = "fast";
  *fast.measured.step_time_s /= 2;
  *fast.measured.memory_gb_as_published /= 2;
  const Validation validation = validate({{"zero_bubble", {slow, fast}}}, resolver_of_catalogue());
  REQUIRE(validation.rows.size() == 2);
  CHECK(validation.rows[0].id == "fast");
  CHECK(validation.rows[0].kind == RowKind::time);
  CHECK(validation.rows[1].id == "slow");
  CHECK(validation.rows[1].kind == RowKind::memory);
  REQUIRE(validation.skipped.size() == 2);
  CHECK(validation.skipped[0].reason == "a repetition of fast, which was faster");
  CHECK(validation.skipped[1].reason == "a repetition of slow, whose peak was larger");
}

TEST_CASE("a faster run whose batch was inferred does not stand for one that published it") {
  const MeasuredRow known = zero_bubble_row();
  MeasuredRow inferred = known;
  inferred.question.id = "inferred";
  inferred.question.unverified.insert("global_batch");
  *inferred.measured.step_time_s /= 2;
  const ValidationSummary summary = summarize(validate({{"zero_bubble", {inferred, known}}}, resolver_of_catalogue()));
  CHECK(summary.time.n == 1);
  CHECK(summary.time_inferred.n == 1);
}

TEST_CASE("rows that prove less are summarized apart") {
  MeasuredRow known = zero_bubble_row();
  MeasuredRow inferred = known;
  inferred.question.id = "inferred";
  inferred.question.fields.numbers["global_batch"] = 288;
  inferred.question.unverified.insert("global_batch");
  MeasuredRow doubtful = known;
  doubtful.question.id = "bloom-prequel-l775";  // of which its source's rules speak
  doubtful.question.fields.numbers["global_batch"] = 432;
  const ValidationSummary summary =
      summarize(validate({{"zero_bubble", {known, inferred, doubtful}}}, resolver_of_catalogue()));
  CHECK(summary.time.n == 1);
  CHECK(summary.time_inferred.n == 1);
  CHECK(summary.time_doubtful.n == 1);
  CHECK(summary.memory.n == 1);
  CHECK(summary.ran.n == 2);
  CHECK(summary.ran_doubtful.n == 1);
}

TEST_CASE("a fit answer that contradicts its neighbours is counted apart") {
  MeasuredRow row = zero_bubble_row();
  row.question.id = "bloom-prequel-l957";  // of which its source's rules speak
  row.measured.out_of_memory = true;
  row.uses.reset();
  const ValidationSummary summary = summarize(validate({{"zero_bubble", {row}}}, resolver_of_catalogue()));
  CHECK(summary.fit.n == 0);
  CHECK(summary.fit.doubtful == 1);
}

TEST_CASE("interleaving that was only inferred makes a row prove less, one stage a rank does not") {
  const Validation validation = validate({set_named("zero_bubble")}, resolver_of_catalogue());
  for (const RowOutcome& row : validation.rows) {
    CAPTURE(row.id);
    CHECK((row.trust == RowTrust::inferred) == (row.strategy.find("interleaved") != std::string::npos));
  }
}

TEST_CASE("a step time follows from throughput where only that was published") {
  MeasuredRow row = zero_bubble_row();
  const double seconds = *row.measured.step_time_s;
  row.measured.tokens_per_s_per_gpu = 144.0 * 1024 / (seconds * 8);
  row.measured.step_time_s.reset();
  const Validation validation = validate({{"zero_bubble", {row}}}, resolver_of_catalogue());
  REQUIRE_FALSE(validation.rows.empty());
  CHECK(validation.rows.front().pair.measured == Approx(seconds));
}

TEST_CASE("a row without a use of its own is compared in everything that it measured") {
  MeasuredRow row = zero_bubble_row();
  row.uses.reset();
  row.measured.out_of_memory = false;
  const Validation validation = validate({{"zero_bubble", {row}}}, resolver_of_catalogue());
  CHECK(validation.rows.size() == 3);  // time, memory, fit
  row.suspect = true;
  const Validation none = validate({{"zero_bubble", {row}}}, resolver_of_catalogue());
  REQUIRE(none.skipped.size() == 1);
  CHECK(none.skipped.front().reason == "its source contradicts itself");
}

TEST_CASE("filters keep the devices and sources asked for") {
  const auto count = [](const ValidationFilter& filter) {
    return validate({set_named("zero_bubble"), set_named("karpathy")}, resolver_of_catalogue(), filter).rows.size();
  };
  CHECK(count({{}, {"KARPATHY"}}) == 5);
  CHECK(count({{"h100-sxm-80gb"}, {}}) == 2);
  CHECK(count({{"h100-sxm-80gb"}, {"zero_bubble"}}) == 0);
}

}  // namespace plumbline

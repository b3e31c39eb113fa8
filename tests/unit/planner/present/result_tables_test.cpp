// Comparisons, peaks and validations as tables.

#include "planner/present/peak_tables.h"
#include "planner/session/compare/compare.h"
#include "planner/session/validate/validate.h"
#include "tests/unit/planner/present/whole_table.h"

namespace plumbline::present {
namespace {

Comparison compared() {
  Comparison c;
  c.predicted_step_s = {0.9, 1, 1.1};
  c.measured_step_s = 1.05;
  c.memory = {{0, "optimizer_state", Bytes(1000), Bytes(1000), "", Bytes(1000)},
              {1, "activations", Bytes(2000), Bytes(1999), "a tensor", Bytes(2000)},
              {1, "total", Bytes(3000), Bytes(3100), "", Bytes(3100)}};
  c.communication = {{0, "tensor", "all_reduce", Bytes(4), Bytes(4), "", Bytes(4)}};
  c.actions = {{0, ActionKind::forward, 8, Seconds(0.5), Seconds(0.75)}};
  return c;
}

TEST_CASE("predicted and measured stand side by side, with their difference and its likely cause") {
  const Comparison c = compared();
  for (const Table& table : {action_table(c), compared_memory_table(c), sent_table(c)}) check_whole(table);
  CHECK(cell(action_table(c), 0, "difference").text == "+50.0 %");
  const Table memory = compared_memory_table(c);
  CHECK(cell(memory, 0, "class").text == "optimizer state");
  CHECK(cell(memory, 0, "difference").text == "equal");
  CHECK(cell(memory, 1, "difference").text == "-1 B");
  CHECK(cell(memory, 1, "cause").text == "a tensor");
  CHECK(cell(memory, 2, "difference").text == "as routed, +100 B");
  CHECK(compared_bytes_words(c) == "bytes differ from the prediction");
  CHECK(compared_step_words(c) ==
        "step time  predicted 1.000 s (0.900 to 1.100), measured 1.05 s (measured over predicted +5.0 %)");
}

TEST_CASE("parts of a device's memory have their difference in percent, and those without a prediction are named") {
  Comparison c = compared();
  CHECK(unpredicted_device_words(c).empty());
  c.device = {{0, "context", Bytes(1000), Bytes(1100)},
              {0, "modules", Bytes(0), Bytes(70)},
              {0, "libraries", Bytes(50), Bytes(0)},
              {1, "modules", Bytes(0), Bytes(70)},
              {1, "other", Bytes(0), Bytes(5)}};
  const Table table = device_memory_table(c);
  check_whole(table);
  CHECK(cell(table, 0, "difference").text == "+10.0 %");
  CHECK(cell(table, 1, "difference").text.empty());
  CHECK(cell(table, 2, "difference").text == "-100.0 %");
  CHECK(unpredicted_device_words(c) == "the plan does not predict: modules, other");
}

TEST_CASE("equal bytes are said, and whether they are so for the rows that were routed") {
  Comparison c = compared();
  c.memory.resize(1);
  CHECK(compared_bytes_words(c) == "every byte is as predicted");
  c.memory.front().predicted = Bytes(900);
  CHECK(compared_bytes_words(c) == "every byte is as predicted for the rows that were routed to experts");
  c.measured_step_s = 0;
  CHECK(compared_step_words(c) == "no step was timed: all of them were warm-up");
}

TEST_CASE("the peak is shown by class, and its largest buffers alike together") {
  MemoryBreakdown memory;
  memory[MemoryClass::weights] = 1_GiB;
  const Table classes = peak_class_table(memory);
  check_whole(classes);
  REQUIRE(classes.rows.size() == 1);
  CHECK(cell(classes, 0, "memory").text == "1.00");
  CHECK(largest_buffer_table({}).rows.empty());
  check_whole(largest_buffer_table({}));
  CHECK(ranges_text({0, 1, 2, 3, 7}) == "0-3 7");
  CHECK(ranges_text({}).empty());
}

TEST_CASE("a validation is a row for each source and one for all") {
  Validation validation;
  for (const double predicted : {1.1, 0.9, 1.3}) {
    RunOutcome row;
    row.id = "run " + std::to_string(validation.runs.size());
    row.source = "mine";
    row.pair = {1, {predicted - 0.2, predicted, predicted + 0.2}};
    validation.runs.push_back(row);
  }
  validation.skipped = {{"a", "mine", RunKind::time, "a repetition of x"},
                        {"b", "mine", RunKind::time, "a repetition of y"},
                        {"c", "mine", RunKind::time, "no batch"},
                        {"c", "mine", RunKind::memory, "no batch"},
                        {"c", "mine", RunKind::fit, "no batch"}};
  const Table series = series_table(validation, "step time", &ValidationSummary::time);
  check_whole(series);
  CHECK(titles(series).front() == "step time");
  REQUIRE(series.rows.size() == 2);
  CHECK(cell(series, 0, "source").text == "mine");
  CHECK(cell(series, 1, "source").text == "all");
  CHECK(cell(series, 0, "mape").text == "16.7 %");  // (0.1 + 0.1 + 0.3) / 3
  CHECK(series_table(validation, "peak memory", &ValidationSummary::memory).rows.empty());
  const Table furthest = furthest_table(validation, 2);
  check_whole(furthest);
  REQUIRE(furthest.rows.size() == 2);
  CHECK(cell(furthest, 0, "error").text == "+30.0 %");
  CHECK(cell(furthest, 0, "beyond").text.empty());
  validation.runs[2].confidence.beyond = {"128 GPUs where at most 64 were measured"};
  CHECK(cell(furthest_table(validation), 0, "beyond").text == "outside");
  validation.runs[2].confidence.is_far = true;
  CHECK(cell(furthest_table(validation), 0, "beyond").text == "far");
  const Table skipped = skipped_table(validation);
  check_whole(skipped);
  CHECK(cell(skipped, 0, "reason").text == "a repetition of another run");
  CHECK(cell(skipped, 0, "rows").number == 2);
  CHECK(cell(skipped, 1, "reason").text == "no batch");
  CHECK(cell(skipped, 1, "rows").number == 1);  // one run, skipped for its time, its memory and whether it fitted
}

}  // namespace
}  // namespace plumbline::present

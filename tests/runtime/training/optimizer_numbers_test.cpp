#include "runtime/training/optimizer_numbers.h"

#include "core/io/run_record_json.h"
#include "tests/execution_checks.h"

namespace plumbline {
namespace {

/// After three steps: the first gradient of a momentum is the momentum itself, whatever its weight.
WholeTensors weights(Optimizer optimizer, const OptimizerSettings& settings) {
  const LoweredPlan plan(network(Net::llama), single(), recipe(optimizer));
  TrainingJob job = plan.job();
  job.optimizer = settings;
  return execute(job, options(3)).weights;
}

TEST_CASE("an optimizer reads the numbers that the table says, and no others") {
  for (const OptimizerFacts& row : optimizer_table) {
    const Optimizer optimizer = row.optimizer;
    const WholeTensors usual = weights(optimizer, {});
    for (const OptimizerNumber& number : optimizer_numbers()) {
      OptimizerSettings changed;
      changed.*number.member = 0.5F * changed.*number.member + 1e-3F;
      INFO(to_text(optimizer) << ", " << number.name);
      CHECK((weights(optimizer, changed) != usual) == number.is_read_by(optimizer));
    }
  }
}

TEST_CASE("a record of every optimizer is read as it was written, with both kinds of clipping") {
  for (const OptimizerFacts& row : optimizer_table) {
    RunRecord record;
    record.ranks.emplace_back();
    OptimizerSettings settings;
    settings.clip_value = 0.25;
    record.optimizer = optimizer_record(row.optimizer, settings);
    const Json json = parse_json(to_json_text(to_json(record)), "m.json");
    CHECK(run_record_from_json(JsonPlace(json, "m.json")).optimizer == record.optimizer);
  }
}

TEST_CASE("a record has an optimizer's numbers as they are written") {
  const OptimizerRecord adamw = optimizer_record(Optimizer::adamw, {});
  CHECK(adamw.name == "adamw");
  CHECK(adamw.numbers == std::vector<std::pair<std::string, double>>{
                             {"beta1", 0.9}, {"beta2", 0.95}, {"epsilon", 1e-8}, {"weight-decay", 0.1}, {"clip", 1}});
  CHECK(optimizer_record(Optimizer::sgd, {}).numbers ==
        std::vector<std::pair<std::string, double>>{{"weight-decay", 0.1}, {"clip", 1}});
}

}  // namespace
}  // namespace plumbline

#include <algorithm>

#include "core/io/machine_json.h"
#include "core/io/plan_json.h"
#include "models/network_file.h"
#include "tests/campaign/law_questions.h"

namespace plumbline {
namespace {

std::string text_of(const Plan& plan) { return to_json_text(to_json(plan)); }

/// The keys of every object in another order.
Json shuffled(const Json& json, Draw& draw) {
  if (const Json::Array* array = json.if_array()) {
    Json::Array copy;
    for (const Json& element : *array) copy.push_back(shuffled(element, draw));
    return Json(std::move(copy));
  }
  const Json::Object* object = json.if_object();
  if (object == nullptr) return json;
  Json::Object copy;
  for (const auto& [key, value] : *object) {
    Json inner = shuffled(value, draw);
    const std::int64_t place = draw.between(0, static_cast<std::int64_t>(copy.size()));
    copy.insert(copy.begin() + place, {key, std::move(inner)});
  }
  return Json(std::move(copy));
}

void expect_same_prices(const Plan& a, const Plan& b, Finding& f) {
  f.expect(a.prediction.time.by_cause == b.prediction.time.by_cause, "the same time for every cause");
  f.expect_equal(a.prediction.peak_memory, b.prediction.peak_memory, "peak");
  f.expect_equal(a.prediction.mfu, b.prediction.mfu, "MFU");
  f.expect_equal(a.verdict.fits, b.verdict.fits, "verdict");
  f.expect_equal(a.prediction.step_time_s.high, b.prediction.step_time_s.high, "interval");
}

void pricing_repeats(const Subject& s, Finding& f) {
  f.expect(text_of(evaluate(s.question, s.strategy())) == text_of(s.plan), "priced twice, written the same");
}

void plans_read_back(const Subject& s, Finding& f) {
  const std::string written = text_of(s.plan);
  const Json json = parse_json(written, "plan");
  const Plan read = plan_from_json(JsonPlace(json, "plan:"));
  AskedPlan asked = s.asked;
  asked.training = read.training;
  asked.strategy = read.strategy;
  asked.stack = read.provenance.stack_calibration;
  asked.choices = {};
  f.expect(asked.strategy == s.strategy(), "the strategy reads back");
  f.expect(text_of(evaluate(question_of(asked), asked.strategy)) == written, "priced anew, written byte for byte");
}

void names_are_no_matter(const Subject& s, Finding& f) {
  Network renamed = *s.asked.network.network;
  renamed.name = "another-name";
  renamed.graph = Graph("another graph", renamed.graph.blocks(), renamed.graph.runs());
  expect_same_prices(evaluate(question_of(s.asked, renamed), s.strategy()), s.plan, f);
  Cluster cluster = s.asked.machine.cluster;
  cluster.name = "another-cluster";
  for (NodeGroup& group : cluster.groups) group.node.name = "another-node";
  cluster.fabric.name = "another-fabric";
  expect_same_prices(evaluate(question_of(s.asked, cluster), s.strategy()), s.plan, f);
}

void order_of_keys_is_no_matter(const Subject& s, Finding& f) {
  if (s.asked.network.config) {
    const Json config = shuffled(*s.asked.network.config, s.draw);
    const Network network = read_network(JsonPlace(config, "config"), "drawn");
    expect_same_prices(evaluate(question_of(s.asked, network), s.strategy()), s.plan, f);
  }
  if (s.asked.machine.file) {
    const Json file = shuffled(*s.asked.machine.file, s.draw);
    const Cluster cluster = *read_machine(file, "machine", {}).cluster;
    f.expect(cluster == s.asked.machine.cluster, "the machine reads the same");
  }
}

void machines_read_back(const Subject& s, Finding& f) {
  const Json written = machine_json({std::nullopt, std::nullopt, s.asked.machine.cluster});
  const Json json = parse_json(to_json_text(written), "machine");
  const Cluster read = *read_machine(json, "machine", {}).cluster;
  expect_same_prices(evaluate(question_of(s.asked, read), s.strategy()), s.plan, f);
}

void recompute_reads_back(const Subject& s, Finding& f) {
  f.expect(recompute_from_text(to_text(s.strategy().recompute)) == s.strategy().recompute, "recompute as text");
}

void commands_name_the_strategy(const Subject& s, Finding& f) {
  const std::string text = command(s.asked, "folder");
  f.expect(text.find('\n') == std::string::npos && text.size() < 2000, "a command of one line");
}

}  // namespace

Laws laws_of_writing() {
  return {
      {"repeatable", "The same question gives the same bytes.", 16, pricing_repeats},
      {"plan-file", "A plan that is written, read and priced anew is written byte for byte the same.", 16,
       plans_read_back},
      {"names", "What model, machine, node and fabric are called is no matter.", 16, names_are_no_matter},
      {"key-order", "The order of keys in model and machine files is no matter.", 8, order_of_keys_is_no_matter},
      {"machine-file", "A machine that is written and read prices every plan the same.", 16, machines_read_back},
      {"recompute-text", "Recompute as text reads back.", 1, recompute_reads_back},
      {"command", "Every case has a command that asks it.", 1, commands_name_the_strategy},
  };
}

}  // namespace plumbline

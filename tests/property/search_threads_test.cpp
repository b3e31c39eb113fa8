// The outcome of a search does not depend on the number of threads, and an interrupted one keeps what it found.

#include <atomic>
#include <stdexcept>
#include <stop_token>

#include "planner/search/parallel.h"
#include "planner/search/search.h"
#include "tests/catch.h"
#include "tests/search_audit.h"
#include "tests/source_folder.h"

namespace plumbline {
namespace {

QuestionText asked(const std::string& model, const std::string& machine, std::int64_t devices, std::int64_t batch) {
  QuestionText text;
  text.model = model;
  text.machine = machine;
  text.devices = devices;
  text.training.sequence_length = 1024;
  text.training.global_batch = batch;
  return text;
}

std::string small(const std::string& network) { return test_data_folder() + "/small_networks/" + network + ".json"; }

std::string line(const RankedStrategy& r) {
  return to_text(r.strategy) + " shard " + std::to_string(r.strategy.shard_group) + " on " + std::to_string(r.devices) +
         " #" + std::to_string(r.question) + " " + std::string(to_text(r.precision)) + ": " +
         std::to_string(r.step_time.value()) + " ps " + std::to_string(r.ranking_step().value()) + " ps simulated " +
         std::to_string(r.peak_memory.value()) + " B\n";
}

/// All that a search answers, as text.
std::string serialised(const SearchResult& result) {
  std::string text = result.complete ? "complete\n" : "interrupted\n";
  for (const RankedStrategy& r : result.best) text += line(r);
  text += "front\n";
  for (const RankedStrategy& r : result.pareto) text += line(r);
  if (result.nearest_miss) text += "nearest " + line(*result.nearest_miss);
  const SearchAudit& audit = result.audit;
  for (const auto& [rule, count] : audit.illegal) text += rule + " " + std::to_string(count) + "\n";
  for (const std::int64_t count :
       {audit.total, audit.memory, audit.bound, audit.dominated, audit.infeasible, audit.solved, audit.unvisited})
    text += std::to_string(count) + " ";
  return text;
}

SearchResult searched(const std::vector<Question>& questions, const SearchSpace& space, SearchOptions options,
                      std::int32_t threads) {
  options.threads = threads;
  return search(questions, space, options);
}

struct Case {
  QuestionText text;
  std::string fixes;
  bool pareto;
};

void require_same_on_any_threads(const Case& one_case, Objective objective) {
  SearchOptions options;
  options.objective = objective;
  options.pareto = one_case.pareto;
  const std::vector<Question> questions = search_questions(one_case.text, {PrecisionRecipe::bf16}, objective);
  const SearchSpace space = space_from_text(one_case.fixes);
  const std::string one = serialised(searched(questions, space, options, 1));
  CHECK(serialised(searched(questions, space, options, 2)) == one);
  CHECK(serialised(searched(questions, space, options, 7)) == one);
}

TEST_CASE("one, two and seven threads find the same, to the byte") {
  require_same_on_any_threads({asked("gpt2", "dgx-h100", 16, 64), "micro-batch=1", false}, Objective::step_time);
  require_same_on_any_threads({asked(small("mixtral"), "dgx-a100-80g", 16, 32), "cp=1,micro-batch=1", true},
                              Objective::step_time);
}

TEST_CASE("one, two and seven threads find the same for every objective, to the byte", "[long]") {
  const auto one_case = GENERATE(Case{asked("gpt2", "dgx-h100", 16, 64), "", false},
                                 Case{asked("gpt2", "dgx-h100", 16, 64), "cp=1", true},
                                 Case{asked(small("mixtral"), "dgx-a100-80g", 16, 32), "cp=1", true},
                                 Case{asked(small("wide_llama"), "rtx4090-pcie", 8, 64), "", true},
                                 Case{asked("gpt3-175b", "dgx-a100-80g", 64, 64), "cp=1,micro-batch=1", false},
                                 Case{asked("llama-3-70b", "t4-pcie", 8, 8), "micro-batch=1", false});  // nothing fits
  require_same_on_any_threads(one_case, GENERATE(from_range(all_objectives.begin(), all_objectives.end())));
}

TEST_CASE("a search that is stopped before it starts finds nothing, says so and accounts for all") {
  const std::vector<Question> questions{Question(asked("gpt2", "dgx-h100", 16, 64))};
  std::stop_source source;
  source.request_stop();
  SearchOptions options;
  options.stop = source.get_token();
  const SearchResult result = searched(questions, {}, options, 2);
  CHECK(!result.complete);
  CHECK(result.best.empty());
  CHECK(accounted(result.audit) == result.audit.total);
  CHECK(serialised(searched(questions, {}, options, 7)) == serialised(result));
}

TEST_CASE("a search that is stopped on its way keeps the best so far") {
  const std::vector<Question> questions{Question(asked("gpt2", "dgx-h100", 16, 64))};
  const SearchResult whole = searched(questions, {}, {}, 2);
  const std::string phase = GENERATE("bounding", "pricing");
  std::stop_source source;
  SearchOptions options;
  options.pareto = true;  // every plan that may join the front is priced: more than one batch
  options.stop = source.get_token();
  options.progress = [&](const SearchProgress& progress) {
    if (progress.phase == phase) source.request_stop();
  };
  const SearchResult result = searched(questions, {}, options, 2);
  CHECK(!result.complete);
  REQUIRE(!result.best.empty());
  CHECK(result.best.front().step_time >= whole.best.front().step_time);
  CHECK(!result.pareto.empty());
  CHECK(result.audit.total == whole.audit.total);
  CHECK(result.audit.unvisited > 0);
  CHECK(accounted(result.audit) == result.audit.total);
}

TEST_CASE("a search that is stopped while it simulates ranks by closed form") {
  const std::vector<Question> questions{Question(asked("gpt2", "dgx-h100", 16, 64))};
  SearchOptions options;
  options.finalists = Finalists::closed_form;
  const SearchResult closed = searched(questions, {}, options, 2);
  options.finalists = Finalists::simulated;
  std::stop_source source;
  options.stop = source.get_token();
  options.progress = [&](const SearchProgress& progress) {
    if (progress.phase == "simulating") source.request_stop();
  };
  const SearchResult result = searched(questions, {}, options, 2);
  CHECK(!result.complete);
  REQUIRE(result.best.size() == closed.best.size());
  for (std::size_t i = 0; i < closed.best.size(); ++i) CHECK(line(result.best[i]) == line(closed.best[i]));
  CHECK(accounted(result.audit) == result.audit.total);
}

TEST_CASE("progress counts up and names the best so far") {
  std::map<std::string, std::int64_t> last;
  double best = 0;
  SearchOptions options;
  options.progress = [&](const SearchProgress& progress) {
    CHECK(progress.done <= progress.total);
    CHECK(progress.done > last[std::string(progress.phase)]);
    last[std::string(progress.phase)] = progress.done;
    if (progress.phase == "pricing") best = progress.best_step_time_s;  // by closed form
  };
  (void)searched({Question(asked("gpt2", "dgx-h100", 16, 64))}, {}, options, 2);
  CHECK(last.count("bounding") == 1);
  CHECK(last.count("pricing") == 1);
  CHECK(last.count("simulating") == 1);
  options.finalists = Finalists::closed_form;
  options.progress = {};
  const SearchResult closed = searched({Question(asked("gpt2", "dgx-h100", 16, 64))}, {}, options, 2);
  CHECK(best == to_seconds(closed.best.front().step_time).value());
}

TEST_CASE("parallel_for calls every index once") {
  const std::int32_t threads = GENERATE(0, 1, 2, 7, 64);
  const std::size_t count = GENERATE(0U, 1U, 3U, 1000U);
  std::vector<std::atomic<int>> calls(count);
  parallel_for(count, threads, [&](std::size_t i) { ++calls[i]; });
  CHECK(std::all_of(calls.begin(), calls.end(), [](const std::atomic<int>& n) { return n == 1; }));
}

TEST_CASE("parallel_for finishes all work and throws the exception of the smallest index") {
  const std::int32_t threads = GENERATE(1, 2, 7);
  std::vector<std::atomic<int>> calls(100);
  std::string message;
  try {
    parallel_for(calls.size(), threads, [&](std::size_t i) {
      ++calls[i];
      if (i % 10 == 3) throw std::runtime_error("index " + std::to_string(i));
    });
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  CHECK(message == "index 3");
  CHECK(std::all_of(calls.begin(), calls.end(), [](const std::atomic<int>& n) { return n == 1; }));
}

TEST_CASE("a thread count that is asked for is kept within reason") {
  CHECK(thread_count(3) == 3);
  CHECK(thread_count(0) >= 1);
  CHECK(thread_count(-5) >= 1);
  CHECK(thread_count(1'000'000) == 1024);
}

}  // namespace
}  // namespace plumbline

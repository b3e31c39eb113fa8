#include "planner/session/fit/fit.h"

#include "core/base/errors.h"
#include "models/calibration_catalog.h"

namespace plumbline::session {
namespace {

/// Looks for the best plan of one question after the other.
class Remedies {
 public:
  Remedies(const Question& asked, std::optional<Framework> framework, const Task& task)
      : asked_(asked), framework_(framework), task_(task) {}

  void add_adapters() {
    if (asked_.training().adaptation.lora_rank > 0) return;
    QuestionText text = with_open_stack();
    text.training.adaptation.lora_rank = usual_adapter_rank;
    const std::string rank = std::to_string(usual_adapter_rank);
    (void)add(text, asked_.cluster(), "--lora-rank " + rank, "with adapters of rank " + rank + " (fine-tuning)");
  }

  void add_quantized_states() {
    const Optimizer optimizer = asked_.training().optimizer;
    if (optimizer != Optimizer::adamw && optimizer != Optimizer::adam) return;
    QuestionText text = with_open_stack();
    text.training.optimizer = Optimizer::adamw_8bit;
    text.training.optimizer_format.reset();
    const std::string name(to_text(text.training.optimizer));
    (void)add(text, asked_.cluster(), "--optimizer " + name, "with optimizer states of 8 bits");
  }

  void add_devices() {
    for (int i = 1; i <= most_doublings; ++i) {
      QuestionText text = asked_.text();
      text.devices = asked_.devices() << i;
      const std::string count = std::to_string(text.devices);
      const std::optional<Cluster> cluster = cluster_of(text.devices);
      if (!cluster || add(text, *cluster, "--gpus " + count, "on " + count + " GPUs")) return;
    }
  }

  void add_sequences() {
    if (!asked_.facts().sequence_symbol) return;
    for (int i = 1; i <= most_doublings; ++i) {
      QuestionText text = asked_.text();
      text.training.sequence_length = asked_.training().sequence_length >> i;
      if (text.training.sequence_length < shortest_sequence) return;
      const std::string length = std::to_string(text.training.sequence_length);
      if (add(text, asked_.cluster(), "--seq-len " + length, "with sequences of " + length + " tokens")) return;
    }
  }

  [[nodiscard]] std::vector<Remedy> take() { return std::move(found_); }

 private:
  static constexpr std::int64_t shortest_sequence = 128;

  /// Another question may have another usual stack.
  [[nodiscard]] QuestionText with_open_stack() const {
    QuestionText text = asked_.text();
    if (!asked_.has_usual_stack()) return text;
    if (text.training.gradient_format == default_gradients(text.stack, text.training.precision))
      text.training.gradient_format.reset();
    text.stack.clear();
    return text;
  }

  /// Nothing where the machine cannot have so many.
  [[nodiscard]] std::optional<Cluster> cluster_of(std::int64_t devices) const {
    try {
      return with_device_count(asked_.cluster(), devices);
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  /// Whether a plan surely fits. What cannot be asked has none.
  bool add(const QuestionText& text, const Cluster& cluster, const std::string& flags, const std::string& words) {
    if (task_.is_stopped()) return false;
    try {
      std::optional<Plan> best = best_plan(text, cluster);
      if (!best || best->verdict.near_edge) return false;
      found_.push_back({flags, words, std::move(*best)});
      return true;
    } catch (const InputError&) {
      return false;
    }
  }

  [[nodiscard]] std::optional<Plan> best_plan(const QuestionText& text, const Cluster& cluster) const {
    std::vector<Question> questions;
    questions.emplace_back(text, asked_.network(), cluster);
    const FrameworkChoice choice = chosen_framework(framework_, questions, {}, StageSplit::even);
    if (const auto priced = priced_as_current(text, choice.framework, questions)) {
      questions.clear();
      questions.emplace_back(*priced, asked_.network(), cluster);
    }
    SearchOptions options;
    options.top = 1;
    options.finalists = Finalists::closed_form;
    options.refinement = Refinement::around_best;
    options.stop = task_.stop;
    const SearchResult found =
        plumbline::search(questions, launchable({}, choice.framework, questions.front()), options);
    if (found.best.empty()) return std::nullopt;
    return signed_plan(questions.front(), found.best.front().strategy);
  }

  const Question& asked_;
  std::optional<Framework> framework_;
  const Task& task_;
  std::vector<Remedy> found_;
};

/// Whose launch files were read may not launch what flags beside them ask for.
std::optional<Framework> framework_of(const FitOptions& options, const Question& question) {
  if (options.framework || !options.read_from) return options.framework;
  try {
    return chosen_framework(options.read_from, {question}, {}, StageSplit::even).framework;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<Remedy> remedies(const Question& question, std::optional<Framework> framework, const Task& task) {
  Remedies all(question, framework, task);
  all.add_devices();
  all.add_quantized_states();
  all.add_adapters();
  all.add_sequences();
  task.end("remedies");
  return all.take();
}

FitAnswer fit(const PricedQuestion& asked, const Task& task, const FitOptions& options) {
  FitAnswer answer;
  answer.fits = asked.plan.verdict.fits;
  if (answer.fits) return answer;
  AroundRequest request{asked, {}};
  request.search.framework = framework_of(options, asked.question);
  request.search.top = options.top;
  request.whole_space = WholeSpace::where_nothing_is_near;
  AroundAnswer around = search_around(request, task);
  answer.framework = std::move(around.framework);
  answer.changes = std::move(around.nearby);
  if (answer.changes.empty() && around.whole && around.whole->plan.verdict.fits)
    answer.changes.push_back(std::move(*around.whole));
  if (answer.changes.empty() && around.complete && options.has_remedies)
    answer.remedies = remedies(asked.question, request.search.framework, task);
  answer.complete = around.complete && !task.is_stopped();
  return answer;
}

}  // namespace plumbline::session

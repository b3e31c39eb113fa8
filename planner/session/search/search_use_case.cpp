// A search and searches of several cases, asked by flags.
#include "core/io/json.h"
#include "planner/present/plan_columns.h"
#include "planner/present/plan_words.h"
#include "planner/session/search/case_tables.h"
#include "planner/session/search/search_cases_json.h"
#include "planner/session/search/search_flags.h"
#include "planner/session/search/search_json.h"
#include "planner/session/search/search_words.h"
#include "planner/session/use_case/use_case.h"

namespace plumbline::session {
namespace {

std::vector<std::int64_t> equivalent_counts(const SearchResult& result) {
  std::vector<std::int64_t> counts;
  for (const std::vector<RankedStrategy>& others : result.equivalent)
    counts.push_back(static_cast<std::int64_t>(others.size()));
  return counts;
}

std::vector<std::string> sentences_of(const SearchAnswer& answer) {
  std::vector<std::string> sentences;
  const auto say = [&](std::string words) {
    if (!words.empty()) sentences.push_back(std::move(words));
  };
  if (!answer.plans.empty()) {
    const Plan& best = answer.plans.front();
    say(present::question_words(best));
    say(present::basis_words(best));
    say(present::next_stack_words(answer.next_stack));
    say(present::trust_words(best.provenance.trust));
  }
  say(present::framework_words(answer.framework));
  if (!answer.plans.empty()) {
    for (std::string& words : present::recipe_words(answer)) say(std::move(words));
    say(present::tie_words(answer));
    say(present::quality_words(answer.request.recipes));
    say(present::limits_words(answer));
  }
  say(present::audit_words(answer.result.audit));
  say(present::refinement_words(answer.result.audit));
  for (const std::string& rejection : present::rejections(answer.result.audit)) say(rejection);
  return sentences;
}

Answer shown(const SearchAnswer& found) {
  Answer answer;
  answer.json = to_json_text(to_json(found));
  if (!found.plans.empty())
    answer.tables["ranking"] = present::plan_table(found.plans, equivalent_counts(found.result));
  answer.tables["pareto"] = whole_table(present::front_columns(), found.result.pareto);
  answer.sentences = sentences_of(found);
  answer.complete = found.result.complete;
  answer.found = !found.plans.empty();
  for (const Plan& plan : found.plans) answer.plans.push_back(shared(plan));
  if (found.nearest_miss) answer.nearest_miss = shared(*found.nearest_miss);
  return answer;
}

Answer shown(const CasesAnswer& found) {
  Answer answer;
  answer.json = to_json_text(to_json(found));
  answer.tables["ranking"] =
      present::with_values(whole_table(present::plan_columns(), present::plans_of(found)), found);
  answer.sentences = present::without_plan(found);
  answer.complete = found.complete;
  answer.found = found.has_any();
  for (const Plan& plan : present::plans_of(found)) answer.plans.push_back(shared(plan));
  return answer;
}

}  // namespace

UseCase search_use_case() {
  struct Asked {
    QuestionFlags question;
    SearchFlags search;
  };
  const auto asked = std::make_shared<Asked>();
  asked->question.recipes = Recipes::several;
  UseCase use_case;
  bind_options(use_case.options, question_options(Recipes::several, DeviceCounts::one), asked->question);
  for (BoundOption& option : use_case.options)
    option.words.several = option.words.several || makes_cases(option.words.flag);
  bind_options(use_case.options, search_options(), asked->search);
  bind_options(use_case.options, ranking_options(), asked->search);
  use_case.work = [asked](const Inputs& /*inputs*/) {
    SearchRequest options;
    asked->search.apply(options);
    const std::vector<SearchCase> cases = search_cases(asked->question, options);
    if (!cases.front().values.empty())
      return Work{[cases](const Task& task) { return shown(search(cases, task)); }, asked->search.limit()};
    return Work{[request = cases.front().request](const Task& task) {
                  const PreparedSearch prepared = prepare_search(request);
                  Answer answer = shown(search(prepared, task));
                  answer.warning = prepared.warning;
                  return answer;
                },
                asked->search.limit()};
  };
  return use_case;
}

}  // namespace plumbline::session

#include "gui/question/question_form.h"

#include "core/base/errors.h"
#include "gui/files/examples.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"

namespace plumbline::gui {
namespace {

std::string words_of_first(const QuestionForm& form) {
  const std::vector<Refusal> all = refusals(form);
  return all.empty() ? "" : all.front().words;
}

}  // namespace

TEST_CASE("every field has its facts at its own place, and an id of its own") {
  std::set<std::string_view> ids;
  for (const FieldFacts& facts : all_fields()) {
    CHECK(&facts_of(facts.field) == &facts);
    CHECK(ids.insert(facts.id).second);
    CHECK_FALSE(facts.caption.empty());
    CHECK_FALSE(facts.explanation.empty());
  }
}

TEST_CASE("fields of the question say what the rows of options say, in the order of the window") {
  std::string captions;
  for (const FieldFacts& facts : all_fields())
    if (facts.axis == nullptr) captions += facts.id + ": " + std::string(facts.caption) + ", ";
  CHECK(captions ==
        "model: Model, machine: Cluster, gpus: GPUs, seq_len: Sequence, global_batch: Global batch, tokens: Tokens, "
        "objective: Objective, precision: Precision, optimizer: Optimizer, lora_rank: LoRA rank, stack: Stack, "
        "framework: Framework, headroom: Headroom, price: Price, days: Deadline, budget: Budget, ");
  CHECK(facts_of(Field::gpus).explanation == "how many GPUs; empty: all of a machine file, else one node");
  CHECK(facts_of(Field::batch).explanation == "sequences (or images) of one optimizer step over all GPUs");
  CHECK(facts_of(Field::framework).flag == "--for");
  CHECK(facts_of(Field::framework).explanation == "only what this framework can launch; any: no limits");
  CHECK(facts_of(Field::sequence).where == "sequence length");
}

TEST_CASE("constraints are the axes whose rows have a caption, in their order") {
  std::vector<std::string> captions;
  for (const FieldFacts& facts : all_fields())
    if (facts.axis != nullptr) {
      captions.push_back(facts.id + ": " + std::string(facts.caption) + ", " + facts.placeholder);
      CHECK(field_of(facts.axis->flag) == facts.field);
      CHECK(facts.group == FieldGroup::constraints);
    }
  CHECK(captions == std::vector<std::string>{"tp: TP, free", "pp: PP, free", "dp: DP, free", "cp: CP, free",
                                             "cp_comm: CP by, ring", "ep: EP, free", "zero: ZeRO, free",
                                             "micro_batch: Micro-batch, free", "schedule: Schedule, free",
                                             "recompute: Recompute, free"});
  CHECK(facts_of(field_of("--zero")).explanation == "ZeRO stage, 0 to 3");
  CHECK(facts_of(field_of("--cp-comm")).explanation ==
        "how context-parallel ranks attend to all tokens: ring, all-to-all or both");
}

TEST_CASE("a form asks what the flags of the command line ask") {
  QuestionForm form = small_form();
  form[Field::sequence] = " 1K ";
  form[field_of("--tp")] = "<=2";
  form[Field::precision] = "bf16,fp16";
  const session::SearchRequest request = search_request(form);
  CHECK(request.question.model == "gpt2");
  CHECK(request.question.devices == 8);
  CHECK(request.question.training.sequence_length == 1024);
  CHECK(request.recipes.precisions.size() == 2);
  CHECK(request.fixes == "tp=1|2,zero=0");
}

TEST_CASE("a deadline and a budget are limits of a run whose length is known") {
  QuestionForm form = small_form();
  form[Field::deadline] = "30";
  form[Field::budget] = "250K";
  CHECK_THROWS_WITH(search_request(form), Catch::Matchers::ContainsSubstring("--tokens: is missing"));
  form[Field::tokens] = "1T";
  CHECK(search_request(form).question.training.token_budget == 1'000'000'000'000);
  const session::RunLimits limits = run_limits(form);
  CHECK(limits.days == 30);
  CHECK(limits.budget == Dollars(250'000));
  form[Field::objective] = "tokens-per-dollar";
  CHECK(search_request(form).objective == Objective::tokens_per_dollar);
}

TEST_CASE("each wrong value is known by its field, all at once, in the words of the command line") {
  QuestionForm form = small_form();
  form[Field::gpus] = "many";
  form[field_of("--zero")] = "5";
  form[Field::precision] = "bf17";
  const std::vector<Refusal> all = refusals(form);
  REQUIRE(all.size() == 3);
  CHECK(all[0].field == Field::gpus);
  CHECK(all[0].words.starts_with("--gpus: \"many\" is not a whole number in range; expected from 1 to "));
  CHECK(all[1].field == Field::precision);
  CHECK(all[1].words.starts_with("--precision: \"bf17\" is unknown; expected one of "));
  CHECK(all[2].field == field_of("--zero"));
}

TEST_CASE("each field is refused where its own text is wrong") {
  for (const FieldFacts& facts : all_fields()) {
    if (facts.field == Field::model || facts.field == Field::machine || facts.field == Field::stack) continue;
    QuestionForm form;
    form[facts.field] = "?!";
    INFO(facts.id);
    REQUIRE(refusals(form).size() == 1);
    CHECK(refusals(form).front().field == facts.field);
  }
}

TEST_CASE("what only the catalogue knows is refused by its field too") {
  const auto field_refused = [](Field field, const char* text) {
    QuestionForm form = small_form();
    form[field] = text;
    try {
      (void)session::prepare_search(search_request(form));
    } catch (const InputError& error) {
      return refusal_of(error, form).field;
    }
    return std::optional<Field>();
  };
  CHECK(field_refused(Field::model, "gpt-none") == Field::model);
  CHECK(field_refused(Field::model, "/nowhere/config.json") == Field::model);
  CHECK(field_refused(Field::machine, "dgx-none") == Field::machine);
  CHECK(field_refused(Field::gpus, "12") == Field::gpus);
  CHECK(field_refused(Field::stack, "no-such-stack") == Field::stack);
  CHECK(field_refused(Field::headroom, "99999GiB") == Field::headroom);
}

TEST_CASE("a plan's question searched again is the same question") {
  const session::SearchAnswer answer = session::search(search_request(small_form()));
  REQUIRE_FALSE(answer.plans.empty());
  const QuestionForm form = form_of(answer.plans.front());
  CHECK(words_of_first(form).empty());
  const QuestionText text = search_request(form).question;
  CHECK(text.model == "gpt2");
  CHECK(text.devices == 8);
  CHECK(text.training.global_batch == 64);
}

TEST_CASE("every example is a question that can be searched") {
  for (const Example& example : examples()) {
    INFO(example.title.toStdString());
    CHECK(refusals(example.form).empty());
    CHECK_NOTHROW(session::prepare_search(search_request(example.form)));
  }
}

}  // namespace plumbline::gui

#include "gui/question/command_text.h"

#include "core/base/errors.h"
#include "planner/session/search/search.h"
#include "tests/catch.h"
#include "tests/gui/forms.h"

namespace plumbline::gui::command_text_test {

TEST_CASE("a question is a command line and a call of Python") {
  QuestionForm form = small_form();
  form[Field::model] = "my models/it's.json";
  form[field_of("--tp")] = "<=2";
  form[Field::framework] = "megatron-lm";
  form[Field::deadline] = "30";
  CHECK(search_command(form) ==
        "plan search --model 'my models/it'\\''s.json' --machine dgx-h100 --gpus 8 --global-batch 64 "
        "--for megatron-lm --fix 'tp=1|2,zero=0'");
  CHECK(search_python(form) ==
        "plumbline.search(model=\"my models/it's.json\", machine=\"dgx-h100\", gpus=8, global_batch=64, "
        "for_=\"megatron-lm\", fix=\"tp=1|2,zero=0\")");
}

TEST_CASE("a command line becomes the question that it asks") {
  QuestionForm form = small_form();
  form[Field::model] = "my models/it's.json";
  form[field_of("--tp")] = "1,2";
  CHECK(form_of_command(search_command(form)) == form);
  const char* const pasted =
      "$ plan size --model=gpt2 --machine dgx-h100 \\\n  --global-batch \"64\" --days 30 --tokens 1T "
      "--tp 4 --json --out plan.json\n";
  CHECK(is_command(pasted));
  const QuestionForm read = form_of_command(pasted);
  CHECK(read[Field::model] == "gpt2");
  CHECK(read[Field::batch] == "64");
  CHECK(read[Field::deadline] == "30");
  CHECK(read[field_of("--tp")] == "4");
  CHECK(form_of_command("plan search --model gpt2 --gpus 8 | less")[Field::model] == "gpt2");
  CHECK_FALSE(is_command("plan"));
  CHECK_FALSE(is_command("gpt2"));
}

TEST_CASE("a command line that the window cannot ask is refused by what is wrong") {
  const auto words_of = [](const char* text) {
    try {
      (void)form_of_command(text);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(words_of("plan search --modle gpt2").starts_with("--modle: has no field"));
  CHECK(words_of("plan search --model").starts_with("--model: has no value"));
  CHECK(words_of("plan search --model 'gpt2").find("the quote is not closed") != std::string::npos);
  CHECK(words_of("plan search --fix nonsense=2").starts_with("--fix nonsense=2"));
}

TEST_CASE("a plan of a search is the command that prices it, and its values can be left out") {
  const session::SearchAnswer answer = session::search(search_request(small_form()));
  const Plan& plan = answer.plans.front();
  const std::string command = estimate_command(small_form(), plan);
  CHECK(command.starts_with("plan estimate --model gpt2 --machine dgx-h100 --global-batch 64 --gpus 8"));
  CHECK(command.find(" --micro-batch ") != std::string::npos);
  CHECK(command.find("--fix") == std::string::npos);
  CHECK(others_than(strategy_axis("--zero"), plan) == "1,2,3");
  const StrategyAxis& tensor_parallel = strategy_axis("--tp");
  CHECK(("," + others_than(tensor_parallel, plan).value_or("") + ",")
            .find("," + tensor_parallel.text(plan.strategy) + ",") == std::string::npos);
  CHECK_FALSE(others_than(strategy_axis("--recompute"), plan));  // of more values than can be listed
}

}  // namespace plumbline::gui::command_text_test

#include "gui/dock/cluster_words.h"

#include "tests/catch.h"
#include "tests/gui/forms.h"

namespace plumbline::gui {

TEST_CASE("the GPUs of a question are said as nodes of its cluster") {
  const auto words = [](const char* machine, const char* gpus) {
    QuestionForm form = small_form();
    form[Field::machine] = machine;
    form[Field::gpus] = gpus;
    return cluster_words(form);
  };
  CHECK(words("dgx-h100", "") == "1 node of 8 GPUs");
  CHECK(words("dgx-h100", "64") == "8 nodes of 8 GPUs");
  CHECK(words("dgx-h100", "2") == "1 node of 2 GPUs");
  CHECK(words("dgx-h100", "1") == "1 node of 1 GPU");
  CHECK(words("dgx-h100", "12").isEmpty());  // a node partly used, which the search refuses in its words
  CHECK(words("no-such-machine", "8").isEmpty());
  CHECK(words("", "8").isEmpty());
}

}  // namespace plumbline::gui

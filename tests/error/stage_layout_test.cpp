// A layout of pipeline chunks is refused in one line, however it was made to exhaust the machine.

#include "planner/validate/stage_layout.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline::stage_layout_test {
namespace {

std::string refusal(const std::string& text) {
  try {
    (void)stage_layout_from_text(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("a text that is neither numbers nor a layout is refused") {
  CHECK(refusal("Ex|L") ==
        "layers_per_stage: \"Ex|L\" is no split of layers; expected numbers (4,4,3) or a layout (Et*4|(t*4|)*2tmL)");
  for (const char* wrong : {"E(t|L", "t*|L", "t)", "t*0", "t*-1", "t*99999999999999999999", "(", ")", "4,x"})
    CHECK(refusal(wrong).find("is no split of layers") != std::string::npos);
  CHECK(refusal("4,,4") == "layers_per_stage: \"4,,4\" is no list of numbers; expected 4,4,3");
  CHECK(refusal("4,99999999999").find("is no list of numbers") != std::string::npos);
}

// 10^10 symbols, and 10^5 to the sixth: neither is ever written out.
TEST_CASE("a layout that would fill the memory is refused before it is written out") {
  const std::string words = " is too long once it is written out; expected at most 100000 symbols";
  CHECK(refusal("(t*100000)*100000") == "layers_per_stage: \"(t*100000)*100000\"" + words);
  CHECK(refusal("t*100000t") == "layers_per_stage: \"t*100000t\"" + words);
  CHECK(refusal(repeated("(", 5) + "t" + repeated("*100000)", 5) + "*100000").find(words) != std::string::npos);
  CHECK(refusal("t*100000") == "accepted");
  CHECK(refusal(repeated("()*100000", 100'000)) == "accepted");
}

TEST_CASE("a layout whose groups nest too deep is refused") {
  CHECK(refusal(repeated("(", 16) + "t" + repeated(")", 16)) == "accepted");
  const std::string words = " nests its groups too deep; expected at most 16 groups in one another";
  CHECK(refusal(repeated("(", 17) + "t" + repeated(")", 17)) ==
        "layers_per_stage: \"(((((((((((((((((t)))))))))))))))))\"" + words);
  CHECK(refusal(repeated("(", 5'000'000)) == "layers_per_stage: \"" + repeated("(", 57) + "...\"" + words);
}

}  // namespace plumbline::stage_layout_test

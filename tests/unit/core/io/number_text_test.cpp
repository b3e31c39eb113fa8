// A number of a flag, read as in JSON.

#include "core/io/number_text.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

std::string refusal(const std::string& text) {
  try {
    return std::to_string(number_from_text("--clip", text, 0, 10));
  } catch (const InputError& error) {
    return error.problem().where;
  }
}

TEST_CASE("a number in range is read, and what is none is refused by the flag's name") {
  CHECK(number_from_text("--clip", "1", 0, 10) == 1);
  CHECK(number_from_text("--clip", "2.5e-1", 0, 10) == 0.25);
  for (const char* text : {"11", "-1", "one", "", "1 2", "nan", "[1]"}) CHECK(refusal(text) == "--clip");
}

}  // namespace
}  // namespace plumbline

#include "core/io/value_text.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

std::string refusal_of_value(const std::function<void()>& read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a whole number takes the letters of thousands, a sequence those of 1024") {
  CHECK(whole_number("--tokens", "15T", 1, 1'000'000'000'000'000) == 15'000'000'000'000);
  CHECK(sequence_length("--seq-len", "8K", 1 << 20) == 8192);
  CHECK(sequence_length("--seq-len", "8000", 1 << 20) == 8000);
}

TEST_CASE("a value that is refused names the flag, the text and the range") {
  CHECK(refusal_of_value([] { (void)whole_number("--gpus", "many", 1, 64); }) ==
        "--gpus: \"many\" is not a whole number in range; expected from 1 to 64, K, M, B, T allowed");
  CHECK(refusal_of_value([] { (void)list_of("--precision", "bf16,,fp8"); }) ==
        "--precision: an empty part in \"bf16,,fp8\"; expected parts apart by commas");
  CHECK(refusal_of_value([] {
          refuse_choice("--ranks", "locl", {"local", "mpi"});
        }) == "--ranks: \"locl\" is unknown; expected one of local, mpi; nearest: local");
}

TEST_CASE("a value of another program leads to ours where it is one of the names") {
  const auto nearest = [](const std::string& text, const std::vector<std::string>& names) {
    try {
      refuse_choice("--x", text, names);
    } catch (const InputError& error) {
      return error.problem().nearest;
    }
  };
  CHECK(nearest("bfloat16", {"fp32", "bf16"}) == "bf16");
  CHECK(nearest("float16", {"fp32", "fp16"}) == "fp16");
  CHECK(nearest("bfloat16", {"adam", "sgd"}) != "bf16");
  CHECK(nearest("", {"on", "off"}).empty());
}

}  // namespace plumbline

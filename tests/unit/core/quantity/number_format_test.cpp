#include "core/quantity/number_format.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

static_assert(storage(3, NumberFormat::bf16) == Bytes(6));
static_assert(storage(3, NumberFormat::fp4) == Bytes(2), "half bytes round up to whole ones");
static_assert(bits(NumberFormat::tf32) == 32, "tf32 multiplies with 19 bits and is stored as fp32");

TEST_CASE("every number format is read back from its own name") {
  for (const NumberFormat format : all_number_formats) {
    CHECK(number_format_from_text(to_text(format)) == format);
    CHECK(bits(format) > 0);
  }
}

TEST_CASE("names that are no format are not guessed") {
  CHECK_FALSE(number_format_from_text("float"));
  CHECK_FALSE(number_format_from_text("BF16"));
  CHECK_FALSE(number_format_from_text(""));
}

}  // namespace
}  // namespace plumbline

#include "core/base/strong_id.h"

#include <type_traits>

#include "tests/catch.h"

namespace plumbline {
namespace {

using OpIndex = StrongId<struct OpIndexTag>;
using TensorIndex = StrongId<struct TensorIndexTag>;

static_assert(!std::is_convertible_v<std::int32_t, OpIndex>, "a plain number is no id");
static_assert(!std::is_convertible_v<OpIndex, TensorIndex>, "an id of one thing is no id of another");
static_assert(!std::is_constructible_v<OpIndex, TensorIndex>);

TEST_CASE("a default id names nothing") {
  CHECK_FALSE(OpIndex().is_valid());
  CHECK(OpIndex(0).is_valid());
}

TEST_CASE("ids order by index") {
  CHECK(OpIndex(1) < OpIndex(2));
  CHECK(OpIndex(7) == OpIndex(7));
  CHECK(OpIndex(7).index() == 7);
}

}  // namespace
}  // namespace plumbline

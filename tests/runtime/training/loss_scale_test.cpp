#include "runtime/training/loss_scale.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

void require_rule(const LossScaleRule& rule) { require_valid(rule); }

TEST_CASE("Rules and states of a loss scale that make no sense are refused") {
  CHECK_THROWS_AS(require_rule({3, 1, 8, 1}), InputError);
  CHECK_THROWS_AS(require_rule({16, 1, 8, 1}), InputError);
  CHECK_THROWS_AS(require_rule({4, 8, 16, 1}), InputError);
  CHECK_THROWS_AS(require_rule({4, 1, 16, 0}), InputError);
  CHECK_THROWS_AS(require_valid(LossScaleState{5, 0, 0}), InputError);
  CHECK_THROWS_AS(require_valid(LossScaleState{4, -1, 0}), InputError);
  CHECK_NOTHROW(require_rule({}));
  CHECK_NOTHROW(require_valid(LossScaleState{4, 1, 0}));
}

}  // namespace
}  // namespace plumbline

#include "core/cost/point_to_point.h"

#include "models/machine_catalog.h"
#include "tests/catch.h"

using namespace plumbline;
using Catch::Matchers::WithinAbs;

// Eight draws among two nodes: 2 (1 - 1/2^8) = 1.9922 different ones; among eight ranks: 8 (1 - (7/8)^8) = 5.2511.
TEST_CASE("A token that is sent once crosses to each node that has experts of it") {
  const Cluster two = with_device_count(find_machine("dgx-h100"), 16);
  CHECK_THAT(share_sent_once(8, group_span(16, 1, two)), WithinAbs(1.9922 / 8, 1e-4));
  const Cluster one = with_device_count(find_machine("dgx-h100"), 8);
  CHECK_THAT(share_sent_once(8, group_span(8, 1, one)), WithinAbs(5.2511 / 8, 1e-4));
  CHECK_THAT(share_sent_once(1, group_span(8, 1, one)), WithinAbs(1, 1e-12));
}

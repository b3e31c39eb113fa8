#include "core/program/memory_profile.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

/// Saves 10, of which weight gradients need 4, and acts with 3, 7, 6 and 2.
MemoryProfile layer() {
  MemoryProfile profile;
  profile.saved = Bytes(10);
  profile.kept_for_weight = Bytes(4);
  profile.deferred = Bytes(1);
  profile.working = {Bytes(3), Bytes(7), Bytes(6), Bytes(2)};
  return profile;
}

MemoryProfile head() {
  MemoryProfile profile;
  profile.saved = Bytes(2);
  profile.logits = Bytes(5);
  profile.late_logits = Bytes(5);
  profile.working = {Bytes(4), Bytes(4), Bytes(4), Bytes(9)};
  return profile;
}

TEST_CASE("blocks one after another keep the sum of what each keeps, and the largest of their working sets") {
  MemoryProfile both;
  both.add(layer(), 3, Bytes(0));
  both.add(head(), 1, Bytes(0));
  CHECK(both.saved == Bytes(3 * 10 + 2));
  CHECK(both.kept_for_weight == Bytes(3 * 4));
  CHECK(both.dropped() == Bytes(3 * 6 + 2));
  CHECK(both.deferred == Bytes(3));
  CHECK(both.logits == Bytes(5));
  CHECK(both.late_logits == Bytes(5));
  CHECK(both.working == WorkingSets{Bytes(4), Bytes(7), Bytes(6), Bytes(9)});
}

TEST_CASE("a layer's working sets lie where logits were, but for those of split backwards") {
  MemoryProfile stage;
  stage.add(layer(), 1, Bytes(5));
  CHECK(stage.working == WorkingSets{Bytes(0), Bytes(2), Bytes(6), Bytes(2)});
}

TEST_CASE("a result that goes on stays until the weight gradients") {
  MemoryProfile profile = layer();
  profile.keep_output(Bytes(8));
  CHECK(profile.saved == Bytes(18));
  CHECK(profile.dropped() == layer().dropped());
}

TEST_CASE("what waits on the host is saved there, and is a part of each working set that reads or writes it") {
  MemoryProfile profile = layer();
  profile.move_to_host(2);
  CHECK(profile.saved == Bytes(0));
  CHECK(profile.on_host == Bytes(20));
  CHECK(profile.working == WorkingSets{Bytes(13), Bytes(17), Bytes(16), Bytes(2)});
  CHECK(profile.deferred == Bytes(1 + 4));
  CHECK(profile.kept_for_weight == Bytes(0));
}

TEST_CASE("whole backwards defer nothing") {
  MemoryProfile all;
  all.add(layer(), 1, Bytes(0));
  all.add(head(), 1, Bytes(0));
  const MemoryProfile whole = all.of_whole_backward();
  CHECK(whole.saved == all.saved);
  CHECK(whole.logits == all.logits);
  CHECK(whole.dropped() == whole.saved);
  CHECK(whole.deferred + whole.late_logits == Bytes(0));
  CHECK(whole.working == WorkingSets{Bytes(4), Bytes(7), Bytes(0), Bytes(0)});
}

TEST_CASE("a part exchanged for itself changes nothing, for another the difference") {
  MemoryProfile profile = layer();
  profile.exchange(head(), head());
  CHECK(profile == layer());
  profile.exchange(layer(), head());
  CHECK(profile == head());
}

}  // namespace
}  // namespace plumbline

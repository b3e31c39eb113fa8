#include "gui/pages/shared/memory_axis.h"

#include "tests/catch.h"

namespace plumbline::gui {
namespace {

TEST_CASE("an axis of memory ends at the device, or at what is held where that would be a line at the bottom") {
  CHECK(memory_axis_end(60_GiB, 80_GiB) == 80_GiB);
  CHECK(memory_axis_end(10_GiB, 80_GiB) == 80_GiB);
  CHECK(memory_axis_end(9_GiB, 80_GiB) == 9_GiB);
  CHECK(memory_axis_end(90_GiB, 80_GiB) == 90_GiB);  // more than the device has is seen too
  CHECK(memory_axis_end(Bytes(0), 80_GiB) > Bytes(0));
}

TEST_CASE("marks of memory are round, begin at nothing, end within the axis and are in the unit that reads") {
  for (const std::int64_t mebibytes : {1, 3, 75, 500, 1023, 1024, 3000, 80 * 1024, 141 * 1024}) {
    const Bytes end(mebibytes * (1_MiB).value());
    const std::vector<MemoryMark> marks = memory_marks(end, 5);
    INFO(mebibytes << " MiB");
    REQUIRE(marks.size() >= 3);
    CHECK(marks.size() <= 12);
    CHECK(marks.front().at == Bytes(0));
    CHECK(marks.back().at <= end);
    const Bytes unit = mebibytes < 1024 ? 1_MiB : 1_GiB;
    for (const MemoryMark& mark : marks) {
      CHECK(mark.words.endsWith(mebibytes < 1024 ? " MiB" : " GiB"));
      CHECK(mark.words.section(' ', 0, 0).toDouble() == Approx(mark.at / unit));
    }
  }
}

}  // namespace
}  // namespace plumbline::gui

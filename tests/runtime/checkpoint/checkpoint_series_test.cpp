// What a run means to write, and what it may go on from.
#include <filesystem>

#include "runtime/checkpoint/checkpoint_series.h"

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

TEST_CASE("A run writes a checkpoint every so many of its steps and one after the last") {
  // Steps 10 to 16 of a training: behind the third, the sixth and the seventh step of the run.
  const CheckpointSeries series{"state", 10, 7, 3};
  CHECK(series.count() == 3);
  std::vector<std::int64_t> numbers;
  for (std::int64_t n = 0; n < 30; ++n)
    if (series.writes(n)) numbers.push_back(n);
  CHECK(numbers == std::vector<std::int64_t>{13, 16, 17});
  CHECK(CheckpointSeries{"state", 0, 6, 3}.count() == 2);
  CHECK(CheckpointSeries{"state", 0, 6, 0}.count() == 1);
  CHECK(CheckpointSeries{"state", 0, 6, 0}.writes(6));
}

TEST_CASE("A disk has room for all checkpoints of a run, or is refused") {
  const CheckpointSeries series{"state", 0, 4, 1};
  CHECK_FALSE(missing_room(series, Bytes(100), Bytes(400)));
  CHECK(missing_room(series, Bytes(100), Bytes(399)) ==
        "state: has room for 399 B; 4 checkpoints of this run need 100 B each");
  CHECK(missing_room({"state", 0, 4, 0}, Bytes(200), Bytes(199)) ==
        "state: has room for 199 B; the checkpoint of this run needs 200 B");
  // 4 000 000 000 times 4 000 000 000 bytes do not overflow.
  CHECK(missing_room({"state", 0, 4'000'000'000, 1}, Bytes(4'000'000'000), Bytes(1)));
}

TEST_CASE("A folder that holds a checkpoint of the series is refused, another's is not") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "step-00000004");
  std::filesystem::create_directories(folder / "step-00000003.partial");
  CHECK_NOTHROW(require_room({folder.path(), 4, 3, 1}, Bytes(1)));
  CHECK_NOTHROW(require_room({folder.path(), 2, 1, 1}, Bytes(1)));
  CHECK_THROWS_AS(require_room({folder.path(), 3, 3, 1}, Bytes(1)), InputError);
  CHECK_NOTHROW(require_room({folder / "new" / "folder", 0, 1, 0}, Bytes(1)));
  CHECK(std::filesystem::is_directory(folder / "new" / "folder"));
}

}  // namespace
}  // namespace plumbline

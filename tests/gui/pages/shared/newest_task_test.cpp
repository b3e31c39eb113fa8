// Work on another thread: only the newest request is shown.
#include "gui/pages/shared/newest_task.h"

#include <QSignalSpy>
#include <QTest>
#include <atomic>
#include <stdexcept>

#include "tests/catch.h"

namespace plumbline::gui {
namespace {

TEST_CASE("an answer is shown on the thread that asked") {
  NewestTask task;
  std::thread::id worked;
  std::thread::id shown;
  task.start([&](const StopRequest&) {
    worked = std::this_thread::get_id();
    return [&] { shown = std::this_thread::get_id(); };
  });
  CHECK(task.is_busy());
  REQUIRE(QTest::qWaitFor([&] { return !task.is_busy(); }));
  CHECK(shown == std::this_thread::get_id());
  CHECK(worked != shown);
}

TEST_CASE("of quick successive requests the last one alone is shown") {
  NewestTask task;
  std::vector<int> shown;
  for (int i = 0; i < 50; ++i)
    task.start([&shown, i](const StopRequest&) { return [&shown, i] { shown.push_back(i); }; });
  REQUIRE(QTest::qWaitFor([&] { return !task.is_busy(); }));
  QTest::qWait(20);
  CHECK(shown == std::vector<int>{49});
}

TEST_CASE("a newer request asks the running one to stop") {
  NewestTask task;
  std::atomic<bool> was_stopped = false;
  std::atomic<bool> is_running = false;
  task.start([&](const StopRequest& stop) -> NewestTask::Show {
    is_running = true;
    while (!stop.stop_requested()) std::this_thread::yield();
    was_stopped = true;
    return [] { FAIL("an answer that was asked for before the newest is shown"); };
  });
  REQUIRE(QTest::qWaitFor([&] { return is_running.load(); }));
  bool shown = false;
  task.start([&](const StopRequest&) { return [&] { shown = true; }; });
  REQUIRE(QTest::qWaitFor([&] { return shown; }));
  CHECK(was_stopped);
}

TEST_CASE("after a cancel nothing is shown") {
  NewestTask task;
  bool shown = false;
  task.start([&](const StopRequest&) { return [&] { shown = true; }; });
  task.cancel();
  CHECK_FALSE(task.is_busy());
  QTest::qWait(50);
  CHECK_FALSE(shown);
}

TEST_CASE("what is thrown becomes one message") {
  NewestTask task;
  const QSignalSpy failures(&task, &NewestTask::failed);
  task.start([](const StopRequest&) -> NewestTask::Show { throw std::runtime_error("no such model"); });
  REQUIRE(QTest::qWaitFor([&] { return !task.is_busy(); }));
  REQUIRE(failures.count() == 1);
  CHECK(failures.front().front().toString() == "no such model");
}

}  // namespace
}  // namespace plumbline::gui

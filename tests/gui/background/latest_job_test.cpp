#include "gui/background/latest_job.h"

#include <atomic>
#include <chrono>
#include <stdexcept>

#include "tests/catch.h"
#include "tests/gui/waiting.h"

namespace plumbline::gui {
namespace {

/// Ends when it is asked to, and then still delivers.
LatestJob::Work until_stopped(int& delivered, int value) {
  return [&delivered, value](const LatestJob::Context& context) -> LatestJob::Delivery {
    while (!context.stop().stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return [&delivered, value] { delivered = value; };
  };
}

}  // namespace

TEST_CASE("work delivers on the thread that started it") {
  LatestJob job;
  std::thread::id ran, delivered;
  job.start([&](const LatestJob::Context&) -> LatestJob::Delivery {
    ran = std::this_thread::get_id();
    return [&] { delivered = std::this_thread::get_id(); };
  });
  CHECK(job.is_busy());
  REQUIRE(wait_for([&] { return !job.is_busy(); }));
  CHECK(delivered == std::this_thread::get_id());
  CHECK(ran != delivered);
}

TEST_CASE("of quick successive starts only the last delivers") {
  LatestJob job;
  std::vector<int> delivered;
  for (int i = 0; i < 50; ++i)
    job.start([&delivered, i](const LatestJob::Context&) -> LatestJob::Delivery {
      return [&delivered, i] { delivered.push_back(i); };
    });
  REQUIRE(wait_for([&] { return !job.is_busy(); }));
  QTest::qWait(20);
  CHECK(delivered == std::vector<int>{49});
}

TEST_CASE("what is stopped delivers what it has, what is abandoned nothing") {
  LatestJob job;
  int delivered = 0;
  job.start(until_stopped(delivered, 1));
  job.stop();
  REQUIRE(wait_for([&] { return !job.is_busy(); }));
  CHECK(delivered == 1);
  job.start(until_stopped(delivered, 2));
  job.abandon();
  CHECK_FALSE(job.is_busy());
  QTest::qWait(50);
  CHECK(delivered == 1);
}

TEST_CASE("a newer start asks the running work to stop, and runs after it") {
  LatestJob job;
  int stopped = 0, delivered = 0;
  std::atomic<bool> is_running = false;
  job.start([&](const LatestJob::Context& context) -> LatestJob::Delivery {
    is_running = true;
    return until_stopped(stopped, 1)(context);
  });
  REQUIRE(wait_for([&] { return is_running.load(); }));
  job.start([&](const LatestJob::Context&) -> LatestJob::Delivery { return [&] { ++delivered; }; });
  REQUIRE(wait_for([&] { return delivered == 1; }));
  CHECK(stopped == 0);
}

TEST_CASE("progress of earlier work is dropped") {
  LatestJob job;
  int posted = 0, delivered = 0;
  job.start([&](const LatestJob::Context& context) -> LatestJob::Delivery {
    context.post([&] { ++posted; });
    return {};
  });
  job.start([&](const LatestJob::Context&) -> LatestJob::Delivery { return [&] { ++delivered; }; });
  REQUIRE(wait_for([&] { return !job.is_busy(); }));
  QTest::qWait(20);
  CHECK(posted == 0);
  CHECK(delivered == 1);
}

TEST_CASE("what work throws is said, and the next work runs") {
  LatestJob job;
  QString words;
  QObject::connect(&job, &LatestJob::failed, [&](const QString& failure) { words = failure; });
  job.start([](const LatestJob::Context&) -> LatestJob::Delivery { throw std::runtime_error("no disk"); });
  REQUIRE(wait_for([&] { return !job.is_busy(); }));
  CHECK(words == "no disk");
  int delivered = 0;
  job.start([&](const LatestJob::Context&) -> LatestJob::Delivery { return [&] { ++delivered; }; });
  REQUIRE(wait_for([&] { return !job.is_busy(); }));
  CHECK(delivered == 1);
}

TEST_CASE("a job that ends while work runs waits for it and delivers nothing") {
  int delivered = 0;
  {
    LatestJob job;
    job.start(until_stopped(delivered, 1));
  }
  QTest::qWait(20);
  CHECK(delivered == 0);
}

}  // namespace plumbline::gui

// A process that works and one that says what became of it: each case runs in a process of its own.
#include "runtime/run/watched_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>

#include "tests/catch.h"

namespace plumbline {
namespace {

/// What `body` says to a pipe, in a process that ends behind it.
std::string said_by(const std::function<std::string()>& body) {
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  const pid_t process = ::fork();
  if (process == 0) {
    std::signal(SIGTERM, SIG_DFL);  // not as the tests have it
    const std::string text = body();
    ::_exit(::write(pipe[1], text.data(), text.size()) < 0 ? 1 : 0);
  }
  ::close(pipe[1]);
  std::array<char, 1000> text{};
  const ssize_t size = ::read(pipe[0], text.data(), text.size());
  ::close(pipe[0]);
  ::waitpid(process, nullptr, 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(0, size))};
}

/// How a child that does `work` ended, and its last note.
std::string end_of(const std::function<void(SharedNote&)>& work) {
  return said_by([&] {
    SharedNote note("begun");
    const auto end = fork_and_watch(note);
    if (!end) {
      work(note);
      ::_exit(7);
    }
    return std::to_string(end->exit_code) + ' ' + std::to_string(end->signal) + (end->was_asked_to ? " asked " : " ") +
           std::string(note.text());
  });
}

TEST_CASE("A child's exit code, its signal and its last note are what its parent sees") {
  CHECK(end_of([](SharedNote&) {}) == "7 0 begun");
  CHECK(end_of([](SharedNote& note) { note.write("half of it"); }) == "7 0 half of it");
  CHECK(end_of([](SharedNote& note) {
          note.write("one");
          note.write("two");
          std::raise(SIGKILL);
        }) == "0 9 two");
}

TEST_CASE("A parent that is asked to end asks its child") {
  CHECK(end_of([](SharedNote& note) {
          note.write("working");
          ::kill(::getppid(), SIGTERM);
          ::sleep(20);
        }) == "0 15 asked working");
}

TEST_CASE("A note that is too long is cut") {
  SharedNote note(std::string(2000, 'x'));
  CHECK(note.text() == std::string(SharedNote::most_characters, 'x'));
}

}  // namespace
}  // namespace plumbline

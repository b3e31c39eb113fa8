#include "core/io/line_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

constexpr auto never = [] { return false; };
constexpr auto at_once = [] { return true; };

struct Pipe {
  Pipe() {
    REQUIRE(::pipe(ends.data()) == 0);
    std::signal(SIGPIPE, SIG_IGN);  // of a thread that still writes when the pipe is closed
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(0);
    close(1);
  }
  void close(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  /// What is in it, until it is closed or, with O_NONBLOCK, empty.
  [[nodiscard]] std::string content() const {
    std::string all;
    std::array<char, 4096> part{};
    for (ssize_t size = 0; (size = ::read(ends[0], part.data(), part.size())) > 0;)
      all.append(part.data(), static_cast<std::size_t>(size));
    return all;
  }
  std::array<int, 2> ends{-1, -1};
};

std::string line_of(int number) {
  std::string line = std::to_string(number);
  return line + std::string(999 - line.size(), '.') + "\n";
}

TEST_CASE("lines that nobody reads yet do not hold up whoever writes them, and come in order") {
  Pipe pipe;  // of 64 KiB, for 1 MB
  std::string expected;
  std::string read;
  std::thread reader;
  {
    LineWriter writer(pipe.ends[1], "output");
    for (int i = 0; i < 1000; ++i) {
      writer.write(line_of(i));
      expected += line_of(i);
    }
    reader = std::thread([&] { read = pipe.content(); });
    writer.finish(never);
    CHECK(writer.unwritten() == 0);
    CHECK_NOTHROW(writer.require_written());
  }
  pipe.close(1);
  reader.join();
  CHECK(read == expected);
}

TEST_CASE("lines that nobody reads are given up when the program is to stop, and none is cut") {
  Pipe pipe;
  ::fcntl(pipe.ends[0], F_SETFL, O_NONBLOCK);
  std::string read;
  std::int64_t unwritten = 0;
  {
    LineWriter writer(pipe.ends[1], "output");
    for (int i = 0; i < 1000; ++i) writer.write(line_of(i));
    writer.finish(at_once);
    unwritten = writer.unwritten();
    CHECK_THROWS_WITH(writer.require_written(),
                      "output: cannot be written: nobody read " + std::to_string(unwritten) + " lines");
    read = pipe.content();  // where the thread's write may end, too
  }
  CHECK(unwritten > 0);
  CHECK(static_cast<std::int64_t>(read.size()) >= (1000 - unwritten) * 1000);
  CHECK(read.size() % 1000 == 0);
}

TEST_CASE("lines beyond the bound of memory are dropped and counted") {
  Pipe pipe;
  LineWriter writer(pipe.ends[1], "output", 10'000);
  for (int i = 0; i < 1000; ++i) writer.write(line_of(i));
  // 64 KiB in the pipe, one line in the thread's hand, ten wait.
  CHECK(writer.unwritten() > 900);
}

TEST_CASE("a descriptor that is closed is refused at once") {
  CHECK_THROWS_WITH(LineWriter(-1, "standard output"), "standard output: cannot be written: Bad file descriptor");
}

TEST_CASE("a line that cannot be written is an error of the next one") {
  const int full = ::open("/dev/full", O_WRONLY);
  if (full < 0) return;
  {
    LineWriter writer(full, "standard output");
    writer.write("one\n");
    writer.finish(never);
    CHECK_THROWS_WITH(writer.write("two\n"), "standard output: cannot be written: No space left on device");
    CHECK_THROWS_AS(writer.require_written(), EnvironmentError);
  }
  ::close(full);
}

}  // namespace
}  // namespace plumbline

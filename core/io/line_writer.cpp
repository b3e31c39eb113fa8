#include "core/io/line_writer.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string_view>
#include <system_error>

#include "core/base/errors.h"

namespace plumbline {
namespace {

using Clock = std::chrono::steady_clock;

/// 0, or the error.
int write_whole(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // whoever started this process left the descriptor without blocking
      pollfd ready{descriptor, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

struct LineWriter::Lines {
  /// Of a copy of the descriptor, which the last one to need it closes.
  Lines(int file, std::size_t most) : descriptor(::dup(file)), most_waiting(most) {}
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() {
    if (descriptor >= 0) ::close(descriptor);
  }

  void write_until_closed();
  [[nodiscard]] bool is_idle() const { return waiting.empty() && !is_writing; }

  const int descriptor;
  const std::size_t most_waiting;
  mutable std::mutex mutex;  ///< over all below
  std::condition_variable changed;
  std::deque<std::string> waiting;
  std::size_t waiting_bytes = 0;
  std::int64_t written = 0;
  std::int64_t dropped = 0;
  int error = 0;  ///< of the system
  bool is_writing = false;
  bool is_closed = false;
};

void LineWriter::Lines::write_until_closed() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return is_closed || !waiting.empty(); });
    if (is_closed) return;
    const std::string line = std::move(waiting.front());
    waiting.pop_front();
    waiting_bytes -= line.size();
    is_writing = true;
    lock.unlock();
    const int failed = write_whole(descriptor, line);
    lock.lock();
    is_writing = false;
    (failed == 0 ? written : dropped) += 1;
    if (failed != 0) error = failed;
    changed.notify_all();
  }
}

LineWriter::LineWriter(int descriptor, std::string name, std::size_t most_waiting)
    : name_(std::move(name)), lines_(std::make_shared<Lines>(descriptor, most_waiting)) {
  if (lines_->descriptor < 0)
    throw EnvironmentError(name_ + ": cannot be written: " + std::generic_category().message(errno));
  thread_ = std::thread([lines = lines_] { lines->write_until_closed(); });
}

LineWriter::~LineWriter() {
  bool is_writing = false;
  {
    const std::lock_guard lock(lines_->mutex);
    lines_->is_closed = true;
    is_writing = lines_->is_writing;
  }
  lines_->changed.notify_all();
  if (is_writing)
    thread_.detach();  // it may be in a write that nobody's reading ends
  else
    thread_.join();
}

void LineWriter::write(std::string line) {
  {
    const std::lock_guard lock(lines_->mutex);
    if (lines_->error != 0)
      throw EnvironmentError(name_ + ": cannot be written: " + std::generic_category().message(lines_->error));
    if (lines_->waiting_bytes + line.size() > lines_->most_waiting) {
      ++lines_->dropped;
      return;
    }
    lines_->waiting_bytes += line.size();
    lines_->waiting.push_back(std::move(line));
  }
  lines_->changed.notify_all();
}

void LineWriter::finish(const std::function<bool()>& is_stopping) {
  constexpr std::chrono::milliseconds between_looks(20);
  constexpr std::chrono::milliseconds patience(500);
  std::unique_lock lock(lines_->mutex);
  std::int64_t written = lines_->written;
  auto latest = Clock::now() + patience;
  while (!lines_->changed.wait_for(lock, between_looks, [&] { return lines_->is_idle(); })) {
    if (lines_->written != written || !is_stopping()) latest = Clock::now() + patience;
    written = lines_->written;
    if (Clock::now() >= latest) return;
  }
}

std::int64_t LineWriter::unwritten() const {
  const std::lock_guard lock(lines_->mutex);
  return lines_->dropped + static_cast<std::int64_t>(lines_->waiting.size()) + (lines_->is_writing ? 1 : 0);
}

void LineWriter::require_written() const {
  const std::int64_t lost = unwritten();
  if (lost == 0) return;
  const std::lock_guard lock(lines_->mutex);
  throw EnvironmentError(name_ + ": cannot be written: " +
                         (lines_->error != 0 ? std::generic_category().message(lines_->error)
                                             : "nobody read " + std::to_string(lost) + " lines"));
}

}  // namespace plumbline

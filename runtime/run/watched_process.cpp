#include "runtime/run/watched_process.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <system_error>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "core/base/errors.h"

namespace plumbline {
namespace {

constexpr std::array handed_on{SIGTERM, SIGINT, SIGHUP};

// What signal handlers may reach.
volatile sig_atomic_t child = 0;
volatile sig_atomic_t asked_to_end = 0;
const SharedNote* note_of_child = nullptr;

[[noreturn]] void refuse(const char* call) {
  throw EnvironmentError(std::string(call) + ": " + std::generic_category().message(errno));
}

void hand_on(int signal) {
  asked_to_end = 1;
  if (child > 0) ::kill(static_cast<pid_t>(child), signal);
}

#ifdef __linux__
constexpr int orphaned = SIGUSR2;

void say(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) ::_exit(3);
}

void end_as_orphan(int) {
  say("plan: ");
  say(note_of_child->text());
  say(": the process that watched over it was killed\n");
  ::_exit(3);
}

/// `parent`: as it was before the fork.
void end_with(pid_t parent) {
  std::signal(orphaned, end_as_orphan);
  ::prctl(PR_SET_PDEATHSIG, orphaned);
  if (::getppid() != parent) std::raise(orphaned);
}
#else
void end_with(pid_t) {}
#endif

ProcessEnd end_of(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) refuse("waitpid");
  ProcessEnd end;
  end.was_asked_to = asked_to_end != 0;
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  return end;
}

}  // namespace

/// Two texts; the one at `newest` is whole.
struct SharedNote::Page {
  struct Text {
    std::size_t size = 0;
    std::array<char, most_characters> characters{};
  };
  std::array<Text, 2> texts;
  std::atomic<std::size_t> newest{0};
};

SharedNote::SharedNote(std::string_view text) {
  void* const memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) refuse("mmap");
  page_ = new (memory) Page;
  write(text);
}

SharedNote::~SharedNote() { ::munmap(page_, sizeof(Page)); }

void SharedNote::write(std::string_view text) {
  const std::size_t next = 1 - page_->newest.load(std::memory_order_relaxed);
  Page::Text& to = page_->texts[next];
  to.size = std::min(text.size(), most_characters);
  std::memcpy(to.characters.data(), text.data(), to.size);
  page_->newest.store(next, std::memory_order_release);
}

std::string_view SharedNote::text() const {
  const Page::Text& newest = page_->texts[page_->newest.load(std::memory_order_acquire)];
  return {newest.characters.data(), newest.size};
}

std::optional<ProcessEnd> fork_and_watch(const SharedNote& note) {
  note_of_child = &note;
  const pid_t own = ::getpid();
  // What arrives between the fork and the line behind it is handed on when the child's number is known.
  sigset_t held;
  sigset_t before;
  sigemptyset(&held);
  for (const int signal : handed_on) sigaddset(&held, signal);
  sigprocmask(SIG_BLOCK, &held, &before);
  const pid_t made = ::fork();
  if (made == 0) {
    end_with(own);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return std::nullopt;
  }
  if (made > 0) {
    child = static_cast<sig_atomic_t>(made);
    for (const int signal : handed_on) std::signal(signal, hand_on);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (made < 0) refuse("fork");
  return end_of(made);
}

}  // namespace plumbline

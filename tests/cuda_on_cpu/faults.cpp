#include "tests/cuda_on_cpu/faults.h"

#include <pthread.h>

#include <csetjmp>
#include <csignal>
#include <vector>

namespace cuda_on_cpu {
namespace {

sigjmp_buf before_body;

pthread_t running_thread;

/// A fault of another host thread is none of the kernel's: it happens again, without this handler.
void leave_body(int signal) {
  if (pthread_equal(running_thread, pthread_self()) != 0) siglongjmp(before_body, 1);
  std::signal(signal, SIG_DFL);
}

/// Handlers of faults on a stack of their own, and what was there before.
class FaultHandler {
 public:
  FaultHandler() {
    static std::vector<char> room(std::size_t{64} << 10);
    stack_t stack{};
    stack.ss_sp = room.data();
    stack.ss_size = room.size();
    sigaltstack(&stack, &old_stack_);
    struct sigaction action {};
    action.sa_handler = leave_body;
    action.sa_flags = SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &old_segv_);
    sigaction(SIGBUS, &action, &old_bus_);
  }
  FaultHandler(const FaultHandler&) = delete;
  FaultHandler& operator=(const FaultHandler&) = delete;
  ~FaultHandler() {
    sigaction(SIGSEGV, &old_segv_, nullptr);
    sigaction(SIGBUS, &old_bus_, nullptr);
    sigaltstack(&old_stack_, nullptr);
  }

 private:
  stack_t old_stack_{};
  struct sigaction old_segv_ {};
  struct sigaction old_bus_ {};
};

}  // namespace

bool run_watching_for_faults(const std::function<void()>& body) {
  running_thread = pthread_self();
  const FaultHandler handler;
  if (sigsetjmp(before_body, 1) != 0) return false;
  body();
  return true;
}

}  // namespace cuda_on_cpu

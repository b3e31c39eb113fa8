#pragma once
/// \file fiber.h: a function with a stack of its own, which gives way and goes on later on the same host thread.
///
/// Model: Boost.Context's switch of stacks; stacks are kept for the next fiber and end at a guard page.
/// Checked against: tests/cuda_on_cpu/thread_block_test.cpp.

#include <cstddef>

namespace cuda_on_cpu {

class Fiber {
 public:
  /// The next `resume` runs `body(argument)` from its begin. `body` ends by giving way, and is not resumed then.
  void start(void (*body)(void*), void* argument);
  /// Returns when the fiber gives way.
  void resume();
  /// Called by the fiber itself.
  void give_way();
  /// Gives the stack back; the fiber has ended, or is never resumed again.
  void drop();

 private:
  void* context_ = nullptr;  ///< where to go on: the fiber's while it waits, the resumer's while it runs
  std::byte* stack_ = nullptr;
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;

  struct Entry;
};

}  // namespace cuda_on_cpu

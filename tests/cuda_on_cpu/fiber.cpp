#include "tests/cuda_on_cpu/fiber.h"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <new>
#include <vector>

namespace cuda_on_cpu {
namespace {

namespace context = boost::context::detail;

constexpr std::size_t stack_bytes = std::size_t{128} << 10;
constexpr std::size_t guard_bytes = 4096;

/// Stacks that no fiber uses now. Fibers of all host threads run one at a time (see streams.h).
std::vector<std::byte*>& idle_stacks() {
  static auto* stacks = new std::vector<std::byte*>;
  return *stacks;
}

std::byte* take_stack() {
  std::vector<std::byte*>& idle = idle_stacks();
  if (!idle.empty()) {
    std::byte* stack = idle.back();
    idle.pop_back();
    return stack;
  }
  void* base = mmap(nullptr, stack_bytes + guard_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  mprotect(base, guard_bytes, PROT_NONE);
  return static_cast<std::byte*>(base) + guard_bytes;
}

}  // namespace

struct Fiber::Entry {
  static void run(context::transfer_t from) {
    auto* fiber = static_cast<Fiber*>(from.data);
    fiber->context_ = from.fctx;
    fiber->body_(fiber->argument_);
  }
};

void Fiber::start(void (*body)(void*), void* argument) {
  if (stack_ == nullptr) stack_ = take_stack();
  body_ = body;
  argument_ = argument;
  context_ = context::make_fcontext(stack_ + stack_bytes, stack_bytes, &Entry::run);
}

void Fiber::resume() { context_ = context::jump_fcontext(context_, this).fctx; }
void Fiber::give_way() { context_ = context::jump_fcontext(context_, nullptr).fctx; }

void Fiber::drop() {
  if (stack_ != nullptr) idle_stacks().push_back(stack_);
  stack_ = nullptr;
}

}  // namespace cuda_on_cpu

#include "runtime/execution/host_pool.h"

namespace plumbline {

void HostPool::reserve(Bytes bytes, OfSize& of_size) {
  of_size.owned.push_back(device_.reserve_host(bytes));
  of_size.idle.push_back(of_size.owned.back().get());
  reserved_ += bytes;
}

std::byte* HostPool::take(Bytes bytes) {
  OfSize& of_size = sizes_[bytes];
  if (of_size.idle.empty()) reserve(bytes, of_size);
  std::byte* const memory = of_size.idle.back();
  of_size.idle.pop_back();
  return memory;
}

void HostPool::prepare_as(const HostPool& other) {
  for (const auto& [bytes, needed] : other.sizes_) {
    OfSize& of_size = sizes_[bytes];
    while (of_size.owned.size() < needed.owned.size()) reserve(bytes, of_size);
  }
}

}  // namespace plumbline

#include "runtime/cuda/host_staging.h"

#include <algorithm>
#include <cstring>

#include "core/quantity/text.h"

namespace plumbline {

std::shared_ptr<std::byte> page_locked(Bytes bytes) {
  void* memory = nullptr;
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(1, bytes.value()));
  const cudaError_t error = cudaHostAlloc(&memory, size, cudaHostAllocDefault);
  if (error == cudaErrorMemoryAllocation)
    throw CudaOutOfMemory("cudaHostAlloc: no " + to_text(bytes) + " of page-locked host memory are free");
  require(error, "cudaHostAlloc of " + to_text(bytes));
  return {static_cast<std::byte*>(memory), [](std::byte* held) { (void)cudaFreeHost(held); }};
}

HostStaging::Piece& HostStaging::free_piece(Bytes bytes) {
  for (Piece& piece : pieces_)
    if (piece.size >= bytes && piece.copied.is_passed()) return piece;
  Piece& made = pieces_.emplace_back();
  made.memory = page_locked(bytes);
  made.size = bytes;
  return made;
}

void HostStaging::upload(cudaStream_t stream, void* to, const void* from, Bytes bytes) {
  Piece& piece = free_piece(bytes);
  const auto size = static_cast<std::size_t>(bytes.value());
  std::memcpy(piece.memory.get(), from, size);
  require(cudaMemcpyAsync(to, piece.memory.get(), size, cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync of " + to_text(bytes) + " to the device");
  piece.copied.record(stream);
}

}  // namespace plumbline

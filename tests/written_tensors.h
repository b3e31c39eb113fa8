#pragma once
/// \file written_tensors.h: tensors that a test has in memory, as a safetensors file.

#include <filesystem>

#include "runtime/checkpoint/safetensors.h"

namespace plumbline {

struct TensorToWrite {
  TensorHeader header;
  std::span<const std::byte> data;
};

inline WrittenFile write_safetensors(const std::filesystem::path& path, const std::vector<TensorToWrite>& tensors,
                                     const Metadata& metadata) {
  std::vector<TensorHeader> headers;
  for (const TensorToWrite& tensor : tensors) headers.push_back(tensor.header);
  SafetensorsWriter writer(path, std::move(headers), metadata);
  for (const TensorHeader& header : writer.tensors())
    for (const TensorToWrite& tensor : tensors)
      if (tensor.header.name == header.name) writer.append(tensor.data);
  return writer.commit();
}

}  // namespace plumbline

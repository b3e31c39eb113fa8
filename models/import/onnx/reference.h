#pragma once
/// \file reference.h: an ONNX file as a text that names a model: its path, and the sizes of its symbolic dimensions.
///
/// "bert.onnx@sequence=512,past=1" is the file bert.onnx with two dimensions bound. A text is one when it ends in
/// ".onnx", or holds ".onnx@".
/// Checked against: tests/unit/models/import/onnx/reference_test.cpp.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::onnx {

struct Reference {
  std::string path;
  std::map<std::string, std::int64_t> dimensions;
};

[[nodiscard]] bool is_reference(std::string_view text);
/// Throws InputError naming the dimension that is no NAME=N, or is given twice.
[[nodiscard]] Reference reference_of(std::string_view text);
/// The text with more dimensions, each "NAME=N" as of a flag `where`. Throws InputError where `text` is no ONNX file.
[[nodiscard]] std::string with_dimensions(std::string_view text, const std::vector<std::string>& dimensions,
                                          std::string_view where);

}  // namespace plumbline::onnx

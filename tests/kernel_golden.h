#pragma once
/// \file kernel_golden.h: PyTorch's results for the kernels, written by tests/data/make_kernel_goldens.py.

#include "core/io/json.h"
#include "core/io/json_file.h"
#include "tests/kernel_tensor.h"
#include "tests/source_folder.h"

namespace plumbline {

/// One case of an op's file: numbers and tensors by name.
struct KernelGolden {
  std::string name;
  std::map<std::string, double> numbers;
  std::map<std::string, KernelTensor> tensors;

  [[nodiscard]] const KernelTensor& operator[](const std::string& key) const { return tensors.at(key); }
  [[nodiscard]] std::int64_t whole(const std::string& key) const { return std::llround(numbers.at(key)); }
  [[nodiscard]] float number(const std::string& key) const { return static_cast<float>(numbers.at(key)); }
  /// A tensor of whole numbers (token ids, experts).
  [[nodiscard]] std::vector<std::int32_t> ids(const std::string& key) const {
    const std::vector<float> values = tensors.at(key).values();
    return {values.begin(), values.end()};
  }
};

inline KernelTensor golden_tensor(const JsonPlace& place) {
  JsonObject object(place);
  const std::int64_t rows = object.at("rows").integer(1, 1 << 20);
  const std::int64_t columns = object.at("columns").integer(1, 1 << 20);
  std::vector<float> values;
  for (const JsonPlace& value : object.at("values").elements())
    values.push_back(static_cast<float>(value.number(-1e30, 1e30)));
  return {values, rows, columns};
}

inline std::vector<KernelGolden> kernel_goldens(const std::string& op) {
  const std::string path = test_data_folder() + "/kernel_goldens/" + op + ".json";
  const Json root = read_json_file(path);
  JsonObject document = open_document({root, path}, "plumbline.kernel_goldens/1");
  std::vector<KernelGolden> cases;
  for (const JsonPlace& place : document.at("cases").elements()) {
    JsonObject object(place);
    KernelGolden golden;
    golden.name = object.at("name").string();
    JsonObject numbers(object.at("numbers"));
    for (const auto& [key, value] : numbers.members()) golden.numbers[key] = value.number(-1e30, 1e30);
    JsonObject tensors(object.at("tensors"));
    for (const auto& [key, value] : tensors.members()) golden.tensors.emplace(key, golden_tensor(value));
    cases.push_back(std::move(golden));
  }
  check(!cases.empty(), "an op has golden cases");
  return cases;
}

}  // namespace plumbline

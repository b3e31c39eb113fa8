#include "models/import/onnx/lowered.h"

#include "core/base/errors.h"

namespace plumbline::onnx {

std::optional<Dimension> product(const Shape& shape) {
  Dimension all{Symbol::constant, 1};
  for (const Dimension& d : shape) {
    if (d.symbol != Symbol::constant && all.symbol != Symbol::constant) return std::nullopt;
    if (d.symbol != Symbol::constant) all.symbol = d.symbol;
    all.factor *= d.factor;
  }
  return all;
}

int LoweredGraph::add_tensor(LoweredTensor tensor) {
  constexpr double most_elements = 1e15;
  constexpr double samples = 3;  // as many as a graph is inferred for
  double elements = 1;
  for (const Dimension& d : tensor.shape)
    elements *= static_cast<double>(d.factor) * (d.symbol == Symbol::constant ? 1 : samples);
  if (elements > most_elements)
    throw InputError({"value " + tensor.name.substr(0, 200), "is read as more than 10^15 elements", "fewer", ""});
  tensors_.push_back(std::move(tensor));
  return static_cast<int>(tensors_.size()) - 1;
}

int LoweredGraph::add_data(std::string name, Shape shape, ElementKind element) {
  return add_tensor({std::move(name), std::move(shape), element, -1});
}

int LoweredGraph::add(OpKind kind, const std::string& name, std::vector<int> inputs, Shape shape,
                      OpAttributes attributes, std::vector<int> parameters) {
  const int tensor = add_tensor({name, std::move(shape), ElementKind::compute, static_cast<int>(ops_.size())});
  ops_.push_back({kind, name, std::move(attributes), std::move(inputs), {tensor}, std::move(parameters)});
  return tensor;
}

int LoweredGraph::view(int tensor, const Shape& shape) {
  const LoweredTensor& from = tensors_[static_cast<std::size_t>(tensor)];
  if (from.shape == shape) return tensor;
  const std::string name = from.name + ".view";
  return add(OpKind::select, name, {tensor}, shape);
}

}  // namespace plumbline::onnx

// Elementwise work: one operator for everything between an activation and what is made from it alone.
#include <algorithm>

#include "models/import/onnx/lowering_context.h"

namespace plumbline::onnx {
namespace {

constexpr std::size_t largest_region = 4096;

void add_once(std::vector<int>& list, int value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

void look_at(const LoweringContext& context, const FlatNode& node, Region& region) {
  const std::string& type = node.node->type;
  const Role role = node.kind->role;
  std::size_t activations = 0;
  for (const int input : node.inputs) activations += context.is_activation(input) ? 1U : 0U;
  const std::vector<int> parameters = context.parameters(node);
  for (const int parameter : parameters) add_once(region.parameters, parameter);
  if (role == Role::view) return;
  region.only_views = false;
  region.reduces = region.reduces || role == Role::reduce;
  region.subtracts = region.subtracts || type == "Sub";
  region.takes_root = region.takes_root || type == "Sqrt" || type == "Reciprocal" || type == "Pow";
  region.multiplies_by_parameter = region.multiplies_by_parameter || (role == Role::multiply && !parameters.empty());
  const bool divides_by_it = type == "Div" && !context.is_activation(node.inputs[0]);
  if (role == Role::unary || (role == Role::multiply && (activations > 1 || type == "Pow" || divides_by_it)))
    region.is_linear = false;
}

std::vector<int> flattened_scale(const LoweringContext& context, const Region& region) {
  std::vector<int> parameters = region.parameters;  // a scale of the last dimension first, for its width
  std::stable_sort(parameters.begin(), parameters.end(),
                   [&](int a, int b) { return context.elements(a) > context.elements(b); });
  return parameters;
}

OpKind kind_of(const Region& region) {
  if (region.reduces && region.takes_root && region.multiplies_by_parameter)
    return token_norm(region.subtracts ? NormMean::subtracted : NormMean::kept);
  if (region.reduces || !region.is_linear || region.multiplies_by_parameter) return OpKind::activation;
  return region.parameters.empty() ? OpKind::rotary : OpKind::position_embedding;
}

/// The operand of a gate that is an activation function of something else: what it is made from.
int ungated(const LoweringContext& context, int value) {
  const Provenance& p = context.provenance();
  const int root = p.root_of(value);
  if (root == value || context.has_tensor(value) || p.consumers[static_cast<std::size_t>(value)].size() != 1)
    return value;
  const Region region = region_of(context, value);
  const bool is_function = region.inputs == std::vector<int>{root} && region.parameters.empty() && !region.reduces &&
                           context.elements(root) == context.elements(value);
  return is_function ? root : value;
}

}  // namespace

Region region_of(const LoweringContext& context, int value) {
  Region region;
  const int root = context.provenance().root_of(value);
  std::vector<int> open{value};
  std::vector<int> seen{value};
  while (!open.empty()) {
    const int next = open.back();
    open.pop_back();
    const FlatNode& node = *context.producer(next);
    look_at(context, node, region);
    for (const int input : node.inputs) {
      if (!context.is_activation(input)) continue;
      if (input == root || context.has_tensor(input)) {
        add_once(region.inputs, input);
        continue;
      }
      if (std::find(seen.begin(), seen.end(), input) != seen.end()) continue;
      if (seen.size() == largest_region)
        context.refuse(value, "is made by more than 4096 elementwise operators", "fewer");
      seen.push_back(input);
      open.push_back(input);
    }
  }
  return region;
}

int lower_region(LoweringContext& context, int value, const Region& region) {
  LoweredGraph& out = context.out();
  const Shape shape = context.shape(value);
  const auto is_as_large = [&](int input) { return context.elements(input) == context.elements(value); };
  const auto same = std::find_if(region.inputs.begin(), region.inputs.end(), is_as_large);
  if (same == region.inputs.end())  // a reduction, or a broadcast
    return out.add(OpKind::upsample, context.name(value), {context.tensor(region.inputs.front())}, shape, {},
                   region.parameters);
  if (region.only_views) return context.tensor_as(*same, shape);
  const int x = context.tensor_as(*same, shape);
  const auto other = std::find_if(region.inputs.begin(), region.inputs.end(),
                                  [&](int input) { return input != *same && is_as_large(input); });
  if (other != region.inputs.end())
    return out.add(OpKind::gated_activation, context.name(value), {x, context.tensor_as(*other, shape)}, shape, {},
                   region.parameters);
  return out.add(kind_of(region), context.name(value), {x}, shape, {}, flattened_scale(context, region));
}

void lower_joint(LoweringContext& context, const FlatNode& node) {
  LoweredGraph& out = context.out();
  const int result = node.outputs.front();
  const Shape shape = context.shape(result);
  const bool adds = node.kind->role == Role::add;
  int made = -1;
  for (const int input : node.inputs) {
    if (!context.is_activation(input)) continue;
    const int operand = context.tensor_as(adds ? input : ungated(context, input), shape);
    made = made < 0
               ? operand
               : out.add(adds ? OpKind::add : OpKind::gated_activation, context.name(result), {made, operand}, shape);
  }
  if (made < 0) {  // data and parameters: data carries no gradient, parameters do
    const auto data = std::find_if(node.inputs.begin(), node.inputs.end(),
                                   [&](int input) { return context.provenance().is(input, Origin::data); });
    made = out.add(OpKind::position_embedding, context.name(result), {context.tensor_as(*data, shape)}, shape, {},
                   context.parameters(node));
  } else if (const std::vector<int> parameters = context.parameters(node); !parameters.empty()) {
    made = out.add(OpKind::position_embedding, context.name(result) + ".parameters", {made}, shape, {}, parameters);
  }
  context.set_tensor(result, made);
}

}  // namespace plumbline::onnx

#include "kernels/grouped_linear.h"

#include "core/base/errors.h"
#include "kernels/linear.h"

namespace plumbline::reference {
namespace {

/// Where an expert's rows and its slice of the weight begin.
struct Group {
  std::int64_t expert = 0;
  std::int64_t first = 0;
  std::int64_t rows = 0;
};

/// Rows [first, first + count) of a view that may be nothing.
template <class View>
View slice(const View& view, std::int64_t first, std::int64_t count) {
  return view.is_there() ? view.rows_from(first, count) : View{};
}

std::int64_t per_expert(const ConstTensorView& weight, const ExpertRows& groups) {
  check(groups.experts > 0 && weight.rows % groups.experts == 0, "experts share their weight tensor equally");
  return weight.rows / groups.experts;
}

LinearForward expert_part(const GroupedLinearForward& args, const Group& g) {
  const std::int64_t out = per_expert(args.weight, args.groups);
  return {slice(args.input, g.first, g.rows), slice(args.weight, g.expert * out, out), slice(args.bias, g.expert, 1),
          slice(args.output, g.first, g.rows), args.workspace};
}

LinearInputGradient expert_part(const GroupedLinearInputGradient& args, const Group& g) {
  const std::int64_t out = per_expert(args.weight, args.groups);
  return {slice(args.output_gradient, g.first, g.rows), slice(args.weight, g.expert * out, out),
          slice(args.input_gradient, g.first, g.rows), args.write, args.workspace};
}

LinearWeightGradient expert_part(const GroupedLinearWeightGradient& args, const Group& g) {
  const std::int64_t out = per_expert(args.weight_gradient, args.groups);
  return {slice(args.input, g.first, g.rows),
          slice(args.output_gradient, g.first, g.rows),
          slice(args.weight_gradient, g.expert * out, out),
          slice(args.bias_gradient, g.expert, 1),
          args.write,
          args.workspace};
}

template <class Action>
void for_each_expert(const ExpertRows& groups, std::int64_t rows, Action action) {
  std::int64_t first = 0;
  for (std::int64_t expert = 0; expert < groups.experts; ++expert) {
    const std::int64_t count = groups.counts[expert];
    check(count >= 0 && first + count <= rows, "the experts' rows are those of the tensor");
    action(Group{expert, first, count});
    first += count;
  }
  check(first == rows, "every row has an expert");
}

}  // namespace

// All rows at one expert is the largest case of each product.
Bytes grouped_linear_workspace(const GroupedLinearForward& args) {
  return linear_workspace(expert_part(args, {0, 0, args.input.rows}));
}
Bytes grouped_linear_workspace(const GroupedLinearInputGradient& args) {
  return linear_workspace(expert_part(args, {0, 0, args.output_gradient.rows}));
}
Bytes grouped_linear_workspace(const GroupedLinearWeightGradient& args) {
  return linear_workspace(expert_part(args, {0, 0, args.input.rows}));
}

void grouped_linear_forward(const GroupedLinearForward& args) {
  for_each_expert(args.groups, args.input.rows, [&](const Group& g) {
    if (g.rows > 0) linear_forward(expert_part(args, g));
  });
}

void grouped_linear_input_gradient(const GroupedLinearInputGradient& args) {
  for_each_expert(args.groups, args.output_gradient.rows, [&](const Group& g) {
    if (g.rows > 0) linear_input_gradient(expert_part(args, g));
  });
}

void grouped_linear_weight_gradient(const GroupedLinearWeightGradient& args) {
  for_each_expert(args.groups, args.input.rows, [&](const Group& g) {
    if (g.rows > 0 || args.write == Write::overwrite) linear_weight_gradient(expert_part(args, g));
  });
}

}  // namespace plumbline::reference

#include "core/graph/image_ops.h"

#include "core/base/errors.h"

namespace plumbline::ops {
namespace {

/// Output length of a convolution or pooling along one axis.
std::int64_t strided(std::int64_t length, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  check(stride > 0, "a stride is positive");
  return (length + 2 * padding - kernel) / stride + 1;
}

}  // namespace

TensorId convolution(BlockBuilder& block, const std::string& name, TensorId x, ConvolutionAttributes a, Bias bias) {
  const Shape& in = block.tensor(x).shape;
  check(in.size() == 4, "images are [batch, channels, height, width]");
  const Dimension out = fixed_dimension(a.out_channels);
  const Shape shape = {in[0], out, fixed_dimension(strided(in[2].factor, a.kernel_height, a.stride, a.padding)),
                       fixed_dimension(strided(in[3].factor, a.kernel_width, a.stride, a.padding))};
  block.add_op(OpKind::convolution, name, {x}, a);
  const TensorId y = block.add_result(name, shape, Partition::replicated);
  block.add_parameter(name + ".weight", {out, fixed_dimension(a.in_channels / a.groups),
                                         fixed_dimension(a.kernel_height), fixed_dimension(a.kernel_width)});
  if (bias == Bias::yes) block.add_parameter(name + ".bias", {out});
  return y;
}

TensorId batch_norm(BlockBuilder& block, const std::string& name, TensorId x) {
  const Tensor like = block.tensor(x);
  const Dimension channels = fixed_dimension(like.shape.at(1).factor);
  block.add_op(OpKind::batch_norm, name, {x});
  const TensorId y = block.add_result(name, like.shape, like.partition, like.partition_units);
  block.add_parameter(name + ".weight", {channels});
  block.add_parameter(name + ".bias", {channels});
  return y;
}

TensorId pooling(BlockBuilder& block, const std::string& name, TensorId x, PoolingAttributes a) {
  Shape shape = block.tensor(x).shape;
  for (std::size_t axis = 2; axis < shape.size(); ++axis)
    shape[axis] = fixed_dimension(strided(shape[axis].factor, a.kernel, a.stride, a.padding));
  block.add_op(OpKind::pooling, name, {x}, a);
  return block.add_result(name, std::move(shape), Partition::replicated);
}

TensorId upsample(BlockBuilder& block, const std::string& name, TensorId x, std::int64_t factor) {
  Shape shape = block.tensor(x).shape;
  for (std::size_t axis = 2; axis < shape.size(); ++axis) shape[axis].factor *= factor;
  block.add_op(OpKind::upsample, name, {x});
  return block.add_result(name, std::move(shape), Partition::replicated);
}

}  // namespace plumbline::ops

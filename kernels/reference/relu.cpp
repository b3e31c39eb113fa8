#include "kernels/relu.h"

#include "kernels/reference/map.h"

namespace plumbline::reference {

void relu_forward(const ReluForward& args) {
  // A NaN stays one.
  map(args.input, args.output, [](float x) { return x < 0.0F ? 0.0F : x; });
}

void relu_backward(const ReluBackward& args) {
  map(args.output_gradient, args.input, args.input_gradient, [](float dy, float x) { return x > 0.0F ? dy : 0.0F; });
}

}  // namespace plumbline::reference

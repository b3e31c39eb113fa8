#include "runtime/execution/step_graph.h"

namespace plumbline {

std::string StepGraph::place() const {
  if (doing_ == Doing::making) return "making a graph of a step";
  return doing_ == Doing::running ? "in the graph of a step" : "";
}

}  // namespace plumbline

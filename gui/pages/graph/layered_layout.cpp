#include "gui/pages/graph/layered_layout.h"

#include <algorithm>
#include <numeric>

namespace plumbline::gui {
namespace {

constexpr int sweeps = 4;

using Layers = std::vector<std::vector<std::size_t>>;

Layers longest_ways(BlockPicture& picture) {
  for (GraphNode& node : picture.nodes) node.layer = 0;
  // Nodes are in order of execution, so one pass over edges by their end is enough.
  std::vector<GraphEdge> edges = picture.edges;
  std::stable_sort(edges.begin(), edges.end(), [](const GraphEdge& a, const GraphEdge& b) { return a.to < b.to; });
  for (const GraphEdge& edge : edges)
    picture.nodes[edge.to].layer = std::max(picture.nodes[edge.to].layer, picture.nodes[edge.from].layer + 1);
  Layers layers;
  for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
    const auto layer = static_cast<std::size_t>(picture.nodes[i].layer);
    if (layers.size() <= layer) layers.resize(layer + 1);
    layers[layer].push_back(i);
  }
  return layers;
}

void number_places(BlockPicture& picture, const Layers& layers) {
  for (const std::vector<std::size_t>& layer : layers)
    for (std::size_t place = 0; place < layer.size(); ++place)
      picture.nodes[layer[place]].place = static_cast<int>(place);
}

/// By the mean place of neighbours on the side that was placed before.
void sort_layer(const BlockPicture& picture, std::vector<std::size_t>& layer, bool is_downward) {
  std::vector<double> mean(picture.nodes.size());
  for (const std::size_t node : layer) {
    double sum = 0;
    int count = 0;
    for (const GraphEdge& edge : picture.edges) {
      const bool is_neighbour = is_downward ? edge.to == node : edge.from == node;
      if (!is_neighbour) continue;
      sum += picture.nodes[is_downward ? edge.from : edge.to].place;
      ++count;
    }
    mean[node] = count > 0 ? sum / count : picture.nodes[node].place;
  }
  std::stable_sort(layer.begin(), layer.end(), [&](std::size_t a, std::size_t b) { return mean[a] < mean[b]; });
}

}  // namespace

void lay_out(BlockPicture& picture) {
  Layers layers = longest_ways(picture);
  number_places(picture, layers);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const bool is_downward = sweep % 2 == 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      sort_layer(picture, layers[is_downward ? i : layers.size() - 1 - i], is_downward);
      number_places(picture, layers);
    }
  }
  picture.layers = static_cast<int>(layers.size());
  picture.widest = 0;
  for (const std::vector<std::size_t>& layer : layers)
    picture.widest = std::max(picture.widest, static_cast<int>(layer.size()));
}

}  // namespace plumbline::gui

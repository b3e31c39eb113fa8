#include "runtime/checkpoint/manifest.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "core/base/errors.h"

namespace plumbline {
namespace {

constexpr const char* format_name = "plumbline.checkpoint/1";
constexpr std::int64_t most = std::int64_t{1} << 58;
constexpr std::int64_t most_ranks = 10'000'000;

/// A box and its slices.
struct Box {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> shape;
  auto operator<=>(const Box&) const = default;
};

bool lies_inside(const Box& box, const std::vector<std::int64_t>& shape) {
  if (box.begin.size() != shape.size() || box.shape.size() != shape.size()) return false;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (box.begin[d] < 0 || box.shape[d] < 0 || box.shape[d] > shape[d] || box.begin[d] > shape[d] - box.shape[d])
      return false;
  return true;
}

bool intersect(const Box& a, const Box& b) {
  for (std::size_t d = 0; d < a.begin.size(); ++d)
    if (a.begin[d] >= b.begin[d] + b.shape[d] || b.begin[d] >= a.begin[d] + a.shape[d]) return false;
  return true;
}

/// The slices of one box, in order: whether they cover it, each element once.
bool covers(std::vector<const TensorSlice*> slices, std::int64_t elements) {
  std::sort(slices.begin(), slices.end(), [](const TensorSlice* a, const TensorSlice* b) {
    return std::pair(a->first, a->count) < std::pair(b->first, b->count);
  });
  std::int64_t covered = 0;
  for (const TensorSlice* slice : slices) {
    if (slice->first != covered || slice->count < 0 || slice->count > elements - covered) return false;
    covered += slice->count;
  }
  return covered == elements;
}

std::optional<std::string> tensor_fault(const ShardedTensor& tensor, std::int32_t ranks) {
  const auto elements = element_count(tensor.shape);
  if (!elements) return "is too large";
  std::map<Box, std::vector<const TensorSlice*>> boxes;
  std::set<std::int32_t> holders;
  for (const TensorSlice& slice : tensor.slices) {
    const Box box{slice.begin, slice.shape};
    if (slice.rank < 0 || slice.rank >= ranks) return "has a slice on rank " + std::to_string(slice.rank);
    if (!holders.insert(slice.rank).second) return "has two slices on rank " + std::to_string(slice.rank);
    if (!lies_inside(box, tensor.shape)) return "has a slice outside of its shape";
    boxes[box].push_back(&slice);
  }
  std::int64_t covered = 0;
  for (auto box = boxes.begin(); box != boxes.end(); ++box) {
    for (auto other = std::next(box); other != boxes.end(); ++other)
      if (intersect(box->first, other->first)) return "has slices that overlap";
    const std::int64_t in_box = *element_count(box->first.shape);
    if (!covers(box->second, in_box)) return "has a box whose slices leave a hole or overlap";
    covered += in_box;
  }
  if (covered != *elements) return "has elements in no slice";
  return std::nullopt;
}

Json json_of(const std::vector<std::int64_t>& values) { return Json::Array(values.begin(), values.end()); }

std::vector<std::int64_t> integers(const JsonPlace& place) {
  std::vector<std::int64_t> values;
  for (const JsonPlace& element : place.elements()) values.push_back(element.integer(0, most));
  return values;
}

TensorSlice slice_at(const JsonPlace& place) {
  JsonObject object(place);
  TensorSlice slice;
  slice.rank = static_cast<std::int32_t>(object.at("rank").integer(0, most_ranks));
  slice.begin = integers(object.at("begin"));
  slice.shape = integers(object.at("shape"));
  slice.first = object.at("first").integer(0, most);
  slice.count = object.at("count").integer(0, most);
  object.finish();
  return slice;
}

ShardedTensor tensor_at(const JsonPlace& place) {
  JsonObject object(place);
  ShardedTensor tensor;
  tensor.name = object.at("name").string();
  const JsonPlace format = object.at("dtype");
  const auto known = stored_format_from_text(format.string());
  if (!known) throw InputError({format.where(), "unknown dtype '" + format.string() + "'", "such as F32 or BF16", ""});
  tensor.format = *known;
  tensor.shape = integers(object.at("shape"));
  for (const JsonPlace& slice : object.at("slices").elements()) tensor.slices.push_back(slice_at(slice));
  object.finish();
  return tensor;
}

Json json_of(const ShardedTensor& tensor) {
  Json::Array slices;
  for (const TensorSlice& slice : tensor.slices)
    slices.emplace_back(Json::Object{{"rank", slice.rank},
                                     {"begin", json_of(slice.begin)},
                                     {"shape", json_of(slice.shape)},
                                     {"first", slice.first},
                                     {"count", slice.count}});
  return Json::Object{{"name", tensor.name},
                      {"dtype", to_text(tensor.format)},
                      {"shape", json_of(tensor.shape)},
                      {"slices", std::move(slices)}};
}

}  // namespace

ShardedTensor unsharded(std::string name, StoredFormat format, std::vector<std::int64_t> shape, std::int32_t rank) {
  const auto elements = element_count(shape);
  check(elements.has_value(), "a tensor that exists has a size");
  TensorSlice whole{rank, std::vector<std::int64_t>(shape.size(), 0), shape, 0, *elements};
  return {std::move(name), format, std::move(shape), {std::move(whole)}};
}

std::optional<std::string> manifest_fault(const CheckpointManifest& manifest) {
  std::set<std::string> names;
  for (const ShardedTensor& tensor : manifest.tensors) {
    if (!names.insert(tensor.name).second) return "tensor " + tensor.name + " is there twice";
    if (const auto fault = tensor_fault(tensor, manifest.ranks())) return "tensor " + tensor.name + " " + *fault;
  }
  return std::nullopt;
}

Json to_json(const CheckpointManifest& manifest) {
  Json::Array tensors;
  for (const ShardedTensor& tensor : manifest.tensors) tensors.push_back(json_of(tensor));
  return Json::Object{{"format", format_name},
                      {"step", manifest.step},
                      {"seed", manifest.seed},
                      {"plan_fingerprint", manifest.plan_fingerprint},
                      {"file_bytes", json_of(manifest.file_bytes)},
                      {"tensors", std::move(tensors)}};
}

CheckpointManifest manifest_from_json(const JsonPlace& root) {
  JsonObject object = open_document(root, format_name);
  CheckpointManifest manifest;
  manifest.step = object.at("step").integer(0, most);
  manifest.seed = object.at("seed").integer(0, std::numeric_limits<std::int64_t>::max());
  manifest.plan_fingerprint = object.at("plan_fingerprint").string();
  manifest.file_bytes = integers(object.at("file_bytes"));
  for (const JsonPlace& tensor : object.at("tensors").elements()) manifest.tensors.push_back(tensor_at(tensor));
  object.finish();
  if (const auto fault = manifest_fault(manifest))
    throw InputError({root.where(), *fault, "each element in exactly one slice", ""});
  return manifest;
}

}  // namespace plumbline

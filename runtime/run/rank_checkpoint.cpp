#include "runtime/run/rank_checkpoint.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/base/errors.h"
#include "runtime/execution/element_views.h"

namespace plumbline {
namespace {

constexpr std::int64_t most_bytes_on_their_way = std::int64_t{64} << 20;

/// `visit(first element of the range, element of the tensor, elements, their distance in the tensor)` for each run of
/// neighbours of a range of what a rank has of a parameter's state.
template <class Visit>
void for_each_run(const TensorPart& part, const LocalParameter& p, const StateRange& held, Visit visit) {
  const TensorBox box = box_of(p, held.part);
  const ElementRange range = held.elements;
  std::int64_t begin = range.first;
  std::int64_t end = range.first + range.count;
  if (part.expert >= 0) {
    const std::int64_t plane = box.extent[1] * box.extent[2];
    const std::int64_t index = part.expert - box.begin[0];
    begin = std::max(begin, index * plane);
    end = std::min(end, (index + 1) * plane);
  }
  const bool is_vector = p.dimensions == 1;
  for (std::int64_t e = begin; e < end;) {
    const std::int64_t column = box.begin[2] + e % box.extent[2];
    const std::int64_t row_of_plane = box.begin[1] + e / box.extent[2] % box.extent[1];
    const std::int64_t plane = part.expert >= 0 ? 0 : box.begin[0] + e / box.extent[2] / box.extent[1];
    const std::int64_t count = is_vector ? 1 : std::min(box.extent[2] - e % box.extent[2], end - e);
    const std::int64_t row = is_vector ? column : plane * box.whole[1] + row_of_plane;
    const std::int64_t place = part.row_begin(row) + (is_vector ? 0 : column * part.column_stride);
    visit(e - range.first, place, count, part.column_stride);
    e += count;
  }
}

/// What the runs take together: they follow on each other in the range.
ElementRange run_elements(const TensorPart& part, const LocalParameter& p, const StateRange& range) {
  ElementRange all;
  for_each_run(part, p, range, [&](std::int64_t first, std::int64_t, std::int64_t count, std::int64_t) {
    if (all.count == 0) all.first = first;
    all.count += count;
  });
  return all;
}

/// `count` elements of `width` bytes, each `stride` elements behind the one before.
void copy_elements(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
                   std::int64_t count, std::int64_t width) {
  if (to_stride == 1 && from_stride == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(count * width));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * to_stride * width, from + i * from_stride * width, static_cast<std::size_t>(width));
}

/// The parameters of a tensor of which a rank has a part: `visit(part of the tensor, parameter, range)`.
template <class State, class Visit>
void for_each_range(const State& state, const CheckpointTensor& tensor, Visit visit) {
  for (const TensorPart& part : tensor.parameters) {
    const auto found = state.ranges.find({part.parameter, tensor.part});
    if (found == state.ranges.end()) continue;
    visit(part, state.layout.parameters[static_cast<std::size_t>(found->second.parameter)], found->second);
  }
}

template <class State>
std::int64_t elements_of(const State& state, const CheckpointTensor& tensor) {
  std::int64_t elements = 0;
  for_each_range(state, tensor, [&](const TensorPart& part, const LocalParameter& p, const StateRange& range) {
    for_each_run(part, p, range,
                 [&](std::int64_t, std::int64_t, std::int64_t count, std::int64_t) { elements += count; });
  });
  return elements;
}

/// Throws unless the checkpoint's tensor has the shape and format that the training gives it.
void require_tensor(const Checkpoint& checkpoint, const TensorHeader& expected) {
  const StoredTensor* const stored = checkpoint.find(expected.name);
  if (stored == nullptr)
    throw InputError({checkpoint.path().string(), "has no tensor " + expected.name,
                      "a checkpoint of this network, optimizer, precision and choice of trained parameters", ""});
  const auto text = [](StoredFormat format, const std::vector<std::int64_t>& shape) {
    std::string sizes;
    for (const std::int64_t size : shape) sizes += (sizes.empty() ? "" : " x ") + std::to_string(size);
    return sizes + " of " + std::string(to_text(format));
  };
  if (stored->format != expected.format || stored->shape != expected.shape)
    throw InputError({checkpoint.path().string(),
                      "its tensor " + expected.name + " is " + text(stored->format, stored->shape),
                      text(expected.format, expected.shape) + ", as this network and precision have it", ""});
}

}  // namespace

std::vector<Chunk> executions_of(const RankProgram& rank) {
  std::vector<Chunk> executions;
  for (const auto& segments : rank.chunks) executions.push_back({segments.front().first, segments.back().last});
  std::sort(executions.begin(), executions.end(), [](const Chunk& a, const Chunk& b) { return a.first < b.first; });
  return executions;
}

RankCheckpoint::RankCheckpoint(World& world, const TrainingJob& job, ParameterStore& parameters)
    : job_(job),
      parameters_(parameters),
      everyone_(world.everyone("checkpoint")),
      catalogue_(checkpoint_catalogue(job)),
      own_(answered_by(world.rank())) {}

RankCheckpoint::RankState RankCheckpoint::answered_by(std::int32_t rank) const {
  const auto stage = static_cast<std::size_t>(coordinate(job_.strategy, Axis::pipeline, rank));
  RankState state;
  state.layout =
      parameter_layout(job_.graph, job_.strategy, job_.training, executions_of(job_.program.ranks[stage]), rank);
  for (const StateRange& range : answered_state(state.layout, job_.strategy, job_.training, rank))
    state.ranges[{state.layout.parameters[static_cast<std::size_t>(range.parameter)].name, range.part}] = range;
  return state;
}

const std::vector<RankCheckpoint::RankState>& RankCheckpoint::answered_by_all() {
  if (of_all_.empty())
    for (std::int32_t rank = 0; rank < everyone_->rank_set().size(); ++rank) of_all_.push_back(answered_by(rank));
  return of_all_;
}

std::vector<std::byte> RankCheckpoint::packed_part(const CheckpointTensor& tensor) const {
  std::vector<std::byte> packed;
  for_each_range(own_, tensor, [&](const TensorPart& part, const LocalParameter& p, const StateRange& range) {
    const std::vector<std::byte> held = parameters_.state.downloaded(range, run_elements(part, p, range));
    packed.insert(packed.end(), held.begin(), held.end());
  });
  return packed;
}

std::vector<std::byte> RankCheckpoint::collect(const CheckpointTensor& tensor) {
  const std::int64_t width = bytes_of(tensor.header.format);
  std::vector<std::byte> whole(static_cast<std::size_t>(tensor.header.bytes()));
  std::int64_t collected = 0;
  for (std::int32_t rank = 0; rank < everyone_->rank_set().size(); ++rank) {
    const RankState& state = answered_by_all()[static_cast<std::size_t>(rank)];
    const std::int64_t elements = elements_of(state, tensor);
    if (elements == 0) continue;
    std::vector<std::byte> packed(static_cast<std::size_t>(elements * width));
    if (rank == everyone_->index())
      packed = packed_part(tensor);
    else
      everyone_->receive(packed, rank, 0);
    const std::byte* from = packed.data();
    for_each_range(state, tensor, [&](const TensorPart& part, const LocalParameter& p, const StateRange& range) {
      for_each_run(part, p, range, [&](std::int64_t, std::int64_t place, std::int64_t count, std::int64_t stride) {
        copy_elements(whole.data() + place * width, stride, from, 1, count, width);
        from += count * width;
      });
    });
    collected += elements;
  }
  check(collected * width == tensor.header.bytes(), "every element of a tensor is answered for exactly once");
  return whole;
}

WrittenFile RankCheckpoint::write_file(const CheckpointFile& file, std::int32_t writer,
                                       const std::filesystem::path& path) {
  std::vector<TensorHeader> headers;
  for (const CheckpointTensor& tensor : file.tensors) headers.push_back(tensor.header);
  std::optional<SafetensorsWriter> to;
  // Loaders of PyTorch ask for this.
  if (everyone_->index() == writer) to.emplace(path, std::move(headers), Metadata{{"format", "pt"}});
  std::int64_t on_their_way = 0;
  for (const CheckpointTensor& tensor : file.tensors) {
    if (to) {
      to->append(collect(tensor));
    } else if (const std::vector<std::byte> packed = packed_part(tensor); !packed.empty()) {
      everyone_->send(packed, writer, 0);
    }
    on_their_way += tensor.header.bytes();
    if (on_their_way < most_bytes_on_their_way) continue;
    everyone_->barrier();
    on_their_way = 0;
  }
  return to ? to->commit() : WrittenFile();
}

void RankCheckpoint::write(const std::filesystem::path& folder, CheckpointManifest manifest) {
  const bool is_first = everyone_->index() == 0;
  const std::filesystem::path path = begun_checkpoint(folder, manifest.step);
  if (is_first) {
    (void)begin_checkpoint(folder, manifest.step);
    for (const CheckpointFile& file : catalogue_.files) make_folder((path / file.name).parent_path());
  }
  everyone_->barrier();
  for (std::size_t i = 0; i < catalogue_.files.size(); ++i) {
    const CheckpointFile& file = catalogue_.files[i];
    const auto writer = static_cast<std::int32_t>(i % static_cast<std::size_t>(everyone_->rank_set().size()));
    WrittenFile written = write_file(file, writer, path / file.name);
    written.checksum.resize(checksum_digits);
    everyone_->broadcast(std::as_writable_bytes(std::span(&written.bytes, 1)), writer);
    everyone_->broadcast(std::as_writable_bytes(std::span(written.checksum)), writer);
    manifest.files.push_back({file.name, written});
  }
  if (is_first) {
    for (const TextFile& file : companions(job_, catalogue_))
      manifest.files.push_back({file.name, write_durable_file(path / file.name, file.text)});
    commit_checkpoint(folder, manifest);
  }
  everyone_->barrier();
}

void RankCheckpoint::read(const Checkpoint& checkpoint) const {
  RankState held;
  held.layout = parameters_.layout();
  for (const StateRange& range : held_state(held.layout, job_.strategy, job_.training))
    held.ranges[{held.layout.parameters[static_cast<std::size_t>(range.parameter)].name, range.part}] = range;
  std::size_t tensors = 0;
  for (const CheckpointFile& file : catalogue_.files)
    for (const CheckpointTensor& tensor : file.tensors) {
      ++tensors;
      require_tensor(checkpoint, tensor.header);
      read_tensor_of(checkpoint, tensor, held);
    }
  if (tensors != checkpoint.tensors())
    throw InputError({checkpoint.path().string(), "has " + std::to_string(checkpoint.tensors()) + " tensors",
                      std::to_string(tensors) + ", as this network, optimizer and precision have", ""});
}

void RankCheckpoint::read_tensor_of(const Checkpoint& checkpoint, const CheckpointTensor& tensor,
                                    const RankState& held) const {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = 0;
  for_each_range(held, tensor, [&](const TensorPart& part, const LocalParameter& p, const StateRange& range) {
    for_each_run(part, p, range, [&](std::int64_t, std::int64_t place, std::int64_t count, std::int64_t stride) {
      begin = std::min(begin, place);
      end = std::max(end, place + (count - 1) * stride + 1);
    });
  });
  if (begin >= end) return;
  const std::int64_t width = bytes_of(tensor.header.format);
  std::vector<std::byte> span(static_cast<std::size_t>((end - begin) * width));
  checkpoint.read(tensor.header.name, begin * width, span);
  for_each_range(held, tensor, [&](const TensorPart& part, const LocalParameter& p, const StateRange& range) {
    const ElementRange elements = run_elements(part, p, range);
    std::vector<std::byte> data(static_cast<std::size_t>(elements.count * width));
    for_each_run(part, p, range, [&](std::int64_t first, std::int64_t place, std::int64_t count, std::int64_t stride) {
      copy_elements(data.data() + (first - elements.first) * width, 1, span.data() + (place - begin) * width, stride,
                    count, width);
    });
    parameters_.state.upload(range, elements.first, data);
  });
}

}  // namespace plumbline

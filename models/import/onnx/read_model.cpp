#include "models/import/onnx/read_model.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "core/base/errors.h"

namespace plumbline::onnx {
namespace {

constexpr std::size_t most_nodes = 200'000;
constexpr std::size_t most_tensors = 1'000'000;
constexpr std::size_t most_rank = 64;
constexpr int most_depth = 16;

class Reader {
 public:
  explicit Reader(ByteSource& source) : source_(source) {}
  Model model();

 private:
  using Take = std::function<void(const Field&)>;
  void each(ByteRange range, const Take& take) {
    Message message(source_, range);
    for (Field field; message.next(field);) take(field);
  }
  std::string text(const Field& field) {
    if (!field.is_bytes()) source_.refuse(field.bytes.begin, "a number where a name belongs", "an ONNX file");
    return text_of(source_, field.bytes);
  }
  ByteRange message(const Field& field) {
    if (!field.is_bytes()) source_.refuse(field.bytes.begin, "a number where a message belongs", "an ONNX file");
    return field.bytes;
  }
  void count(std::size_t& counter, std::size_t most, const char* what, std::uint64_t at) {
    if (++counter > most) source_.refuse(at, "more than " + std::to_string(most) + " " + what, "fewer");
  }
  Graph graph(ByteRange range, int depth);
  Node node(ByteRange range, int depth);
  Attribute attribute(ByteRange range, int depth);
  StoredTensor tensor(ByteRange range);
  void read_numbers(StoredTensor& tensor, const std::vector<Field>& data);
  StatedValue value(ByteRange range);
  void read_type(ByteRange range, StatedValue& value);
  std::vector<StatedDimension> shape(ByteRange range);
  Function function(ByteRange range);

  ByteSource& source_;
  std::size_t nodes_ = 0;
  std::size_t tensors_ = 0;
  std::size_t names_ = 0;
};

std::vector<StatedDimension> Reader::shape(ByteRange range) {
  std::vector<StatedDimension> dims;
  each(range, [&](const Field& f) {
    if (f.number != 1) return;
    if (dims.size() == most_rank) source_.refuse(f.bytes.begin, "more than 64 dimensions", "fewer");
    StatedDimension dim;
    each(message(f), [&](const Field& d) {
      if (d.number == 1 && !d.is_bytes()) dim.value = d.integer();
      if (d.number == 2) dim.symbol = text(d);
    });
    if (dim.value && *dim.value < 0) dim.value.reset();  // -1 is how some exporters write "unknown"
    dims.push_back(std::move(dim));
  });
  return dims;
}

void Reader::read_type(ByteRange range, StatedValue& value) {
  each(range, [&](const Field& f) {
    if (f.number != 1) return;  // sequences, maps and optionals have no shape
    each(message(f), [&](const Field& t) {
      if (t.number == 1) value.type = static_cast<DataType>(t.value);
      if (t.number == 2) value.shape = shape(message(t));
    });
  });
}

StatedValue Reader::value(ByteRange range) {
  count(tensors_, most_tensors, "values and tensors", range.begin);
  StatedValue result;
  each(range, [&](const Field& f) {
    if (f.number == 1) result.name = text(f);
    if (f.number == 2) read_type(message(f), result);
  });
  return result;
}

double number_of(DataType type, std::uint64_t bits) {
  switch (type) {
    case 1: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case 2: return static_cast<std::uint8_t>(bits);
    case 3: return static_cast<std::int8_t>(bits);
    case 4: return static_cast<std::uint16_t>(bits);
    case 5: return static_cast<std::int16_t>(bits);
    case 6: return static_cast<std::int32_t>(bits);
    case 7: return static_cast<double>(static_cast<std::int64_t>(bits));
    case 9: return bits == 0 ? 0 : 1;
    case 11: return std::bit_cast<double>(bits);
    case 12: return static_cast<std::uint32_t>(bits);
    case 13: return static_cast<double>(bits);
    default: return 0;
  }
}

/// Bytes in raw_data of the types that shapes are computed in; 0: none of them.
std::uint64_t raw_width(DataType type) {
  switch (type) {
    case 2:
    case 3:
    case 9: return 1;
    case 4:
    case 5: return 2;
    case 1:
    case 6:
    case 12: return 4;
    case 7:
    case 11:
    case 13: return 8;
    default: return 0;
  }
}

void Reader::read_numbers(StoredTensor& tensor, const std::vector<Field>& data) {
  double elements = 1;
  for (const std::int64_t d : tensor.dims) elements *= static_cast<double>(d);
  const std::uint64_t width = raw_width(tensor.type);
  if (elements > static_cast<double>(most_read_numbers) || width == 0) return;
  std::vector<double> numbers;
  for (const Field& f : data) {
    std::vector<std::uint64_t> bits;
    if (f.number == 9) {
      if (!f.is_bytes() || f.bytes.size() != static_cast<std::uint64_t>(elements) * width) return;
      for (std::uint64_t i = f.bytes.begin; i < f.bytes.end; i += width) {
        std::uint64_t value = 0;
        for (std::uint64_t b = 0; b < width; ++b) value |= static_cast<std::uint64_t>(source_.at(i + b)) << (8 * b);
        numbers.push_back(number_of(tensor.type, value));
      }
      continue;
    }
    const WireType each = f.number == 4 ? WireType::fixed32 : f.number == 10 ? WireType::fixed64 : WireType::varint;
    append_numbers(source_, f, each, bits, static_cast<std::size_t>(most_read_numbers));
    for (const std::uint64_t b : bits) numbers.push_back(number_of(tensor.type, b));
  }
  if (static_cast<double>(numbers.size()) == elements) tensor.numbers = std::move(numbers);
}

StoredTensor Reader::tensor(ByteRange range) {
  count(tensors_, most_tensors, "values and tensors", range.begin);
  StoredTensor result;
  std::vector<std::uint64_t> dims;
  std::vector<Field> data;
  each(range, [&](const Field& f) {
    if (f.number == 1) append_numbers(source_, f, WireType::varint, dims, most_rank);
    if (f.number == 2) result.type = static_cast<DataType>(f.value);
    if (f.number == 8) result.name = text(f);
    const bool holds_numbers = f.number == 4 || f.number == 5 || f.number == 7 || (f.number >= 9 && f.number <= 11);
    if (holds_numbers && data.size() <= static_cast<std::size_t>(most_read_numbers)) data.push_back(f);
  });
  for (const std::uint64_t d : dims) {
    const auto size = static_cast<std::int64_t>(d);
    if (size < 0)
      source_.refuse(range.begin, "tensor " + result.name + " has a dimension of " + std::to_string(size),
                     "dimensions of 0 or more");
    result.dims.push_back(size);
  }
  read_numbers(result, data);
  return result;
}

Attribute Reader::attribute(ByteRange range, int depth) {
  Attribute a;
  std::vector<std::uint64_t> integers;
  std::vector<std::uint64_t> floats;
  constexpr std::size_t most_numbers = 65'536;
  each(range, [&](const Field& f) {
    switch (f.number) {
      case 1: a.name = text(f); break;
      case 2: a.number = std::bit_cast<float>(static_cast<std::uint32_t>(f.value)); break;
      case 3: a.integer = f.integer(); break;
      case 4:
        if (f.is_bytes() && f.bytes.size() <= 4096) a.text = text(f);
        break;
      case 5: a.tensor = std::make_shared<StoredTensor>(tensor(message(f))); break;
      case 6: a.graph = std::make_shared<Graph>(graph(message(f), depth + 1)); break;
      case 7: append_numbers(source_, f, WireType::fixed32, floats, most_numbers); break;
      case 8: append_numbers(source_, f, WireType::varint, integers, most_numbers); break;
      case 21: a.refers_to = text(f); break;
      default: break;
    }
  });
  for (const std::uint64_t i : integers) a.integers.push_back(static_cast<std::int64_t>(i));
  for (const std::uint64_t b : floats) a.numbers.push_back(number_of(type_float, b));
  return a;
}

Node Reader::node(ByteRange range, int depth) {
  count(nodes_, most_nodes, "nodes", range.begin);
  Node n;
  each(range, [&](const Field& f) {
    if (f.number == 1 || f.number == 2 || f.number == 5)
      count(names_, 4 * most_tensors, "inputs, outputs and attributes", range.begin);
    switch (f.number) {
      case 1: n.inputs.push_back(text(f)); break;
      case 2: n.outputs.push_back(text(f)); break;
      case 3: n.name = text(f); break;
      case 4: n.type = text(f); break;
      case 5: n.attributes.push_back(attribute(message(f), depth)); break;
      case 7: n.domain = text(f); break;
      case 8: n.overload = text(f); break;
      default: break;
    }
  });
  if (n.domain == "ai.onnx") n.domain.clear();
  if (n.name.empty()) n.name = n.outputs.empty() ? n.type : n.outputs.front();
  return n;
}

Graph Reader::graph(ByteRange range, int depth) {
  if (depth > most_depth) source_.refuse(range.begin, "subgraphs nested more than 16 deep", "fewer");
  Graph g;
  each(range, [&](const Field& f) {
    switch (f.number) {
      case 1: g.nodes.push_back(node(message(f), depth)); break;
      case 5: g.initializers.push_back(tensor(message(f))); break;
      case 11: g.inputs.push_back(value(message(f))); break;
      case 12: g.outputs.push_back(value(message(f))); break;
      case 13: g.values.push_back(value(message(f))); break;
      default: break;
    }
  });
  return g;
}

Function Reader::function(ByteRange range) {
  Function result;
  each(range, [&](const Field& f) {
    switch (f.number) {
      case 1: result.name = text(f); break;
      case 4: result.inputs.push_back(text(f)); break;
      case 5: result.outputs.push_back(text(f)); break;
      case 7: result.nodes.push_back(node(message(f), 0)); break;
      case 10: result.domain = text(f); break;
      case 11: result.defaults.push_back(attribute(message(f), 0)); break;
      case 13: result.overload = text(f); break;
      default: break;
    }
  });
  if (result.domain == "ai.onnx") result.domain.clear();
  return result;
}

Model Reader::model() {
  Model model;
  bool has_graph = false;
  each({0, source_.size()}, [&](const Field& f) {
    if (f.number == 2 && f.is_bytes() && f.bytes.size() <= 256) model.producer = text(f);
    if (f.number == 8) {
      std::string domain;
      std::int64_t version = 0;
      each(message(f), [&](const Field& o) {
        if (o.number == 1) domain = text(o);
        if (o.number == 2) version = o.integer();
      });
      if (model.opsets.size() < 1000) model.opsets[domain == "ai.onnx" ? "" : domain] = version;
    }
    if (f.number == 25) model.functions.push_back(function(message(f)));
    if (f.number != 7) return;
    if (has_graph) source_.refuse(f.bytes.begin, "a second graph", "an ONNX file");
    has_graph = true;
    model.graph = graph(message(f), 0);
  });
  if (!has_graph || model.graph.nodes.empty())
    throw InputError({source_.name(), "holds no graph of operators", "an ONNX model", ""});
  return model;
}

}  // namespace

bool is_floating(DataType type) {
  // float, float16, double, complex64, complex128, bfloat16, the five float8 and float4 types
  return type == 1 || type == 10 || type == 11 || (type >= 14 && type <= 20) || type >= 23;
}

std::int64_t bits_of(DataType type) {
  switch (type) {
    case 2:
    case 3:
    case 9: return 8;
    case 4:
    case 5:
    case 10:
    case 16: return 16;
    case 7:
    case 11:
    case 13:
    case 14: return 64;
    case 15: return 128;
    case 17:
    case 18:
    case 19:
    case 20:
    case 24: return 8;
    case 21:
    case 22:
    case 23: return 4;
    default: return 32;
  }
}

const Attribute* Node::find(std::string_view attribute) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const Attribute& a) { return a.name == attribute && a.refers_to.empty(); });
  return found == attributes.end() ? nullptr : &*found;
}

std::int64_t Node::integer(std::string_view attribute, std::int64_t otherwise) const {
  const Attribute* a = find(attribute);
  return a == nullptr ? otherwise : a->integer.value_or(a->number ? 0 : otherwise);
}

std::string Node::text(std::string_view attribute, std::string otherwise) const {
  const Attribute* a = find(attribute);
  return a == nullptr ? otherwise : a->text.value_or(std::move(otherwise));
}

const std::vector<std::int64_t>* Node::integers(std::string_view attribute) const {
  const Attribute* a = find(attribute);
  return a == nullptr ? nullptr : &a->integers;
}

std::string Node::full_type() const { return domain.empty() ? type : domain + "." + type; }

Model read_model(ByteSource& source) { return Reader(source).model(); }

}  // namespace plumbline::onnx

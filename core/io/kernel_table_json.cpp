#include "core/io/kernel_table_json.h"

#include "core/io/json_array.h"
#include "core/io/json_choice.h"
#include "core/io/json_file.h"

namespace plumbline {
namespace {

// Beyond what any kernel of one device reaches; they refuse a wrong unit, and no answer depends on them. Times: from a
// picosecond, the resolution of simulated time (core/quantity), to eleven days.
constexpr std::int64_t most_elements = 1'000'000'000'000;
constexpr std::int64_t most_kernel_bytes = 1'000'000'000'000'000;
constexpr double least_seconds = 1e-12;
constexpr double most_kernel_seconds = 1e6;
constexpr double most_slowdown = 1e6;

Json entry_json(const ProductTiming& p) {
  return Json::Object{
      {"batch", p.batch},      {"m", p.m}, {"n", p.n}, {"k", p.k}, {"format", to_text(p.format)}, {"kind", p.kind},
      {"median_s", p.median_s}};
}
Json entry_json(const AttentionTiming& a) {
  return Json::Object{{"batch", a.batch},         {"seq", a.sequence},          {"heads", a.heads},
                      {"kv_heads", a.kv_heads},   {"head_dim", a.head_dim},     {"format", to_text(a.format)},
                      {"forward_s", a.forward_s}, {"backward_s", a.backward_s}, {"kernel", a.kernel}};
}
Json entry_json(const MemoryTiming& m) {
  return Json::Object{
      {"op", m.op}, {"format", to_text(m.format)}, {"bytes", m.bytes.value()}, {"median_s", m.median_s}};
}
Json entry_json(const CollectiveTiming& c) {
  return Json::Object{
      {"collective", c.collective}, {"ranks", c.ranks}, {"bytes", c.bytes.value()}, {"median_s", c.median_s}};
}
Json entry_json(const CrowdTiming& c) { return Json::Object{{"threads", c.threads}, {"slowdown", c.slowdown}}; }

template <class T>
Json list_json(const std::vector<T>& entries) {
  return json_array(entries, [](const T& entry) { return entry_json(entry); });
}

std::int64_t count(JsonObject& object, std::string_view key) { return object.at(key).integer(1, most_elements); }
double seconds(JsonObject& object, std::string_view key) {
  return object.at(key).number(least_seconds, most_kernel_seconds);
}

void read(JsonObject& object, ProductTiming& p) {
  p.batch = count(object, "batch");
  p.m = count(object, "m");
  p.n = count(object, "n");
  p.k = count(object, "k");
  p.format = choice_from_json(object.at("format"), all_number_formats);
  p.kind = object.at("kind").string();
  p.median_s = seconds(object, "median_s");
}
void read(JsonObject& object, AttentionTiming& a) {
  a.batch = count(object, "batch");
  a.sequence = count(object, "seq");
  a.heads = count(object, "heads");
  a.kv_heads = count(object, "kv_heads");
  a.head_dim = count(object, "head_dim");
  a.format = choice_from_json(object.at("format"), all_number_formats);
  a.forward_s = seconds(object, "forward_s");
  a.backward_s = seconds(object, "backward_s");
  if (const auto kernel = object.find("kernel")) a.kernel = kernel->string();
}
void read(JsonObject& object, MemoryTiming& m) {
  m.op = object.at("op").string();
  m.format = choice_from_json(object.at("format"), all_number_formats);
  m.bytes = Bytes(object.at("bytes").integer(1, most_kernel_bytes));
  m.median_s = seconds(object, "median_s");
}
void read(JsonObject& object, CollectiveTiming& c) {
  c.collective = object.at("collective").string();
  c.ranks = static_cast<std::int32_t>(object.at("ranks").integer(1, 1'000'000));
  c.bytes = Bytes(object.at("bytes").integer(1, most_kernel_bytes));
  c.median_s = seconds(object, "median_s");
}
void read(JsonObject& object, CrowdTiming& c) {
  c.threads = static_cast<std::int32_t>(object.at("threads").integer(1, 1'000'000));
  c.slowdown = object.at("slowdown").number(0, most_slowdown);
}

template <class T>
void read_list(JsonObject& root, std::string_view key, std::vector<T>& entries) {
  for (const JsonPlace& place : root.at(key).elements()) {
    JsonObject object(place);
    read(object, entries.emplace_back());
    object.finish();
  }
}

}  // namespace

Json to_json(const KernelTable& table) {
  Json::Object object{{"format", kernel_table_format},
                      {"device", table.device},
                      {"machine", table.machine},
                      {"library", table.library},
                      {"cores", table.cores},
                      {"gemm", list_json(table.products)},
                      {"attention", list_json(table.attention)},
                      {"memory_bound", list_json(table.memory_bound)},
                      {"collectives", list_json(table.collectives)},
                      {"crowds", list_json(table.crowds)}};
  if (table.core_share < 1) object.emplace_back("core_share", table.core_share);
  return object;
}

KernelTable kernel_table_from_json(const JsonPlace& root) {
  JsonObject object = open_document(root, kernel_table_format);
  KernelTable table;
  table.device = object.at("device").string();
  table.machine = object.at("machine").string();
  table.library = object.at("library").string();
  table.cores = static_cast<std::int32_t>(object.at("cores").integer(1, 1'000'000));
  read_list(object, "gemm", table.products);
  read_list(object, "attention", table.attention);
  read_list(object, "memory_bound", table.memory_bound);
  read_list(object, "collectives", table.collectives);
  read_list(object, "crowds", table.crowds);
  if (const auto share = object.find("core_share")) table.core_share = share->number(0, 1);
  object.finish();
  return table;
}

KernelTable read_kernel_table_file(const std::string& file) {
  const Json json = read_json_file(file);
  return kernel_table_from_json(JsonPlace(json, file + ":"));
}

}  // namespace plumbline

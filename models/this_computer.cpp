#include "models/this_computer.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <thread>

namespace plumbline {
namespace {

/// fp32 FLOPs that one core finishes in a cycle: two units, a multiply-add counted as two. The first whose flag the
/// processor has.
struct VectorUnits {
  std::string_view flag;
  std::string_view name;
  double flops_per_cycle;
};
constexpr std::array vector_units{VectorUnits{"avx512f", "AVX-512", 64}, VectorUnits{"fma", "AVX2 with FMA", 32},
                                  VectorUnits{"avx", "AVX", 16}, VectorUnits{"asimd", "NEON", 16},
                                  VectorUnits{"sse2", "SSE2", 8}};
constexpr double scalar_flops_per_cycle = 2;
constexpr double usual_clock_hertz = 2e9;

constexpr Bytes least_memory = 1_GiB;
constexpr Bytes usual_cache = 2_MiB;
/// Of one core, until `calibrate` measures: several times what main memory gives, because small networks stay in cache.
constexpr BytesPerSecond core_bandwidth{40e9};
constexpr BytesPerSecond message_bandwidth{5e9};
constexpr Watts core_power{15};
constexpr Watts host_power{30};

/// The text after "key :" of the first line that begins with the key.
std::string line_value(std::string_view text, std::string_view key) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t colon = line.find(':');
    if (line.starts_with(key) && colon != std::string_view::npos &&
        line.substr(key.size(), colon - key.size()).find_first_not_of(" \t") == std::string_view::npos) {
      const std::size_t first = line.find_first_not_of(" \t", colon + 1);
      return first == std::string_view::npos ? "" : std::string(line.substr(first));
    }
    begin = end + 1;
  }
  return "";
}

/// The number at the begin of a text.
std::optional<double> leading_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && value > 0 ? std::optional(value) : std::nullopt;
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == ' ';
    const std::size_t end = at + word.size();
    if (begins && (end == text.size() || text[end] == ' ')) return true;
  }
  return false;
}

struct Clock {
  double hertz;
  std::string source;
};

/// The highest clock, else the one in the model's name, else that of the time-stamp counter.
Clock clock_of(const ComputerTexts& texts, std::string_view model) {
  if (texts.highest_clock)
    if (const auto kilohertz = leading_number(*texts.highest_clock))
      return {*kilohertz * 1e3, "cpufreq/cpuinfo_max_freq"};
  if (const std::size_t at = model.find("@ "); at != std::string_view::npos)
    if (const auto gigahertz = leading_number(model.substr(at + 2))) return {*gigahertz * 1e9, "the processor's name"};
  // Linux calibrates its delay loop from the time-stamp counter: two counts a cycle.
  if (const auto bogomips = leading_number(line_value(texts.cpuinfo, "bogomips")); bogomips && *bogomips > 1000)
    return {*bogomips * 1e6 / 2, "half of bogomips in /proc/cpuinfo"};
  return {usual_clock_hertz, "no clock was found"};
}

void set_vector_units(ComputerFacts& facts, std::string_view flags) {
  facts.flops_per_cycle = scalar_flops_per_cycle;
  facts.vector_units = "no vector units";
  for (const VectorUnits& units : vector_units) {
    if (!has_word(flags, units.flag)) continue;
    facts.flops_per_cycle = units.flops_per_cycle;
    facts.vector_units = units.name;
    return;
  }
}

/// "max 100000" limits nothing; "150000 100000" is a core and a half, of which one rank keeps a whole one.
std::int32_t limited_cores(std::int32_t cores, const std::optional<std::string>& limit) {
  if (!limit) return cores;
  const auto quota = leading_number(*limit);
  const std::size_t space = limit->find(' ');
  const auto period =
      space == std::string::npos ? std::nullopt : leading_number(std::string_view(*limit).substr(space + 1));
  if (!quota || !period) return cores;
  return std::clamp(static_cast<std::int32_t>(std::min(*quota / *period, 1e6)), 1, cores);
}

std::optional<std::string> text_of(const char* path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Bytes page_memory() {
#ifdef _SC_PHYS_PAGES
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES);
  const std::int64_t size = sysconf(_SC_PAGESIZE);
  if (pages > 0 && size > 0) return Bytes(pages * size);
#endif
  return least_memory;
}

Bytes last_level_cache() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  for (const int name : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (const std::int64_t size = sysconf(name); size > 0) return Bytes(size);
#endif
  return Bytes(0);
}

template <class T>
Sourced<T> sourced(T value, std::string source, SourceKind kind) {
  return {value, std::move(source), kind, ""};
}

/// A core alone.
Device core_device(const ComputerFacts& facts) {
  const auto assumed = [](auto value, const char* source) { return sourced(value, source, SourceKind::assumed); };
  Device device;
  device.name = "cpu-core";
  device.vendor = facts.vendor;
  device.architecture = DeviceArchitecture::cpu;
  device.memory =
      sourced(facts.memory, "MemTotal of /proc/meminfo, or the control group's limit", SourceKind::measured);
  device.memory_bandwidth = assumed(core_bandwidth, "one core, caches included; plan calibrate --backend cpu measures");
  const FlopsPerSecond peak(facts.clock_hertz * facts.flops_per_cycle);
  const std::string source = "one core of " + facts.model + ": " + facts.vector_units + ", clock from " +
                             facts.clock_source + "; 16-bit numbers are computed as fp32";
  for (const NumberFormat format : {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16})
    device.peaks[format] = sourced(peak, source, SourceKind::published);
  device.streaming_multiprocessors = 1;
  device.l2_cache = facts.cache.value() > 0 ? sourced(facts.cache, "last level, sysconf", SourceKind::measured)
                                            : assumed(usual_cache, "the size of the cache is unknown");
  device.power = assumed(core_power, "one core of a server");
  return device;
}

}  // namespace

ComputerFacts facts_from(const ComputerTexts& texts, std::int32_t usable_cores, Bytes memory) {
  ComputerFacts facts;
  const auto or_unknown = [](std::string text) { return text.empty() ? std::string("unknown") : text; };
  facts.vendor = or_unknown(line_value(texts.cpuinfo, "vendor_id"));
  facts.model = or_unknown(line_value(texts.cpuinfo, "model name")).substr(0, 100);
  facts.cores = limited_cores(std::max(1, usable_cores), texts.group_cpu_limit);
  facts.memory = std::max(memory, least_memory);
  if (const auto kibibytes = leading_number(line_value(texts.meminfo, "MemTotal")))
    facts.memory = Bytes(static_cast<std::int64_t>(*kibibytes)) * 1024;
  if (const auto limit = texts.group_memory_limit ? leading_number(*texts.group_memory_limit) : std::nullopt)
    if (*limit < static_cast<double>(facts.memory.value())) facts.memory = Bytes(static_cast<std::int64_t>(*limit));
  const Clock clock = clock_of(texts, facts.model);
  facts.clock_hertz = clock.hertz;
  facts.clock_source = clock.source;
  const std::string flags = line_value(texts.cpuinfo, "flags");
  set_vector_units(facts, flags.empty() ? line_value(texts.cpuinfo, "Features") : flags);
  return facts;
}

ComputerFacts computer_facts() {
  ComputerTexts texts;
  texts.cpuinfo = text_of("/proc/cpuinfo").value_or("");
  texts.meminfo = text_of("/proc/meminfo").value_or("");
  texts.highest_clock = text_of("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  texts.group_cpu_limit = text_of("/sys/fs/cgroup/cpu.max");
  texts.group_memory_limit = text_of("/sys/fs/cgroup/memory.max");
  ComputerFacts facts =
      facts_from(texts, static_cast<std::int32_t>(std::thread::hardware_concurrency()), page_memory());
  facts.cache = last_level_cache();
  return facts;
}

Cluster this_computer(const ComputerFacts& facts) {
  const auto assumed = [](auto value, const char* source) { return sourced(value, source, SourceKind::assumed); };
  Node node;
  node.name = this_computer_name;
  node.device = core_device(facts);
  node.devices = 1;
  node.interconnect = {InterconnectKind::shared_memory,
                       assumed(message_bandwidth, "copies between threads; plan calibrate --backend cpu measures"), 1,
                       1};
  node.cpu_vendor = facts.vendor == "AuthenticAMD"   ? CpuVendor::amd
                    : facts.vendor == "GenuineIntel" ? CpuVendor::intel
                                                     : CpuVendor::arm;
  node.host_memory = node.device.memory;
  node.pcie_bandwidth = assumed(message_bandwidth, "copies inside of the computer's memory");
  node.host_power = assumed(host_power, "a computer alongside its cores");
  node.shared_cores = facts.cores;
  return {
      std::string(this_computer_name), {{with_devices(std::move(node), most_local_ranks), 1}}, {"none", {}}, {}, {}};
}

}  // namespace plumbline

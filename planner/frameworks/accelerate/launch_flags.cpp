#include "planner/frameworks/accelerate/launch_flags.h"

#include <array>
#include <deque>
#include <string>

#include "planner/frameworks/accelerate/config_keys.h"

namespace plumbline {
namespace {

constexpr std::string_view source = "src/accelerate/commands/launch.py";

/// A section whose keys have no flag of their own name: all that begin so.
struct Section {
  std::string_view path;
  std::string_view flags;
};
constexpr std::array sections{Section{"dynamo_config", "--dynamo_*"},
                              Section{"megatron_lm_config", "--megatron_lm_*"},
                              Section{"fsdp_config.*", "--fsdp_*"},
                              Section{"deepspeed_config.*", "--zero3_*"},
                              Section{"fp8_config.*", "--fp8_*"},
                              Section{"use_cpu", "--cpu"},
                              Section{"parallelism_config.*", "--parallelism_config_*"},
                              Section{"mpirun_config", "--mpirun_*"}};

constexpr std::array harmless{"--quiet",
                              "--num_cpu_threads_per_process",
                              "--env",
                              "--vm",
                              "--no_python",
                              "--deepspeed_hostfile",
                              "--deepspeed_multinode_launcher",
                              "--deepspeed_moe_layer_cls_names",
                              "--rdzv_conf",
                              "--use_parallelism_config",
                              "--no_tpu_cluster"};

/// The flag of a key; lives as long as the program.
std::string_view flag_of(std::string_view path) {
  static std::deque<std::string> names;
  for (const Section& section : sections)
    if (section.path == path) return section.flags;
  const std::size_t dot = path.rfind('.');
  return names.emplace_back("--" + std::string(dot == std::string_view::npos ? path : path.substr(dot + 1)));
}

/// distributed_type by a switch, with the ZeRO stage that it has where nothing else is said.
LaunchKey kind_flag(std::string_view flag, std::int32_t zero_stage) {
  return {.path = flag, .source = source, .read = [zero_stage](const Json& value, LaunchSettings& s) {
            if (value.if_bool() == nullptr || *value.if_bool()) s.zero_stage = zero_stage;
          }};
}

std::vector<LaunchKey> made_flags() {
  std::vector<LaunchKey> rows{kind_flag("--multi_gpu", 0),
                              kind_flag("--use_deepspeed", 2),
                              kind_flag("--use_fsdp", 3),
                              {.path = "--use_megatron_lm", .source = source, .effect = KeyEffect::memory_and_time}};
  for (LaunchKey row : accelerate_config_keys()) {
    if (row.path == "distributed_type" || row.path == "tpu_*") continue;
    row.path = flag_of(row.path);
    row.write = nullptr;
    rows.push_back(row);
  }
  for (const char* const flag : harmless) rows.push_back({.path = flag, .source = source});
  return rows;
}

std::vector<UsualValue> made_usual_values() {
  std::vector<UsualValue> values = accelerate_usual_values();
  for (UsualValue& value : values) value.path = flag_of(value.path);
  values.push_back({"--dynamo_backend", 0, "no"});
  return values;
}

}  // namespace

const std::vector<LaunchKey>& accelerate_launch_flags() {
  static const std::vector<LaunchKey> rows = made_flags();
  return rows;
}

const std::vector<UsualValue>& accelerate_usual_flags() {
  static const std::vector<UsualValue> values = made_usual_values();
  return values;
}

}  // namespace plumbline

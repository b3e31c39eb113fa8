#include "planner/frameworks/launch/launchers.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "planner/frameworks/launch/launch_recipe.h"
#include "planner/frameworks/syntax/quoting.h"

namespace plumbline {
namespace {

/// Nodes that all start as many processes.
struct Nodes {
  std::int64_t count = 1;
  std::int64_t processes = 1;  ///< on each, one per GPU
};

Nodes nodes_of(const LaunchSettings& settings) {
  constexpr std::int64_t usual_node = 8;
  const std::int64_t known = settings.nodes.value_or(1) * settings.devices_per_node.value_or(1);
  const std::int64_t devices = std::max<std::int64_t>(1, settings.devices.value_or(known));
  std::int64_t processes = std::clamp<std::int64_t>(settings.devices_per_node.value_or(usual_node), 1, devices);
  if (settings.nodes && !settings.devices_per_node)
    processes = std::max<std::int64_t>(1, devices / std::max<std::int64_t>(1, *settings.nodes));
  while (devices % processes != 0) --processes;  // torchrun starts as many on every node
  return {devices / processes, processes};
}

bool is_flag(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && std::isdigit(static_cast<unsigned char>(word[1])) == 0 && word[1] != '.';
}

std::vector<std::string> words_of(std::string_view script) {
  std::vector<std::string> words;
  while (!script.empty()) {
    const std::size_t end = std::min(script.find(' '), script.size());
    if (end > 0) words.emplace_back(script.substr(0, end));
    script.remove_prefix(std::min(end + 1, script.size()));
  }
  return words;
}

/// The program behind torchrun's own flags: a flag with its values on each line.
std::string program_lines(const LaunchedProgram& program) {
  std::string text = " \\\n ";
  for (const std::string& word : words_of(program.script)) text += " " + shell_quoted(word);
  bool follows_flag = false;
  for (const std::string& word : program.arguments) {
    text += (is_flag(word) || !follows_flag ? " \\\n  " : " ") + shell_quoted(word);
    follows_flag = follows_flag || is_flag(word);
  }
  return text + "\n";
}

std::string gpus_text(const Nodes& nodes) {
  if (nodes.count == 1) return std::to_string(nodes.processes) + (nodes.processes == 1 ? " GPU" : " GPUs");
  return std::to_string(nodes.count) + " nodes of " + std::to_string(nodes.processes) +
         (nodes.processes == 1 ? " GPU" : " GPUs");
}

std::string degrees(const Nodes& nodes) {
  return " \\\n  --nnodes=" + std::to_string(nodes.count) +
         " \\\n  --nproc-per-node=" + std::to_string(nodes.processes);
}

std::string restarts(const LaunchSettings& settings) {
  return can_restart(settings) ? " \\\n  --max-restarts=" + std::to_string(most_restarts) : "";
}

constexpr std::string_view script_head = "#!/usr/bin/env bash\n";

std::string exports(const LaunchedProgram& program) {
  std::string text;
  for (const LaunchVariable& one : program.environment)
    text += "export " + std::string(one.name) + "=" + shell_quoted(one.value) + "\n";
  return text.empty() ? text : text + "\n";
}

LaunchFile shell_file(const LaunchedProgram& program, const Nodes& nodes, const LaunchSettings& settings) {
  std::string text(script_head);
  text += "# Starts the training on " + gpus_text(nodes) + ".";
  if (nodes.count > 1)
    text += " Run it on every node, with NODE_RANK (0 to " + std::to_string(nodes.count - 1) +
            "),\n# MASTER_ADDR (the node of NODE_RANK 0) and MASTER_PORT in the environment.";
  text += "\nset -euo pipefail\n\n" + exports(program) + "exec torchrun";
  if (nodes.count == 1) text += " \\\n  --standalone";
  text += degrees(nodes);
  // Of several nodes those that go on would wait for the restarted one: their addresses are fixed, nobody meets anew.
  if (nodes.count == 1) text += restarts(settings);
  if (nodes.count > 1)
    text +=
        " \\\n  --node-rank=\"${NODE_RANK:?is the number of this node}\""
        " \\\n  --master-addr=\"${MASTER_ADDR:?is the address of the node of NODE_RANK 0}\""
        " \\\n  --master-port=\"${MASTER_PORT:-29500}\"";
  return {"launch.sh", text + program_lines(program), true};
}

/// Lower case letters, digits and '-', from a letter to no '-', as Kubernetes names things (RFC 1035); it adds
/// "-master-0" and the like, up to 63 characters.
std::string job_name(std::string_view asked) {
  constexpr std::size_t longest = 45;
  std::string name;
  for (const char c : asked) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_kept = byte < 0x80 && std::isalnum(byte) != 0;
    if (!is_kept && (name.empty() || name.back() == '-')) continue;
    name += is_kept ? static_cast<char>(std::tolower(byte)) : '-';
  }
  if (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0) name.insert(0, "train-");
  name.resize(std::min(name.size(), longest));
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "training" : name;
}

LaunchFile slurm_file(const LaunchedProgram& program, const Nodes& nodes, const LaunchSettings& settings) {
  std::string text(script_head);
  text += "#SBATCH --job-name=" + job_name(program.name) + "\n#SBATCH --nodes=" + std::to_string(nodes.count) +
          "\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=" + std::to_string(nodes.processes) +
          "\n#SBATCH --exclusive\n# Starts the training on " + gpus_text(nodes) + ": sbatch job.slurm.\n" +
          "set -euo pipefail\n\n" + exports(program) +
          "hosts=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\")\n"
          "first_host=${hosts%%$'\\n'*}\n\n"
          "srun torchrun" +
          degrees(nodes) +
          " \\\n  --rdzv-id=\"$SLURM_JOB_ID\""
          " \\\n  --rdzv-backend=c10d"
          " \\\n  --rdzv-endpoint=\"$first_host:29500\"" +
          restarts(settings);
  return {"job.slurm", text + program_lines(program), true};
}

/// The end of a line: a string of YAML that Kubernetes expands nothing in: it takes "$(NAME)" for a variable, "$$(" for
/// "$(". Always quoted, as a container's arguments are strings.
std::string yaml_word(std::string_view word) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word.substr(i, 2) == "$(") text += '$';
    text += word[i];
  }
  return to_json_text(Json(std::move(text)), -1);
}

/// Of Master or Worker. The operator puts torchrun's number of nodes and processes, this node's rank and the master's
/// address into the environment (PET_*), so they are no arguments.
std::string replicas(std::string_view kind, std::int64_t count, const std::vector<std::string>& words,
                     const std::vector<LaunchVariable>& environment, const Nodes& nodes, std::string_view policy) {
  std::string text = "    " + std::string(kind) + ":\n      replicas: " + std::to_string(count) +
                     "\n      restartPolicy: " + std::string(policy) +
                     "\n      template:\n        spec:\n          containers:\n"
                     "            - name: pytorch\n"
                     "              image: YOUR-IMAGE  # one that holds the training program\n"
                     "              command: [\"torchrun\"]\n              args:\n";
  for (const std::string& word : words) text += "                - " + yaml_word(word);
  if (!environment.empty()) text += "              env:\n";
  for (const LaunchVariable& one : environment)
    text += "                - name: " + std::string(one.name) + "\n                  value: " + yaml_word(one.value);
  return text + "              resources:\n                limits:\n                  nvidia.com/gpu: " +
         std::to_string(nodes.processes) + "\n" + std::string(shared_memory_volume);
}

LaunchFile kubeflow_file(const LaunchedProgram& program, const Nodes& nodes, const LaunchSettings& settings) {
  std::vector<std::string> words = words_of(program.script);
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  std::string text = "# Starts the training on " + gpus_text(nodes) +
                     ": kubectl apply -f job.yaml (Kubeflow's training operator 1.7 or newer).\n"
                     "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata:\n  name: " +
                     job_name(program.name) + "\nspec:\n  nprocPerNode: \"" + std::to_string(nodes.processes) +
                     "\"\n  pytorchReplicaSpecs:\n" +
                     replicas("Master", 1, words, program.environment, nodes, restart_policy(settings));
  if (nodes.count > 1)
    text += replicas("Worker", nodes.count - 1, words, program.environment, nodes, restart_policy(settings));
  return {"job.yaml", text, false};
}

}  // namespace

bool can_restart(const LaunchSettings& settings) { return checkpoint_interval(settings.recipe).has_value(); }

std::string_view restart_policy(const LaunchSettings& settings) {
  return can_restart(settings) ? "OnFailure" : "Never";
}

std::vector<LaunchFile> launcher_files(const LaunchedProgram& program, const LaunchSettings& settings) {
  const Nodes nodes = nodes_of(settings);
  return {shell_file(program, nodes, settings), slurm_file(program, nodes, settings),
          kubeflow_file(program, nodes, settings)};
}

}  // namespace plumbline

#include "planner/frameworks/accelerate/training_script.h"

#include "planner/frameworks/launch/hub_model.h"
#include "planner/frameworks/launch/launchers.h"
#include "planner/frameworks/launch/script_parts.h"
#include "planner/frameworks/launch/torch_optimizers.h"
#include "planner/frameworks/syntax/quoting.h"
#include "planner/frameworks/syntax/script_template.h"

namespace plumbline {
namespace {

std::string optimizer_call(std::optional<Optimizer> optimizer) {
  return torch_optimizer(optimizer.value_or(Optimizer::adamw), "decayed(model.parameters())",
                         {.learning_rate = "args.learning_rate",
                          .beta1 = "args.adam_beta1",
                          .beta2 = "args.adam_beta2",
                          .epsilon = "args.adam_epsilon",
                          .momentum = "args.momentum",
                          .weight_decay = "args.weight_decay"});
}

struct Nodes {
  std::int64_t count = 1;
  std::int64_t processes = 1;
};

Nodes nodes_of(const LaunchSettings& s) {
  const std::int64_t devices = s.devices.value_or(1);
  const std::int64_t count = s.nodes.value_or(1);
  return {count, count < 1 ? devices : devices / count};
}

LaunchFile shell_file(const std::vector<std::string>& words, const Nodes& nodes, const LaunchSettings& s) {
  std::string text = "#!/usr/bin/env bash\n# Starts one process per GPU by accelerate.yaml.";
  if (nodes.count > 1)
    text += " Run it on every node, with NODE_RANK (0 to " + std::to_string(nodes.count - 1) +
            "),\n# MASTER_ADDR (the node of NODE_RANK 0) and MASTER_PORT in the environment.";
  text += "\nset -euo pipefail\n\nexec accelerate launch \\\n  --config_file accelerate.yaml";
  if (nodes.count > 1)
    text +=
        " \\\n  --machine_rank \"${NODE_RANK:?is the number of this node}\""
        " \\\n  --main_process_ip \"${MASTER_ADDR:?is the address of the node of NODE_RANK 0}\""
        " \\\n  --main_process_port \"${MASTER_PORT:-29500}\"";
  if (nodes.count == 1 && can_restart(s)) text += " \\\n  --max_restarts " + std::to_string(most_restarts);
  text += " \\\n  train.py";
  for (const std::string& word : words) text += (word.starts_with("--") ? " \\\n  " : " ") + shell_quoted(word);
  return {"launch.sh", text + "\n", true};
}

LaunchFile slurm_file(const Nodes& nodes) {
  return {"job.slurm",
          "#!/usr/bin/env bash\n#SBATCH --nodes=" + std::to_string(nodes.count) +
              "\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=" + std::to_string(nodes.processes) +
              "\n#SBATCH --exclusive\nset -euo pipefail\n\n"
              "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\nexport MASTER_ADDR\n"
              "srun bash -c 'NODE_RANK=$SLURM_NODEID exec ./launch.sh'\n",
          true};
}

std::string replicas(std::string_view kind, std::int64_t count, const Nodes& nodes, const LaunchSettings& s) {
  return "    " + std::string(kind) + ":\n      replicas: " + std::to_string(count) +
         "\n      restartPolicy: " + std::string(restart_policy(s)) +
         "\n      template:\n        spec:\n          containers:\n"
         "            - name: pytorch\n"
         "              image: YOUR-IMAGE  # one that holds these files and the training program\n"
         "              command: [bash, -c, \"NODE_RANK=$RANK exec ./launch.sh\"]\n"
         "              resources:\n                limits:\n                  nvidia.com/gpu: " +
         std::to_string(nodes.processes) + "\n" + std::string(shared_memory_volume);
}

/// The operator puts RANK (of the pod), MASTER_ADDR and MASTER_PORT into the environment.
LaunchFile kubeflow_file(const Nodes& nodes, const LaunchSettings& s) {
  std::string text =
      "# kubectl apply -f job.yaml (Kubeflow's training operator).\napiVersion: kubeflow.org/v1\nkind: PyTorchJob\n"
      "metadata:\n  name: accelerate\nspec:\n  pytorchReplicaSpecs:\n" +
      replicas("Master", 1, nodes, s);
  if (nodes.count > 1) text += replicas("Worker", nodes.count - 1, nodes, s);
  return {"job.yaml", text, false};
}

}  // namespace

std::string accelerate_training_script(const LaunchSettings& s) {
  return filled_script(script_template("accelerate/templates/train"),
                       {{"optimizer_import", package_import(s.optimizer)},
                        {"random_tokens", random_tokens_function(SampleOf::labels_alone)},
                        {"rate_factor", rate_factor_function()},
                        {"decayed", decayed_function()},
                        {"PLUMBLINE_LOADS_WEIGHTS", loads_weights(s)},
                        {"PLUMBLINE_FORMAT", weight_format(s)},
                        {"PLUMBLINE_OPTIMIZER", optimizer_call(s.optimizer)},
                        {"quantized_states", facts(s.optimizer.value_or(Optimizer::adamw)).quantizes_states},
                        {"adapters", has_adapters(s)},
                        {"fused_loss", has_fused_loss(s)},
                        {"tensor_parallel", s.tensor_parallel.value_or(1) > 1},
                        {"context_parallel", s.context_parallel.value_or(1) > 1}});
}

std::vector<LaunchFile> accelerate_launchers(const std::vector<std::string>& words, const LaunchSettings& settings) {
  const Nodes nodes = nodes_of(settings);
  return {shell_file(words, nodes, settings), slurm_file(nodes), kubeflow_file(nodes, settings)};
}

}  // namespace plumbline

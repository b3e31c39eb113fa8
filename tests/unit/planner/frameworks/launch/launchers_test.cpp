// The lines that start a training: torchrun, Slurm, Kubeflow.

#include "planner/frameworks/launch/launchers.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

LaunchSettings on(std::int64_t devices, std::optional<std::int64_t> per_node = std::nullopt) {
  LaunchSettings settings;
  settings.devices = devices;
  settings.devices_per_node = per_node;
  return settings;
}

LaunchedProgram program() { return {"train.py", {"--micro-batch-size", "4", "--bf16"}, "llama-3-8b"}; }

/// Of the files: launch.sh, job.slurm, job.yaml.
std::string text_of(const LaunchSettings& settings, std::size_t file, const LaunchedProgram& started = program()) {
  return launcher_files(started, settings).at(file).text;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("one node is started by torchrun alone") {
  CHECK(text_of(on(4), 0) == R"(#!/usr/bin/env bash
# Starts the training on 4 GPUs.
set -euo pipefail

exec torchrun \
  --standalone \
  --nnodes=1 \
  --nproc-per-node=4 \
  train.py \
  --micro-batch-size 4 \
  --bf16
)");
}

TEST_CASE("several nodes take their number and the first one's address from the environment") {
  const std::string text = text_of(on(16), 0);
  CHECK(has(text, "--nnodes=2 \\\n  --nproc-per-node=8 \\\n  --node-rank=\"${NODE_RANK:?"));
  CHECK(has(text, "--master-addr=\"${MASTER_ADDR:?"));
  CHECK(!has(text, "--standalone"));
}

TEST_CASE("every node starts as many processes, as many nodes as that takes") {
  CHECK(has(text_of(on(12), 0), "--nnodes=2 \\\n  --nproc-per-node=6"));
  CHECK(has(text_of(on(16, 4), 0), "--nnodes=4 \\\n  --nproc-per-node=4"));
  CHECK(has(text_of(on(2, 8), 0), "--nnodes=1 \\\n  --nproc-per-node=2"));
  LaunchSettings settings = on(16);
  settings.nodes = 4;
  CHECK(has(text_of(settings, 0), "--nnodes=4 \\\n  --nproc-per-node=4"));
  settings.devices_per_node = 4;
  settings.devices.reset();
  CHECK(has(text_of(settings, 0), "--nnodes=4 \\\n  --nproc-per-node=4"));
}

TEST_CASE("Slurm starts one torchrun per node, which meet at the first") {
  const std::string text = text_of(on(16), 1);
  for (const char* line : {"#SBATCH --job-name=llama-3-8b\n", "#SBATCH --nodes=2\n", "#SBATCH --ntasks-per-node=1\n",
                           "#SBATCH --gpus-per-node=8\n", "srun torchrun", "--rdzv-backend=c10d",
                           "--rdzv-endpoint=\"$first_host:29500\"", "--micro-batch-size 4"})
    CHECK(has(text, line));
}

// github.com/kubeflow/training-operator, pkg/apis/kubeflow.org/v1/pytorch_types.go
TEST_CASE("Kubeflow runs one master and the other nodes as workers") {
  const std::string text = text_of(on(32), 2);
  for (const char* line :
       {"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\n", "  nprocPerNode: \"8\"\n",
        "    Master:\n      replicas: 1\n", "    Worker:\n      replicas: 3\n", "            - name: pytorch\n",
        "nvidia.com/gpu: 8\n", "                - \"--micro-batch-size\"\n                - \"4\"\n"})
    CHECK(has(text, line));
  CHECK(!has(text_of(on(8), 2), "Worker"));
}

TEST_CASE("words are quoted where a shell or YAML would read something else") {
  const LaunchedProgram odd{
      "-m torchtitan.train",
      {"--layout", "E|(t|)*3", "--name", "it's", "--empty", "", "--shift", "-1", "--env", "$(HOME)"},
      "x"};
  const std::string shell = text_of(on(1), 0, odd);
  CHECK(has(shell,
            "\n  -m torchtitan.train \\\n  --layout 'E|(t|)*3' \\\n  --name 'it'\\''s' \\\n  --empty '' \\\n"
            "  --shift -1 \\\n  --env '$(HOME)'\n"));
  const std::string yaml = text_of(on(1), 2, odd);
  CHECK(has(yaml, "- \"E|(t|)*3\"\n"));
  CHECK(has(yaml, "- \"$$(HOME)\"\n"));  // else Kubernetes would put a variable there
}

TEST_CASE("a job's name is one that Kubernetes takes") {
  const auto named = [](const std::string& name) { return text_of(on(1), 2, {"train.py", {}, name}); };
  CHECK(has(named("Llama 3.1 / 8B"), "  name: llama-3-1-8b\n"));
  CHECK(has(named("7b"), "  name: train-7b\n"));
  CHECK(has(named("--"), "  name: training\n"));
  CHECK(has(named(std::string(80, 'a')), "  name: " + std::string(45, 'a') + "\n"));
}

}  // namespace
}  // namespace plumbline

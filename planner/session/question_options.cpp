// The settings of a question, each once.
#include "core/io/value_text.h"
#include "core/training/adaptation_text.h"
#include "planner/session/question_flags.h"

namespace plumbline::session {
namespace {

using Flags = QuestionFlags;

Option<Flags> option(std::optional<std::string> Flags::*text, OptionWords words) {
  return text_option<Flags>(text, std::move(words));
}

void add_model(Options<Flags>& options) {
  options.push_back(
      option(&Flags::model,
             {"--model",
              "MODEL",
              "what is trained: a name of plan models, a Hugging Face config.json, a network file, or an ONNX graph",
              {"--network", "--config", "--model-name", "--model-name-or-path"},
              SaidBy::plan_file}));
  options.back().words.field = {"Model", "name or config.json", "network"};
  options.push_back(
      {.words = {"--dim",
                 "NAME=N",
                 "size of a symbolic dimension of an ONNX graph, as in --dim sequence=512; once for each. "
                 "The batch stays open: a plan's micro-batch is its size",
                 {},
                 SaidBy::plan_file},
       .text = {},
       .is_on = {},
       .list = &Flags::dimensions});
}

void add_machine(Options<Flags>& options, bool several_counts) {
  options.push_back(option(&Flags::machine, {"--machine",
                                             "MACHINE",
                                             "on what: a name of plan machines, or a machine file",
                                             {"--cluster", "--hardware"},
                                             SaidBy::plan_file}));
  options.back().words.field = {"Cluster", "name or machine file", "machine"};
  options.push_back(
      option(&Flags::gpus,
             {"--gpus",
              several_counts ? "N,N,..." : "N",
              several_counts ? "numbers of GPUs apart by commas; absent: whole nodes, doubled as long as it helps"
                             : "how many GPUs; absent: all of a machine file, else one node",
              {"--devices", "--num-gpus", "--ngpus", "--world-size", "--num-processes", "--nnodes", "--nodes",
               "--num-nodes", "--nproc-per-node", "--gpus-per-node"},
              SaidBy::plan_file}));
  options.back().words.field = {"GPUs", "one node", "gpus"};
}

void add_run(Options<Flags>& options) {
  options.push_back(
      option(&Flags::sequence_length, {"--seq-len",
                                       "N",
                                       "tokens of a sequence, 8K for 8192; absent: what the model was made for",
                                       {"--seq", "--seqlen", "--seq-length", "--sequence-length", "--max-seq-len",
                                        "--max-seq-length", "--context-length", "--block-size"},
                                       SaidBy::plan_file}));
  options.back().words.field = {"Sequence", "the model's own", "sequence length"};
  options.push_back(option(&Flags::global_batch, {"--global-batch",
                                                  "N",
                                                  "sequences (or images) of one optimizer step over all GPUs",
                                                  {"--batch", "--batch-size", "--bs", "--gbs", "--global-batch-size",
                                                   "--train-batch-size", "--gradient-accumulation-steps"},
                                                  SaidBy::plan_file}));
  options.back().words.field = {"Global batch", "sequences a step", "global batch"};
  const auto add_large = [&](std::optional<std::string> Flags::*text, OptionWords words) {
    words.is_large = true;
    options.push_back(option(text, std::move(words)));
  };
  add_large(&Flags::tokens, {"--tokens", "N", "tokens of the whole run, such as 15T: adds days, dollars and energy"});
  options.back().words.field = {"Tokens", "whole run: 15T", "tokens"};
  add_large(&Flags::samples, {"--samples", "N", "the same in samples: images, or sequences of --seq-len tokens"});
  options.push_back(
      option(&Flags::price, {"--price", "DOLLARS", "dollars of one GPU for an hour, instead of the machine's"}));
  options.back().words.field = {"Price", "the machine's"};
}

void add_recipe(Options<Flags>& options, bool several) {
  const auto add = [&](std::optional<std::string> Flags::*text, OptionWords words) {
    words.said_by = SaidBy::launch_files;
    options.push_back(option(text, std::move(words)));
  };
  const auto add_searched = [&](std::optional<std::string> Flags::*text, OptionWords words) {
    if (several) words.help += "; several apart by commas are all searched";
    words.several = several;
    add(text, std::move(words));
  };
  add_searched(&Flags::precision, {"--precision",
                                   alternatives(names_of(all_precision_recipes)),
                                   "number formats (bf16)",
                                   {"--dtype", "--bf16", "--fp16", "--bfloat16", "--mixed-precision", "--fp8"}});
  options.back().words.field = {"Precision", "bf16"};
  add(&Flags::gradient_precision, {"--gradient-precision",
                                   alternatives(names_of(state_formats)),
                                   "of accumulated and reduced gradients, instead of the precision's",
                                   {"--grad-reduce-dtype", "--accumulate-allreduce-grads-in-fp32"}});
  add(&Flags::optimizer_precision, {"--optimizer-precision",
                                    alternatives(names_of(state_formats)),
                                    "of the optimizer's moments, instead of the precision's",
                                    {"--exp-avg-dtype", "--exp-avg-sq-dtype"}});
  add_searched(&Flags::optimizer,
               {"--optimizer", alternatives(optimizer_names()), "what updates the weights (adamw)", {"--optim"}});
  options.back().words.field = {"Optimizer", "adamw", "--optimizer-precision"};
  add(&Flags::freeze, {"--freeze", "PARTS", "what is not trained: embeddings, layers:0-15, or both apart by a comma"});
  add_searched(&Flags::lora_rank, {"--lora-rank",
                                   several ? "N,N,..." : "N",
                                   "train adapters of this rank alongside the frozen linears",
                                   {"--lora-r", "--lora-dim"}});
  options.back().words.field = {"LoRA rank", "none"};
  add(&Flags::lora_targets,
      {"--lora-targets",
       alternatives(names_of(all_lora_targets)),
       "which linears have adapters: all, those of queries, keys and values, or those of attention (all)",
       {"--target-modules", "--lora-target-modules"}});
}

void add_stack(Options<Flags>& options) {
  options.push_back(
      option(&Flags::stack, {"--stack", "STACK", "software stack whose measured overheads apply", {"--framework"}}));
  options.back().words.field = {"Stack", "the usual one", "stack"};
  const auto fields = stack_choice_fields();
  for (std::size_t i = 0; i < fields.size(); ++i)
    options.push_back(text_option<Flags>([i](Flags& flags) -> std::optional<std::string>& { return flags.of_stack[i]; },
                                         {fields[i].flag(),
                                          alternatives(fields[i].words()),
                                          std::string(fields[i].help),
                                          {fields[i].foreign.begin(), fields[i].foreign.end()}}));
}

Options<Flags> make_options(bool several_recipes, bool several_counts) {
  Options<Flags> options;
  add_model(options);
  add_machine(options, several_counts);
  add_run(options);
  add_recipe(options, several_recipes);
  add_stack(options);
  options.push_back(option(&Flags::headroom, {"--headroom", "SHARE|SIZE",
                                              "memory of every GPU that a plan leaves free, such as 5% or 2GiB (0)"}));
  options.back().words.field = {"Headroom", "0", "headroom"};
  options.push_back(switch_option(&Flags::tensor_parallel_across_nodes,
                                  {"--tp-across-nodes", "", "allow tensor parallelism beyond the fast interconnect"}));
  return options;
}

}  // namespace

const Options<QuestionFlags>& question_options(Recipes recipes, DeviceCounts counts) {
  static const std::array<Options<Flags>, 4> options{make_options(false, false), make_options(false, true),
                                                     make_options(true, false), make_options(true, true)};
  return options[(recipes == Recipes::several ? 2U : 0U) + (counts == DeviceCounts::several ? 1U : 0U)];
}

}  // namespace plumbline::session

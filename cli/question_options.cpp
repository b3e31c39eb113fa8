#include "cli/question_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/flag_values.h"
#include "core/training/adaptation_text.h"
#include "core/training/limits.h"

namespace plumbline {
void QuestionOptions::declare(CLI::App& app, Recipes recipes, DeviceCounts counts) {
  flags_.recipes = recipes;
  flags_.counts = counts;
  const auto option = [&](const char* flag, std::optional<std::string>& value, const char* text) {
    return app.add_option(flag, value, text)->group("Question");
  };
  option("--model", flags_.model,
         "what is trained: a name of plan models, a Hugging Face config.json, a network file, or an ONNX graph")
      ->type_name("MODEL");
  app.add_option("--dim", flags_.dimensions,
                 "size of a symbolic dimension of an ONNX graph, as in --dim sequence=512; once for each. The batch "
                 "stays open: a plan's micro-batch is its size")
      ->group("Question")
      ->type_name("NAME=N");
  option("--machine", flags_.machine, "on what: a name of plan machines, or a machine file")->type_name("MACHINE");
  const bool several_counts = counts == DeviceCounts::several;
  option("--gpus", flags_.gpus,
         several_counts ? "numbers of GPUs apart by commas; absent: whole nodes, doubled as long as it helps"
                        : "how many GPUs; absent: all of a machine file, else one node")
      ->type_name(several_counts ? "N,N,..." : "N");
  option("--seq-len", flags_.sequence_length, "tokens of a sequence, 8K for 8192; absent: what the model was made for")
      ->type_name("N");
  option("--global-batch", flags_.global_batch, "sequences (or images) of one optimizer step over all GPUs")
      ->type_name("N");
  option("--tokens", flags_.tokens, "tokens of the whole run, such as 15T: adds days, dollars and energy")
      ->type_name("N");
  option("--samples", flags_.samples, "the same in samples: images, or sequences of --seq-len tokens")->type_name("N");
  option("--price", flags_.price, "dollars of one GPU for an hour, instead of the machine's")->type_name("DOLLARS");
  const bool several_recipes = recipes == Recipes::several;
  option("--precision", flags_.precision,
         several_recipes ? "number formats (bf16); several apart by commas are all searched" : "number formats (bf16)")
      ->type_name(alternatives(names_of(all_precision_recipes)));
  option("--gradient-precision", flags_.gradient_precision,
         "of accumulated and reduced gradients, instead of the precision's")
      ->type_name(alternatives(names_of(session::state_formats)));
  option("--optimizer-precision", flags_.optimizer_precision, "of the optimizer's moments, instead of the precision's")
      ->type_name(alternatives(names_of(session::state_formats)));
  option("--optimizer", flags_.optimizer,
         several_recipes ? "what updates the weights (adamw); several apart by commas are all searched"
                         : "what updates the weights (adamw)")
      ->type_name(alternatives(session::optimizer_names()));
  option("--freeze", flags_.freeze, "what is not trained: embeddings, layers:0-15, or both apart by a comma")
      ->type_name("PARTS");
  option("--lora-rank", flags_.lora_rank,
         several_recipes ? "train adapters of this rank alongside the frozen linears; several apart by commas are all "
                           "searched"
                         : "train adapters of this rank alongside the frozen linears")
      ->type_name(several_recipes ? "N,N,..." : "N");
  option("--lora-targets", flags_.lora_targets,
         "which linears have adapters: all, those of queries, keys and values, or those of attention (all)")
      ->type_name(alternatives(names_of(all_lora_targets)));
  declare_stack(app);
  option("--headroom", flags_.headroom, "memory of every GPU that a plan leaves free, such as 5% or 2GiB (0)")
      ->type_name("SHARE|SIZE");
  app.add_flag("--tp-across-nodes", flags_.tensor_parallel_across_nodes,
               "allow tensor parallelism beyond the fast interconnect")
      ->group("Question");
}

void QuestionOptions::declare_stack(CLI::App& app) {
  app.add_option("--stack", flags_.stack, "software stack whose measured overheads apply")
      ->group("Question")
      ->type_name("STACK");
  for (std::size_t i = 0; i < flags_.of_stack.size(); ++i) {
    const StackChoiceField& field = stack_choice_fields()[i];
    app.add_option(field.flag(), flags_.of_stack[i], field.help)
        ->group("Question")
        ->type_name(alternatives(field.words()));
  }
}

}  // namespace plumbline

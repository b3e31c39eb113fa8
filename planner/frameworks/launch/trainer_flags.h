#pragma once
/// \file trainer_flags.h: flags of a training script that stands on Hugging Face's Trainer, and of what starts it.
///
/// DeepSpeed's and Accelerate's own files say neither model nor sequence length; the script's flags do, by the names of
/// transformers' TrainingArguments and ModelArguments. The exported scripts take the same flags.
/// Source: huggingface/transformers src/transformers/training_args.py, examples/pytorch; deepspeed/launcher/runner.py;
/// accelerate/commands/launch.py. Checked against: tests/unit/planner/frameworks/launch/trainer_flags_test.cpp.

#include <string>
#include <string_view>
#include <vector>

#include "planner/frameworks/launch/launch_key.h"
#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/launch/usual_values.h"

namespace plumbline {

/// Where batch, optimizer and its numbers are written: a file of the framework has them, or only the script's flags.
enum class RecipePlace : std::uint8_t { config_file, script_flags };

[[nodiscard]] std::vector<LaunchKey> trainer_flags(RecipePlace place);

/// The flags with their values, as words.
[[nodiscard]] std::vector<std::string> trainer_words(RecipePlace place, const LaunchSettings& settings);

/// A name that says that the text is a command line: it ends in .sh, .slurm, .sbatch or .bash.
[[nodiscard]] bool is_script_name(std::string_view name);
/// `starter`: rows of what starts the script, read before those of the script; `usual`: their usual values.
[[nodiscard]] Imported read_trainer_script(std::string_view text, std::string_view name,
                                           const std::vector<LaunchKey>& starter = {},
                                           const std::vector<UsualValue>& usual = {});

}  // namespace plumbline

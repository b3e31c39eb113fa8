#include "planner/session/import/import.h"

#include <algorithm>
#include <filesystem>

#include "core/base/errors.h"
#include "core/base/escape.h"
#include "core/plan/strategy_axes.h"
#include "models/import/hugging_face.h"
#include "models/network_catalog.h"
#include "planner/frameworks/launch/merge_settings.h"
#include "planner/question/fingerprint.h"

namespace plumbline::session {
namespace {

/// What is said beside the files.
void apply(const QuestionText& said, LaunchSettings& s) {
  if (said.devices > 0) {
    s.devices = said.devices;
    s.nodes = s.devices_per_node = std::nullopt;
  }
  if (said.training.global_batch > 0) s.global_batch = said.training.global_batch, s.micro_batches = std::nullopt;
  if (said.training.sequence_length > 0) s.sequence_length = said.training.sequence_length;
  if (!said.model.empty()) s.model = said.model, s.network_config = {};
}

void require(bool is_said, const char* flag, const std::string& what, const std::string& expected) {
  if (!is_said) throw InputError({flag, what, expected, ""});
}

/// Of a network without a name: ends as only paths do, so that a plan that carries the network is read again.
std::string network_name(const std::string& file) {
  const std::string stem = std::filesystem::path(file).stem().string();
  return printable(stem.empty() ? "imported" : stem) + "-network.json";
}

/// What prices a framework's current releases; empty: no framework.
std::string stack_of(Framework framework) {
  return framework == Framework::any ? "" : std::string(record_of(framework).current_stack);
}

std::string base_name(const std::string& file) { return std::filesystem::path(file).filename().string(); }

/// Of the files that the imported ones name, those that were not imported with them.
void name_missing_files(const ImportRequest& request, ImportNotes& notes) {
  for (const NamedFile& other : notes.other_files) {
    const bool is_here = std::any_of(request.files.begin(), request.files.end(), [&](const ImportedText& file) {
      return base_name(file.name) == base_name(other.name);
    });
    if (!is_here)
      notes.unread.push_back(other.key + " changes memory and time: import " + other.name + " as well, after " +
                             request.files.front().name);
  }
}

constexpr std::string_view config_target = "huggingface";

void require_small(const ImportRequest& request) {
  for (const ImportedText& file : request.files)
    if (file.text.size() > most_launch_file_bytes)
      throw InputError({file.name, "is larger than 1 MiB", "a launch script or configuration", ""});
}

/// The config of a network, as the Hub has it beside a checkpoint.
std::optional<Json> network_config(const ImportedText& file) {
  const std::size_t first = file.text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || file.text[first] != '{') return std::nullopt;
  Json tree = parse_json(file.text, file.name);
  return tree.find("model_type") == nullptr ? std::nullopt : std::optional(std::move(tree));
}

/// Takes the network's config from the files; the others are left.
std::vector<ImportedText> without_configs(const ImportRequest& request, ImportAnswer& answer) {
  std::vector<ImportedText> others;
  for (const ImportedText& file : request.files) {
    const bool may_be_config = request.from == config_target || base_name(file.name) == "config.json";
    std::optional<Json> config = may_be_config ? network_config(file) : std::nullopt;
    if (config && answer.settings.model.empty())
      answer.settings.network_config = std::move(*config);
    else if (!config)
      others.push_back(file);
  }
  return others;
}

void require_configs(const std::vector<ImportedText>& others, ImportAnswer& answer) {
  answer.title = "Hugging Face config";
  if (!others.empty())
    throw InputError(
        {others.front().name, "is no config of a network", "a JSON with model_type, such as config.json", ""});
}

void append(ImportNotes& notes, const ImportNotes& more) {
  notes.ignored += more.ignored;
  notes.unread.insert(notes.unread.end(), more.unread.begin(), more.unread.end());
  notes.other_files.insert(notes.other_files.end(), more.other_files.begin(), more.other_files.end());
  notes.decisive.insert(notes.decisive.end(), more.decisive.begin(), more.decisive.end());
}

std::vector<Imported> read_as_one(const LaunchTarget& target, const std::vector<ImportedText>& files) {
  std::vector<Imported> all;
  if (target.read_together != nullptr && !files.empty())
    all.push_back(target.read_together(files));
  else
    for (const ImportedText& file : files) all.push_back(target.read(file.text, file.name));
  return all;
}

/// Other targets that take the files.
std::string targets_that_read(const std::vector<ImportedText>& files) {
  std::string names;
  for (const LaunchTarget& target : launch_targets()) {
    if (target.read == nullptr) continue;
    try {
      (void)read_as_one(target, files);
      names += (names.empty() ? "--from " : ", ") + std::string(to_text(target.framework));
    } catch (const InputError&) {
      continue;
    }
  }
  return names;
}

std::vector<Imported> read_by(const LaunchTarget& target, const std::vector<ImportedText>& files) {
  try {
    return read_as_one(target, files);
  } catch (const NoKnownKey& error) {
    InputProblem problem = error.problem();
    problem.nearest = targets_that_read(files);
    throw InputError(problem);
  }
}

/// Ranks of a copy of the model, and of its experts, that the GPUs which the files say do not hold.
void require_degrees(const LaunchSettings& s, const std::string& file) {
  if (!s.devices) return;
  const auto degree = [](std::optional<std::int32_t> said) { return std::int64_t{said.value_or(1)}; };
  const auto refuse = [&](const std::string& degrees) {
    throw InputError(
        {file, degrees + " on " + std::to_string(*s.devices) + " GPUs", "GPUs that they divide: say --gpus", ""});
  };
  const auto divides = [&](std::initializer_list<std::int64_t> degrees) {
    std::int64_t rest = *s.devices;
    for (const std::int64_t one : degrees) {
      if (rest % one != 0) return false;
      rest /= one;
    }
    return true;
  };
  const std::int64_t tp = degree(s.tensor_parallel);
  const std::int64_t pp = degree(s.pipeline_stages);
  const std::int64_t cp = degree(s.context_parallel);
  const std::int64_t ep = degree(s.expert_parallel);
  const std::int64_t etp = degree(s.expert_tensor_parallel);
  if (!divides({tp, pp, cp}))
    refuse("tp " + std::to_string(tp) + ", pp " + std::to_string(pp) + ", cp " + std::to_string(cp));
  if (ep > 1 && !divides({pp, ep, etp}))
    refuse("pp " + std::to_string(pp) + ", ep " + std::to_string(ep) + ", etp " + std::to_string(etp));
}

void read_launch_files(const LaunchTarget& target, const std::vector<ImportedText>& files, ImportAnswer& answer) {
  if (target.read == nullptr)
    throw InputError({"--from", std::string(target.title) + " cannot be read back", "another target", ""});
  answer.framework = target.framework;
  answer.title = target.title;
  for (const Imported& one : read_by(target, files)) {
    fill_missing(answer.settings, one.settings);
    append(answer.notes, one.notes);
  }
}

/// What a run does where no file says it: said, as it decides memory and time.
void assume_missing(ImportAnswer& answer) {
  LaunchSettings& s = answer.settings;
  const auto assume = [&](bool is_missing, std::string sentence) {
    if (is_missing) answer.assumed.push_back(std::move(sentence));
  };
  if (!s.global_batch && !s.micro_batches && s.micro_batch) {
    s.micro_batches = 1;
    assume(true, "no gradient accumulation (1 micro-batch a step)");
  }
  assume(!s.sequence_length, "the sequence length that is usual for the network");
  assume(!s.micro_batch && !(s.global_batch && s.micro_batches), "a micro-batch of 1");
  assume(!s.precision, "precision " + std::string(to_text(Training{}.precision)));
  assume(!s.optimizer, "optimizer " + std::string(to_text(Training{}.optimizer)));
  const bool may_be_said =
      std::any_of(answer.notes.unread.begin(), answer.notes.unread.end(), [](const auto& sentence) {
        return sentence.find("zero") != std::string::npos || sentence.find("fsdp") != std::string::npos;
      });
  assume(!s.zero_stage, may_be_said ? "ZeRO-0 (nothing is sharded), though what is not known here may say otherwise"
                                    : "ZeRO-0 (nothing is sharded)");
  assume(!s.recompute, "no recompute");
  if (!s.zero_stage && answer.framework != Framework::any &&
      record_of(answer.framework).defaults.replicates_under_autocast) {
    s.zero_stage = 0;
    take_autocast_gradients(s);
  }
}

class FlagsOfFiles {
 public:
  void add(const char* flag, const std::string& value) {
    words_.emplace_back(flag);
    words_.push_back(value);
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(words_); }

 private:
  std::vector<std::string> words_;
};

void add_recipe(const Training& training, FlagsOfFiles& flags) {
  if (training.sequence_length > 0) flags.add("--seq-len", std::to_string(training.sequence_length));
  flags.add("--global-batch", std::to_string(training.global_batch));
  flags.add("--precision", std::string(to_text(training.precision)));
  if (training.gradient_format) flags.add("--gradient-precision", std::string(to_text(*training.gradient_format)));
  if (training.optimizer_format) flags.add("--optimizer-precision", std::string(to_text(*training.optimizer_format)));
  flags.add("--optimizer", std::string(to_text(training.optimizer)));
  if (training.adaptation.lora_rank > 0) flags.add("--lora-rank", std::to_string(training.adaptation.lora_rank));
}

/// What is usual goes without saying, but for the micro-batch.
void add_strategy(const PartialStrategy& partial, FlagsOfFiles& flags) {
  const Strategy& s = partial.strategy;
  const auto is_said = [&](const StrategyAxis& axis) {
    if (axis.flag == "--micro-batch") return true;
    if (axis.flag == "--dp") return partial.data_parallel_given;
    if (axis.flag == "--schedule" && !partial.schedule_given) return false;
    if (axis.flag == "--shard-group") return partial.shard_group_given && s.zero_stage > 0;
    return !axis.is_usual(s);
  };
  for (const StrategyAxis& axis : strategy_axes())
    if (!axis.flag.empty() && is_said(axis)) flags.add(axis.flag.c_str(), axis.text(s));
}

}  // namespace

std::string required_target(const std::optional<std::string>& target) {
  if (!target) throw InputError({"--from", "is missing", "whose files they are, such as megatron-lm", ""});
  return *target;
}

ImportAnswer import_files(const ImportRequest& request) {
  require_small(request);
  ImportAnswer answer;
  apply(request.question, answer.settings);
  const std::vector<ImportedText> launch_files = without_configs(request, answer);
  if (request.from == config_target)
    require_configs(launch_files, answer);
  else
    read_launch_files(launch_target(request.from, "--from"), launch_files, answer);
  name_missing_files(request, answer.notes);
  apply(request.question, answer.settings);
  assume_missing(answer);
  derive_missing(answer.settings);
  if (!request.files.empty()) require_degrees(answer.settings, request.files.front().name);
  return answer;
}

StrategyRequest strategy_request(const ImportRequest& request, const ImportAnswer& answer) {
  const LaunchSettings& s = answer.settings;
  const std::string file = request.files.empty() ? "the files" : request.files.front().name;
  require(!s.model.empty() || !s.network_config.is_null(), "--model", file + " does not say what is trained",
          "a name of plan models or a file");
  require(s.devices.has_value(), "--gpus", file + " does not say how many GPUs there are", "their number");
  require(s.global_batch.has_value(), "--global-batch", file + " does not say it", "sequences of one optimizer step");
  StrategyRequest asked;
  asked.question = request.question;
  const Training said = request.question.training;
  asked.question.training = training_of(s);
  asked.question.training.token_budget = said.token_budget;
  asked.question.devices = *s.devices;
  asked.question.tensor_parallel_across_nodes = true;  // it is what they launch
  asked.question.model = s.network_config.is_null() ? s.model : network_name(file);
  asked.question.choices = merged(asked.question.choices, s.choices);
  if (asked.question.stack.empty()) asked.question.stack = stack_of(answer.framework);
  asked.network_config = s.network_config;
  asked.strategy.strategy = strategy_of(s);
  asked.strategy.data_parallel_given = s.data_parallel.has_value();
  asked.strategy.schedule_given = s.schedule.has_value();
  asked.strategy.flash_attention_given = s.flash_attention.has_value();
  asked.strategy.shard_group_given = s.shard_group.has_value() && s.zero_stage.value_or(0) > 0;
  if (const std::string notes = notes_text(answer); !notes.empty()) asked.warning = file + ": " + notes;
  for (const std::string& sentence : answer.notes.decisive) asked.not_modelled.push_back(file + ": " + sentence);
  return asked;
}

std::vector<std::string> estimate_flags(const StrategyRequest& request) {
  FlagsOfFiles flags;
  flags.add("--model", request.question.model);
  flags.add("--machine", request.question.machine.empty() ? "MACHINE" : request.question.machine);
  flags.add("--gpus", std::to_string(request.question.devices));
  if (!request.question.stack.empty()) flags.add("--stack", request.question.stack);
  for (const StackChoiceField& field : stack_choice_fields())
    if (const std::string& word = request.question.choices.*field.word; !word.empty())
      flags.add(field.flag().c_str(), word);
  add_recipe(request.question.training, flags);
  add_strategy(request.strategy, flags);
  return flags.take();
}

std::vector<std::string> strategy_flags(const Strategy& strategy) {
  const bool is_usual =
      strategy.schedule == (strategy.virtual_stages > 1 ? Schedule::interleaved : Schedule::one_f_one_b);
  FlagsOfFiles flags;
  add_strategy({strategy, false, !is_usual, strategy.is_hybrid(), false}, flags);
  return flags.take();
}

std::string catalogue_name(const Json& network_config) {
  if (network_config.is_null()) return "";
  for (const std::string& name : network_names()) {
    const Network own = import_hugging_face(JsonPlace(network_config, "network"), name);
    const Network known = find_network(name);
    if (own.model_type == known.model_type && fingerprint(own.graph) == fingerprint(known.graph)) return name;
  }
  return "";
}

StrategyRequest named_in_catalogue(StrategyRequest request) {
  if (const std::string name = catalogue_name(request.network_config); !name.empty()) {
    request.question.model = name;
    request.network_config = {};
  }
  return request;
}

std::string notes_text(const ImportAnswer& answer) {
  const ImportNotes& notes = answer.notes;
  std::string text;
  for (const std::string& sentence : notes.unread) text += (text.empty() ? "" : "; ") + sentence;
  std::string assumed;
  for (const std::string& sentence : answer.assumed) assumed += (assumed.empty() ? "assumed: " : ", ") + sentence;
  if (!assumed.empty()) text += (text.empty() ? "" : "; ") + assumed;
  if (notes.ignored == 0) return text;
  return text + (text.empty() ? "" : "; ") + std::to_string(notes.ignored) +
         (notes.ignored == 1 ? " other flag changes" : " other flags change") + " neither memory nor time";
}

}  // namespace plumbline::session

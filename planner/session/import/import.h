#pragma once
/// \file import.h: a question and a strategy from launch files of a training framework: what `plan import` answers and
/// --import gives to the other verbs.
///
/// Model: the files of one run are read by the framework's tables (planner/frameworks/launch); a later file fills what
/// earlier ones leave open, flags of the request come before both. What no file says is open, as it is without a file.
/// Where the request names no software stack, that of the framework's current releases prices it. Checked against:
/// tests/unit/planner/session/import/import_test.cpp.

#include <optional>
#include <string>
#include <vector>

#include "core/io/json.h"
#include "planner/frameworks/launch/launch_target.h"
#include "planner/session/estimate.h"

namespace plumbline::session {

using ImportedText = NamedText;

struct ImportRequest {
  std::vector<ImportedText> files;  ///< of one run, at least one
  std::string from;                 ///< the target's name
  QuestionText question;            ///< what is said beside the files; its machine is not in any of them
};

struct ImportAnswer {
  Framework framework = Framework::any;
  std::string title;  ///< "Megatron-LM arguments"
  LaunchSettings settings;
  ImportNotes notes;
  std::vector<std::string> assumed = {};  ///< what no file says and is priced all the same: "a micro-batch of 1"
};

inline constexpr std::size_t most_launch_file_bytes = std::size_t{1} << 20;
/// As a flag says it. Throws InputError where it does not.
[[nodiscard]] std::string required_target(const std::optional<std::string>& target);

/// Reads the files; the question is left open. Throws InputError: no target, a file that cannot be read.
[[nodiscard]] ImportRequest read_launch_files(const std::vector<std::string>& files,
                                              const std::optional<std::string>& from);
/// A "config.json" with a model_type is the network, beside the files of any target and as `huggingface` alone.
/// Throws InputError: the target, a file over 1 MiB, what is wrong in one.
[[nodiscard]] ImportAnswer import_files(const ImportRequest& request);
/// To be priced. Throws InputError where the files and the flags beside them do not say the model, the GPUs or the
/// batch.
[[nodiscard]] StrategyRequest strategy_request(const ImportRequest& request, const ImportAnswer& answer);

/// The same with the catalogue's name for its network, where it has one.
[[nodiscard]] StrategyRequest named_in_catalogue(StrategyRequest request);
/// The strategy and the recipe as flags of `plan estimate`: "--tp", "2", ...
[[nodiscard]] std::vector<std::string> estimate_flags(const StrategyRequest& request);
/// A strategy alone, without what follows from its degrees: "--tp", "2", ...
[[nodiscard]] std::vector<std::string> strategy_flags(const Strategy& strategy);
/// The name in the catalogue of the same network as a config describes; empty: none.
[[nodiscard]] std::string catalogue_name(const Json& network_config);
/// "2 flags are not modelled: ...; 31 change neither memory nor time", or empty.
[[nodiscard]] std::string notes_text(const ImportAnswer& answer);

/// What `plan import --json` prints; the keys are those of models/schemas/import.schema.json.
inline constexpr std::string_view import_format = "plumbline.import/1";

/// `flags`: those of estimate_flags.
[[nodiscard]] Json to_json(const ImportAnswer& answer, const std::vector<std::string>& flags);

}  // namespace plumbline::session

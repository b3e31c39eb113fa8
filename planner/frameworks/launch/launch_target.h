#pragma once
/// \file launch_target.h: what `plan export --to` writes and `plan import --from` reads: a target's record.
///
/// A target belongs to a framework (framework.h), whose allow-lists and rules say what it can launch; here is how that
/// is written. One file per target holds its table (planner/frameworks/TARGET/launch_files.cpp). Checked against:
/// tests/unit/planner/frameworks/round_trip_test.cpp, tests/golden/launch.

#include <string>
#include <string_view>
#include <vector>

#include "planner/frameworks/framework.h"
#include "planner/frameworks/launch/launch_key.h"

namespace plumbline {

struct LaunchFile {
  std::string name;  ///< in the folder of --out: "launch.sh", "ds_config.json"
  std::string text;
  bool is_executable = false;
};

/// A strategy and a recipe as files, and what they do not say.
struct LaunchFiles {
  std::vector<LaunchFile> files;
  std::vector<std::string> assumptions;  ///< a sentence for each number that the plan does not have and files need
  std::vector<std::string> unsaid = {};  ///< a sentence for each fact of the plan that the files leave out
  /// A sentence for each thing without which the files do not start; not written unless that is asked for.
  std::vector<std::string> missing = {};
};

struct Imported {
  LaunchSettings settings;
  ImportNotes notes;
};

struct NamedText {
  std::string name;  ///< of the file, for messages
  std::string text;
};

struct LaunchTarget {
  Framework framework = Framework::any;
  std::string_view title;                  ///< "Megatron-LM arguments"
  std::vector<std::string_view> releases;  ///< newest last: what is written where --release says nothing
  std::string_view revision;               ///< of the sources that were read, with date
  /// The settings are launchable by the framework (inexpressible() is empty).
  LaunchFiles (*write)(const LaunchSettings& settings, std::string_view release) = nullptr;
  /// `text` of a file called `name`. Throws InputError. Null: cannot be read back.
  Imported (*read)(std::string_view text, std::string_view name) = nullptr;
  /// Its rows. A release's own keys are in the folder `releases` beside the table (scripts/framework_keys.py).
  const std::vector<LaunchKey>& (*keys)() = nullptr;
  /// Files of one run, where what they say has to be read together; null: one after the other, the first one counts.
  Imported (*read_together)(const std::vector<NamedText>& files) = nullptr;
  /// Whether the files ask for a choice of the software (stack_choices.h) as the plan has it; null: for none.
  bool (*says_choice)(const StackChoiceField& field, const LaunchSettings& settings) = nullptr;
};

/// In the order of Framework.
[[nodiscard]] const std::vector<LaunchTarget>& launch_targets();
/// Throws InputError (--to or --from, with the nearest) for a name that no target has.
[[nodiscard]] const LaunchTarget& launch_target(std::string_view name, std::string_view flag);

/// Each target's own file.
#define ROW(ID, NAME) [[nodiscard]] LaunchTarget ID##_target();
PLUMBLINE_LAUNCH_TARGETS(ROW)
#undef ROW

}  // namespace plumbline

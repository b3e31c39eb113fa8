#pragma once
/// \file launch_key.h: one key or flag of a framework's launch files, both directions: a row of a target's table.
///
/// A target is a table of these over a tree of values (the tree that JSON, TOML, YAML or a list of arguments is):
/// export writes every row's value into the tree and the syntax prints it; import parses the syntax and gives each row
/// what it finds. Keys with a row that says they matter to neither memory nor time are counted; those without a row and
/// those that matter and have no value of ours are named.
/// Checked against: tests/unit/planner/frameworks/launch/launch_key_test.cpp.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/errors.h"
#include "planner/frameworks/launch/launch_settings.h"

namespace plumbline {

/// What a key that this program has no value for may change. `decides`: memory and time by factors (states or weights
/// in host memory, base weights in 4 or 8 bits), so that nothing is priced without it.
enum class KeyEffect : std::uint8_t { none, memory, time, memory_and_time, decides };

struct LaunchKey {
  /// "--tensor-model-parallel-size", or with dots: "zero_optimization.stage". One that ends in '*' ("--log-*",
  /// "metrics.*") is of all keys that begin so and have no row of their own: read, not written.
  std::string_view path = {};
  std::string_view source = {};  ///< file (and line) of the framework
  /// Empty: not written. Not called where null.
  std::function<std::optional<Json>(const LaunchSettings&)> write = {};
  /// Throws InputError (what, expected; the reader adds the place) for a value that the framework refuses. Where null
  /// the key is known and has no value of ours: named in the import if its effect is not none.
  std::function<void(const Json&, LaunchSettings&)> read = {};
  std::function<bool(const Json&)> understands = {};  ///< values that `read` takes; null: all
  KeyEffect effect = KeyEffect::none;                 ///< of a value that is not read
  std::string_view since = {};                        ///< first release that has it; empty: all of the target's
  std::string_view until = {};                        ///< last release that has it
};

/// Another file that says how the run is launched, as a flag or key names it.
struct NamedFile {
  std::string key;
  std::string name;
};

/// What an import found besides the settings.
struct ImportNotes {
  std::vector<std::string> unread;  ///< a sentence for each key that matters to memory or time and is not understood
  std::int64_t ignored = 0;         ///< keys that matter to neither
  std::vector<NamedFile> other_files = {};
  std::vector<std::string> decisive = {};  ///< those of `unread` whose keys decide (KeyEffect::decides)
};

/// Whether the key has a value of ours for this one.
[[nodiscard]] bool reads(const LaunchKey& key, const Json& value);
/// Whether the release is among those of the key: numbers compare one by one ("v0.2.2" is before "0.10", a name without
/// numbers is behind all).
[[nodiscard]] bool has_release(const LaunchKey& key, std::string_view release);
/// Keys that the settings need and the release does not have, in the order of the table.
[[nodiscard]] std::vector<std::string> missing_keys(const std::vector<LaunchKey>& keys, std::string_view release,
                                                    const LaunchSettings& settings);
/// The tree that a release's files hold. Objects nest by dots; keys in the order of the table.
[[nodiscard]] Json written_tree(const std::vector<LaunchKey>& keys, std::string_view release,
                                const LaunchSettings& settings);
/// A file none of whose keys the target has: it is of something else.
class NoKnownKey : public InputError {
 public:
  using InputError::InputError;
};
/// Throws NoKnownKey (`source`) where no key of the tree has a row.
void require_known_key(const std::vector<LaunchKey>& keys, const Json& tree, std::string_view source);
/// Reads every key of the tree, in the order of the table. Keys of other releases are understood too; null is as if the
/// key were absent. Throws InputError (`source`, and the key).
[[nodiscard]] ImportNotes read_tree(const std::vector<LaunchKey>& keys, const Json& tree, std::string_view source,
                                    LaunchSettings& settings);

}  // namespace plumbline

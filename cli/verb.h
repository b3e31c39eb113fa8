#pragma once
/// \file verb.h: one verb of the command: its words for help, man page and completions, its flags, what it does.
///
/// To add a verb: one file with a class and an object that registers it.

#include <memory>
#include <string_view>
#include <vector>

#include "cli/output/terminal.h"

namespace CLI {
class App;
}

namespace plumbline {

/// What a verb tells the shell: `no` where the answer is that something does not fit or does not hold, `environment`
/// where a file, a process or the machine failed, `bug` where we did.
enum class ExitCode : int { done = 0, no = 1, bad_input = 2, environment = 3, bug = 70 };
/// Of a verb that a signal asked to stop and that saved what it had: as shells count them, 130 for SIGINT.
[[nodiscard]] constexpr ExitCode ended_by(int signal) { return static_cast<ExitCode>(128 + signal); }

struct VerbWords {
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view usage;    ///< what follows the name, briefly
  std::string_view text;     ///< a paragraph
  std::string_view example;  ///< one command line per line
};

class Verb {
 public:
  virtual ~Verb() = default;
  [[nodiscard]] virtual VerbWords words() const = 0;
  /// Adds flags whose values land in this object. What CLI11 sees is also what help, man page and completions list.
  virtual void declare(CLI::App& app) = 0;
  /// What the flags alone tell, before `run`. Throws InputError, the same in every process of a job.
  virtual void check_flags() const {}
  virtual ExitCode run(Terminal& terminal) = 0;
};

template <class OneVerb>
[[nodiscard]] std::unique_ptr<Verb> make_verb() {
  return std::make_unique<OneVerb>();
}

/// Puts a verb among `all_verbs`: one object at namespace scope in the verb's file.
class RegisteredVerb {
 public:
  using Make = std::unique_ptr<Verb> (*)();
  /// `place`: in the help.
  RegisteredVerb(int place, Make make) noexcept;

 private:
  friend std::vector<std::unique_ptr<Verb>> all_verbs();
  int place_;
  Make make_;
  const RegisteredVerb* before_;
};

/// All of them, in the order of the help.
[[nodiscard]] std::vector<std::unique_ptr<Verb>> all_verbs();
/// Throws InputError with the nearest name.
[[nodiscard]] std::unique_ptr<Verb> find_verb(const std::string& name);

}  // namespace plumbline

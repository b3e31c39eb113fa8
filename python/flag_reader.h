#pragma once
/// \file flag_reader.h: arguments of a call as the flags that they are, handed to the session's readers.
///
/// Model: Python's `global_batch=512` comes as {"--global-batch", "512"}; the session reads the texts as it reads those
/// of the command line. What no reader takes is refused with the nearest name. What was asked for is remembered with
/// its type, for the package's signatures and stub.
/// Checked against: tests/python/errors_test.py, tests/python/surface_test.py.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "planner/session/question_flags.h"
#include "planner/session/simulate/simulation_flags.h"
#include "planner/session/strategy_flags.h"
#include "planner/session/use_case/use_case.h"
#include "python/stub_types.h"

namespace plumbline::python {

/// By the flag's name; a flag without a value is "on" or "off".
using Given = std::map<std::string, std::string>;

class FlagReader {
 public:
  FlagReader(std::string function, Given given) : function_(std::move(function)), given_(std::move(given)) {}

  void take(const char* flag, std::string type, std::optional<std::string>& value);
  void take(const char* flag, std::string type, bool& value);
  /// What the package itself reads and types, so that it is among the names.
  void know(const char* flag) { known_.emplace_back(flag, ""); }

  /// Throws InputError for a flag that nothing took.
  void refuse_rest() const;
  /// Those that were asked for, in order.
  [[nodiscard]] const std::vector<TypedName>& known() const { return known_; }

 private:
  [[nodiscard]] std::vector<std::string> names() const;

  std::string function_;
  Given given_;
  std::vector<TypedName> known_;
};

void take(FlagReader& reader, session::QuestionFlags& flags);
void take(FlagReader& reader, session::StrategyFlags& flags);
void take(FlagReader& reader, session::SimulationFlags& flags);
/// Hands every option what was given of it.
void take(FlagReader& reader, const std::vector<session::BoundOption>& options);

}  // namespace plumbline::python

#pragma once
/// \file arguments.h: the arguments of each function of the module, read into requests of the session.

#include <optional>
#include <string>
#include <vector>

#include "planner/session/fit/fit.h"
#include "planner/session/flags/plan_flags.h"
#include "planner/validate/validate.h"
#include "python/flag_reader.h"
#include "python/use_cases.h"

namespace plumbline::python {

/// What `fit`, `estimate`, `explain` and `simulate` share.
struct PlanArguments {
  session::PlanFlags flags;
  std::optional<std::string> from;

  void take(FlagReader& reader);
  /// Reads the plan file or the launch files. Throws InputError naming the flag or the file.
  [[nodiscard]] session::EstimateRequest request(const Source& source,
                                                 session::NoStrategy none = session::NoStrategy::plain) const;
};

struct FitArguments : PlanArguments {
  std::optional<std::string> framework;
  void take(FlagReader& reader);
  /// For whom changes are looked for. Throws InputError naming the flag.
  [[nodiscard]] session::FitOptions options() const;
};

struct ExplainArguments : PlanArguments {
  void take(FlagReader& reader);
};

struct SimulateArguments : PlanArguments {
  session::SimulationFlags simulation;
  void take(FlagReader& reader);
};

struct ImportArguments {
  session::QuestionFlags question;
  std::optional<std::string> from;
  void take(FlagReader& reader);
};

struct ValidateArguments {
  ValidationFilter filter;
  void take(FlagReader& reader);
};

struct CalibrateArguments {
  std::optional<std::string> device, stack, like, name;
  void take(FlagReader& reader);
};

/// Throws InputError for an argument that the function does not have.
template <class Arguments>
[[nodiscard]] Arguments read(const std::string& function, const Given& given) {
  FlagReader reader(function, given);
  Arguments arguments;
  arguments.take(reader);
  reader.refuse_rest();
  return arguments;
}

[[nodiscard]] session::ImportRequest read_launch_files(const std::vector<std::string>& files,
                                                       const std::optional<std::string>& from);
/// Of a plan alone. Throws InputError where there is none.
[[nodiscard]] session::PlanRequest plan_request(const Source& source);

}  // namespace plumbline::python

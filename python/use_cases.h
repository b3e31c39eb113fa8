#pragma once
/// \file use_cases.h: what the module can be asked, as work that can be followed and stopped.
///
/// Flags are read at once, the work is done when it is run (work.h); neither needs the interpreter. Each throws
/// InputError in the words of the command line.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/question/task.h"
#include "planner/session/use_case/use_case.h"
#include "python/flag_reader.h"

namespace plumbline::python {

using session::Answer;
using session::PricedPlan;
using session::shared;
using session::SharedPlan;
using session::Work;

/// A plan or launch files in place of flags; nothing of it: the flags say all.
struct Source {
  std::optional<std::string> plan_file;
  SharedPlan plan;
  std::vector<std::string> launch_files;
};

/// `function`: "fit", "estimate", ...: whose arguments are read.
[[nodiscard]] SharedPlan priced(const std::string& function, const Given& given, const Source& source);
/// One of session::use_cases(), by its name.
[[nodiscard]] Work work_of(const std::string& use_case, const Given& given);
/// The cheapest changes that make a plan fit.
[[nodiscard]] Work fit_changes(const SharedPlan& plan);
[[nodiscard]] Work explain(const Given& given, const Source& source, const Source& against);
[[nodiscard]] Work simulate(const Given& given, const Source& source);
/// `files`: of measured runs; none: those that are published.
[[nodiscard]] Work validate(const Given& given, const std::vector<std::string>& files);
[[nodiscard]] Work calibrate(const Given& given, const std::vector<std::string>& files);
[[nodiscard]] Answer import_files(const Given& given, const std::vector<std::string>& files);
[[nodiscard]] Answer compare(const Source& source, const std::string& measured);

/// The flags that a function reads, in order, each with its argument's type; empty where the package types it.
[[nodiscard]] std::vector<TypedName> flag_types(const std::string& function);

}  // namespace plumbline::python

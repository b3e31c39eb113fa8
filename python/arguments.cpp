#include "python/arguments.h"

#include "core/base/errors.h"
#include "core/io/json.h"
#include "core/io/json_file.h"
#include "planner/question/value_text.h"
#include "planner/session/plan_file.h"

namespace plumbline::python {
namespace {

template <class Arguments>
std::vector<TypedName> typed_arguments() {
  FlagReader reader("", {});
  Arguments().take(reader);
  return reader.known();
}

}  // namespace

void PlanArguments::take(FlagReader& reader) {
  reader.know("--plan");
  reader.know("--import");
  reader.take("--from", "str", from);
  python::take(reader, flags.question);
  python::take(reader, flags.strategy);
}

session::EstimateRequest PlanArguments::request(const Source& source, session::NoStrategy none) const {
  const bool has_plan = source.plan || source.plan_file;
  if (!source.launch_files.empty()) {
    flags.require_allowed_with_import();
    if (has_plan)
      throw InputError({"--plan", "cannot be combined with --import, which says it too", "one of the two", ""});
    return flags.request_of(read_launch_files(source.launch_files, from));
  }
  if (from) throw InputError({"--from", "says whose the files of --import are", "--import as well", ""});
  if (!has_plan) return flags.request(none);
  flags.require_allowed_with_plan();
  return flags.request_of(plan_request(source));
}

void FitArguments::take(FlagReader& reader) {
  PlanArguments::take(reader);
  reader.take("--for", "str", framework);
}

session::FitOptions FitArguments::options() const {
  session::FitOptions options;
  if (framework) options.framework = choice_of("--for", *framework, all_frameworks, framework_from_text);
  if (from) options.read_from = framework_from_text(*from);
  return options;
}

void ExplainArguments::take(FlagReader& reader) {
  PlanArguments::take(reader);
  reader.know("--against");
}

void SimulateArguments::take(FlagReader& reader) {
  PlanArguments::take(reader);
  python::take(reader, simulation);
}

void ImportArguments::take(FlagReader& reader) {
  reader.take("--from", "str", from);
  python::take(reader, question);
}

void ValidateArguments::take(FlagReader& reader) {
  const auto list = [&](const char* flag, std::vector<std::string>& names) {
    std::optional<std::string> text;
    reader.take(flag, "_List", text);
    if (text) names = list_of(flag, *text);
  };
  list("--device", filter.devices);
  list("--source", filter.sources);
}

void CalibrateArguments::take(FlagReader& reader) {
  reader.take("--device", "str", device);
  reader.take("--stack", "_Path", stack);
  reader.take("--like", "_Path", like);
  reader.take("--name", "str", name);
}

session::ImportRequest read_launch_files(const std::vector<std::string>& files,
                                         const std::optional<std::string>& from) {
  session::ImportRequest request;
  request.from = session::required_target(from);
  for (const std::string& file : files)
    request.files.push_back({file, read_text_file(file, "a launch script or configuration")});
  return request;
}

session::PlanRequest plan_request(const Source& source) {
  if (source.plan) return session::plan_request_of(source.plan->file_text(), "plan");
  if (source.plan_file) return session::read_plan_request(*source.plan_file);
  throw InputError({"--plan", "is missing", "a plan or the name of its file", ""});
}

std::vector<TypedName> flag_types(const std::string& function) {
  if (const auto use_case = session::use_case(function)) {
    FlagReader reader("", {});
    take(reader, use_case->options);
    return reader.known();
  }
  if (function == "fit") return typed_arguments<FitArguments>();
  if (function == "estimate") return typed_arguments<PlanArguments>();
  if (function == "explain") return typed_arguments<ExplainArguments>();
  if (function == "simulate") return typed_arguments<SimulateArguments>();
  if (function == "validate") return typed_arguments<ValidateArguments>();
  if (function == "calibrate") return typed_arguments<CalibrateArguments>();
  check(function == "import_files", "only functions of the module are asked about");
  return typed_arguments<ImportArguments>();
}

}  // namespace plumbline::python

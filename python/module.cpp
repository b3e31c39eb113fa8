// plumbline._native: the session's use-cases for Python. What people see is python/plumbline.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "core/base/errors.h"
#include "core/base/version.h"
#include "core/io/output_file.h"
#include "planner/session/export/export.h"
#include "planner/session/flags/asked_plan.h"
#include "planner/session/search/search_words.h"
#include "python/catalogues.h"
#include "python/errors.h"
#include "python/interruptible.h"

namespace plumbline::python {
namespace {

namespace py = pybind11;
using WithoutLock = py::call_guard<py::gil_scoped_release>;

/// A table as {"columns": [{"id", "title", "unit", "explanation"}], "rows": [[(text, number or None)]]}.
py::dict to_python(const present::Table& table) {
  py::list columns;
  for (const present::Column& column : table.columns) {
    py::dict one;
    one["id"] = column.id;
    one["title"] = column.title;
    one["unit"] = std::string(present::unit_text(column.unit));
    one["explanation"] = column.explanation;
    one["is_text"] = column.unit == present::Unit::text;
    columns.append(one);
  }
  py::list rows;
  for (const std::vector<present::Cell>& row : table.rows) {
    py::list cells;
    for (const present::Cell& cell : row) cells.append(py::make_tuple(cell.text, cell.number));
    rows.append(cells);
  }
  py::dict all;
  all["columns"] = columns;
  all["rows"] = rows;
  return all;
}

py::object table_of(const Answer& answer, const std::string& name) {
  const auto found = answer.tables.find(name);
  if (found == answer.tables.end()) return py::none();
  return to_python(found->second);
}

/// (answer, whether Ctrl-C ended it).
py::tuple ended(const Work& work, const py::object& progress) {
  Ended ended = run_interruptibly(work, progress);
  return py::make_tuple(std::move(ended.answer), ended.interrupted);
}

/// What a function asks about is read without the lock too: files, networks.
template <class MakeWork>
py::tuple run(const MakeWork& make_work, const py::object& progress) {
  Work work;
  {
    const py::gil_scoped_release released;
    work = make_work();
  }
  return ended(work, progress);
}

Work fit_changes(const SharedPlan& plan) {
  check(plan->changes != nullptr, "changes are asked of a fit");
  return {[plan](const Task& task) { return plan->changes(*plan, task); }, {}};
}

session::ExportAnswer exported(const session::Source& source, const std::string& target, const std::string& release) {
  const session::PlanRequest request = session::plan_request(source);
  return session::export_plan(session::estimate(request), target, release, session::launch_recipe(request.written));
}

void declare_values(py::module_& module) {
  py::class_<PricedPlan, std::shared_ptr<PricedPlan>>(module, "PricedPlan")
      .def("json", &PricedPlan::json)
      .def("file_text", &PricedPlan::file_text, WithoutLock())
      .def("sentences", &PricedPlan::sentences)
      .def("table", [](const PricedPlan& plan, const std::string& name) { return to_python(plan.table(name)); })
      .def_property_readonly("warning",
                             [](const PricedPlan& plan) { return plan.asked ? plan.asked->warning : std::string(); });
  py::class_<Answer>(module, "Answer")
      .def_readonly("json", &Answer::json)
      .def("table", &table_of)
      .def_readonly("sentences", &Answer::sentences)
      .def_readonly("warning", &Answer::warning)
      .def_readonly("complete", &Answer::complete)
      .def_readonly("plans", &Answer::plans)
      .def_readonly("changes", &Answer::changes)
      .def_readonly("file_text", &Answer::file_text)
      .def_readonly("nearest_miss", &Answer::nearest_miss);
  py::class_<session::Source>(module, "Source")
      .def(py::init([](std::optional<std::string> file, SharedPlan plan, std::vector<std::string> launch_files) {
             return session::Source{std::move(file), std::move(plan), std::move(launch_files)};
           }),
           py::arg("plan_file") = py::none(), py::arg("plan") = py::none(),
           py::arg("launch_files") = std::vector<std::string>());
  py::class_<session::Inputs>(module, "Inputs")
      .def(py::init([](session::Source source, session::Source against, std::vector<std::string> files) {
        return session::Inputs{std::move(source), std::move(against), std::move(files)};
      }));
}

void declare_export(py::module_& module) {
  py::class_<LaunchFile>(module, "LaunchFile")
      .def_readonly("name", &LaunchFile::name)
      .def_readonly("text", &LaunchFile::text)
      .def_readonly("is_executable", &LaunchFile::is_executable);
  py::class_<session::Substitution>(module, "Substitution")
      .def_readonly("sentence", &session::Substitution::sentence)
      .def_readonly("change", &session::Substitution::change);
  py::class_<session::ExportAnswer>(module, "ExportAnswer")
      .def_readonly("title", &session::ExportAnswer::title)
      .def_readonly("release", &session::ExportAnswer::release)
      .def_readonly("substitutions", &session::ExportAnswer::substitutions)
      .def_property_readonly("files", [](const session::ExportAnswer& answer) { return answer.files.files; })
      .def_property_readonly("assumptions",
                             [](const session::ExportAnswer& answer) { return answer.files.assumptions; })
      .def_property_readonly("not_said",
                             [](const session::ExportAnswer& answer) {
                               std::vector<std::string> all = answer.files.unsaid;
                               all.insert(all.end(), answer.files.missing.begin(), answer.files.missing.end());
                               return all;
                             })
      .def_property_readonly("nearest", [](const session::ExportAnswer& answer) {
        return answer.nearest ? session::shared(*answer.nearest) : nullptr;
      });
  module.def("export_plan", &exported, WithoutLock());
}

void declare_functions(py::module_& module) {
  using py::object;
  module.def("ask",
             [](const std::string& function, const Given& given, const session::Inputs& inputs,
                const object& progress) { return run([&] { return work_of(function, given, inputs); }, progress); });
  module.def("fit_changes", [](const SharedPlan& plan, const object& progress) {
    return run([&] { return fit_changes(plan); }, progress);
  });
  module.def("catalogue", &catalogue, WithoutLock());
}

}  // namespace
}  // namespace plumbline::python

PYBIND11_MODULE(_native, module) {
  using namespace plumbline;
  module.doc() = "The planner, as the package plumbline shows it.";
  python::register_errors();
  python::declare_values(module);
  python::declare_export(module);
  python::declare_functions(module);
  module.def("flag_types", &python::flag_types);
  module.def("strategy_keys", &python::strategy_keys);
  module.def("version", [] { return std::string(program_version()); });
  module.def("problem_text", [](std::string where, std::string what, std::string expected, std::string nearest) {
    return to_text(InputProblem{std::move(where), std::move(what), std::move(expected), std::move(nearest)});
  });
  module.def("progress_text", [](const std::string& phase, std::int64_t done, std::int64_t total, double best) {
    return present::progress_words({phase, done, total, best});
  });
  module.def("write_file", [](const std::string& name, const std::string& text) {
    require_writable_file("path", name);
    write_output_file(name, text);
  });
  module.def("require_folder", [](const std::string& name) { require_writable_folder("folder", name); });
}

// The functions of plumbline.h. Each is a try around a few lines.
#include "capi/plumbline.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "capi/error.h"
#include "capi/job.h"
#include "capi/question.h"
#include "capi/texts.h"
#include "capi/verbs.h"
#include "core/base/errors.h"
#include "core/base/version.h"
#include "core/io/output_file.h"

using plumbline::InputError;
using plumbline::to_json_text;
using plumbline::capi::guarded;

struct plumbline_answer {
  plumbline::session::Answer value;
};

struct plumbline_plan {
  plumbline::session::SharedPlan value;
};

struct plumbline_job {
  explicit plumbline_job(std::function<plumbline::session::Work()> read) : job(std::move(read)) {}

  plumbline::capi::Job job;
};

namespace {

constexpr std::chrono::milliseconds between_looks(
    20);  // people take an end within a tenth of a second of Ctrl-C as at once

/// For plumbline_text_free.
char* copied(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

template <class Pointer>
const Pointer& named(const Pointer& pointer, const char* name) {
  if (pointer == nullptr) throw InputError({name, "is NULL", "a value", ""});
  return pointer;
}

plumbline_plan* handle_of(const plumbline::session::SharedPlan& plan) {
  return plan ? new plumbline_plan{plan} : nullptr;
}

/// What a caller asks, none of whose memory is needed any more.
struct Asked {
  std::string verb;
  std::string question = "{}";
  plumbline::session::SharedPlan plan, against;
};

/// What a caller compiled with an earlier header does not have is absent.
Asked asked_of(const plumbline_request* given) {
  plumbline_request request = {};
  std::memcpy(&request, named(given, "request"), std::min(given->size, sizeof request));
  Asked asked;
  asked.verb = named(request.verb, "verb");
  if (request.question != nullptr) asked.question = request.question;
  if (request.plan != nullptr) asked.plan = request.plan->value;
  if (request.against != nullptr) asked.against = request.against->value;
  return asked;
}

plumbline::session::Work work_of(const Asked& asked) {
  plumbline::capi::Question question = plumbline::capi::read_question(asked.question);
  question.inputs.source.plan = asked.plan;
  question.inputs.against.plan = asked.against;
  return plumbline::capi::work_of(asked.verb, std::move(question));
}

std::unique_ptr<plumbline_job> started(const plumbline_request* request) {
  return std::make_unique<plumbline_job>([asked = asked_of(request)] { return work_of(asked); });
}

void hear(plumbline::capi::Job& job, plumbline_progress progress, void* context) {
  if (progress == nullptr) return;
  bool is_heard = false;
  while (const auto report = job.take_report()) {
    is_heard = true;
    if (progress(report->c_str(), context) != 0) job.stop();
  }
  if (!is_heard && progress(nullptr, context) != 0) job.stop();
}

}  // namespace

const char* plumbline_version(void) {
  static const std::string version(plumbline::program_version());
  return version.c_str();
}

int plumbline_abi(void) { return PLUMBLINE_ABI; }

int plumbline_verbs(char** json, plumbline_error** error) {
  return guarded(error, [&] { *json = copied(to_json_text(plumbline::capi::verbs_json())); });
}

int plumbline_ask(const plumbline_request* request, plumbline_progress progress, void* context,
                  plumbline_answer** answer, plumbline_error** error) {
  return guarded(error, [&] {
    const std::unique_ptr<plumbline_job> asked = started(request);
    plumbline::capi::Job& job = asked->job;
    while (!job.ended_within(between_looks)) hear(job, progress, context);
    hear(job, progress, context);  // short work ends before the first look
    *named(answer, "answer") = new plumbline_answer{job.answer()};
  });
}

int plumbline_start(const plumbline_request* request, plumbline_job** job, plumbline_error** error) {
  return guarded(error, [&] { *named(job, "job") = started(request).release(); });
}

int plumbline_job_wait(plumbline_job* job, int milliseconds) {
  if (milliseconds < 0) return job->job.ended_within(std::nullopt) ? 1 : 0;
  return job->job.ended_within(std::chrono::milliseconds(milliseconds)) ? 1 : 0;
}

int plumbline_job_report(plumbline_job* job, char** report, plumbline_error** error) {
  return guarded(error, [&] {
    const auto text = named(job, "job")->job.take_report();
    *report = text ? copied(*text) : nullptr;
  });
}

void plumbline_job_stop(plumbline_job* job) {
  if (job != nullptr) job->job.stop();
}

int plumbline_job_end(plumbline_job* job, plumbline_answer** answer, plumbline_error** error) {
  return guarded(error, [&] {
    const std::unique_ptr<plumbline_job> ended(named(job, "job"));
    plumbline::session::Answer value = ended->job.answer();
    if (answer != nullptr) *answer = new plumbline_answer{std::move(value)};
  });
}

int plumbline_answer_json(const plumbline_answer* answer, char** json, plumbline_error** error) {
  return guarded(error, [&] { *json = copied(plumbline::capi::answer_text(named(answer, "answer")->value)); });
}

int plumbline_answer_details(const plumbline_answer* answer, char** json, plumbline_error** error) {
  return guarded(
      error, [&] { *json = copied(to_json_text(plumbline::capi::details_json(named(answer, "answer")->value), -1)); });
}

int plumbline_answer_table(const plumbline_answer* answer, const char* name, char** json, plumbline_error** error) {
  return guarded(error, [&] {
    const auto& tables = named(answer, "answer")->value.tables;
    const auto found = tables.find(named(name, "name"));
    *json = found == tables.end() ? nullptr : copied(to_json_text(plumbline::capi::table_json(found->second), -1));
  });
}

int plumbline_answer_file(const plumbline_answer* answer, char** text, plumbline_error** error) {
  return guarded(error, [&] { *text = copied(named(answer, "answer")->value.file_text); });
}

size_t plumbline_answer_plans(const plumbline_answer* answer) {
  return answer == nullptr ? 0 : answer->value.plans.size();
}

int plumbline_answer_plan(const plumbline_answer* answer, size_t place, plumbline_plan** plan,
                          plumbline_error** error) {
  return guarded(error, [&] {
    const auto& plans = named(answer, "answer")->value.plans;
    if (place >= plans.size())
      throw InputError({"place", std::to_string(place), "below " + std::to_string(plans.size()), ""});
    *plan = handle_of(plans[place]);
  });
}

int plumbline_answer_nearest(const plumbline_answer* answer, plumbline_plan** plan, plumbline_error** error) {
  return guarded(error, [&] { *plan = handle_of(named(answer, "answer")->value.nearest_miss); });
}

int plumbline_plan_json(const plumbline_plan* plan, char** json, plumbline_error** error) {
  return guarded(error, [&] { *json = copied(named(plan, "plan")->value->json()); });
}

int plumbline_plan_details(const plumbline_plan* plan, char** json, plumbline_error** error) {
  return guarded(error,
                 [&] { *json = copied(to_json_text(plumbline::capi::details_json(*named(plan, "plan")->value), -1)); });
}

int plumbline_plan_table(const plumbline_plan* plan, const char* name, char** json, plumbline_error** error) {
  return guarded(error, [&] {
    const plumbline::present::Table table = named(plan, "plan")->value->table(named(name, "name"));
    *json = copied(to_json_text(plumbline::capi::table_json(table), -1));
  });
}

int plumbline_plan_file(const plumbline_plan* plan, char** text, plumbline_error** error) {
  return guarded(error, [&] { *text = copied(named(plan, "plan")->value->file_text()); });
}

int plumbline_error_code(const plumbline_error* error) { return error->code; }
const char* plumbline_error_message(const plumbline_error* error) { return error->message.c_str(); }
const char* plumbline_error_where(const plumbline_error* error) { return error->problem.where.c_str(); }
const char* plumbline_error_what(const plumbline_error* error) { return error->problem.what.c_str(); }
const char* plumbline_error_expected(const plumbline_error* error) { return error->problem.expected.c_str(); }
const char* plumbline_error_nearest(const plumbline_error* error) { return error->problem.nearest.c_str(); }

int plumbline_write_file(const char* path, const char* text, plumbline_error** error) {
  return guarded(error, [&] {
    plumbline::require_writable_file("path", named(path, "path"));
    plumbline::write_output_file(path, named(text, "text"));
  });
}

int plumbline_check_folder(const char* path, plumbline_error** error) {
  return guarded(error, [&] { plumbline::require_writable_folder("folder", named(path, "path")); });
}

void plumbline_text_free(char* text) { std::free(text); }
void plumbline_answer_free(plumbline_answer* answer) { delete answer; }
void plumbline_plan_free(plumbline_plan* plan) { delete plan; }
void plumbline_error_free(plumbline_error* error) { delete error; }

#ifndef PLUMBLINE_H
#define PLUMBLINE_H
/*
 * \file plumbline.h: Plumbline as a C library: a verb and a question as JSON in, an answer as JSON out.
 *
 *   plumbline_request request = {sizeof request, "search", "{\"model\": \"llama-3-8b\", \"machine\": \"dgx-h100\", "
 *                                "\"gpus\": 8, \"global_batch\": 64}", NULL, NULL};
 *   plumbline_answer *answer = NULL;
 *   plumbline_error *error = NULL;
 *   if (plumbline_ask(&request, NULL, NULL, &answer, &error) != PLUMBLINE_OK) puts(plumbline_error_message(error));
 *
 * Verbs, and the options of each, are those of plumbline_verbs(); the keys of a question are the flags of the command
 * `plan`, with underscores or hyphens: {"seq_len": 8192} is --seq-len 8192. Values are numbers, texts, true and false,
 * lists ([8, 16] is 8,16) and objects ({"tp": 8} is tp=8). An answer's JSON has the bytes that the command prints with
 * --json (docs/c.md). That a plan does not fit, or that none was found, is an answer and no error.
 *
 * Every function may be called from any thread; a job by one thread at a time. Answers and plans never change and may
 * be shared. Functions that return an int return PLUMBLINE_OK or the code of the error that they set; `error` may be
 * NULL. Texts are UTF-8 and end with a zero byte; those that are returned through a `char **` are released with
 * plumbline_text_free, all else with the function of its type, each of which takes NULL. Nothing prints, exits or
 * changes signal handlers; threads of the library receive no signals.
 *
 * Functions are added, never changed or removed, while PLUMBLINE_ABI stays the same.
 */
#include <stddef.h>

/* NOLINTBEGIN(readability-identifier-naming): names as C has them */
#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define PLUMBLINE_API __attribute__((visibility("default")))
#else
#define PLUMBLINE_API
#endif

#define PLUMBLINE_ABI 1

/* The kinds of error, numbered as the exit codes of the command. */
enum {
  PLUMBLINE_OK = 0,
  PLUMBLINE_INPUT_ERROR = 2,       /* what was asked is wrong */
  PLUMBLINE_ENVIRONMENT_ERROR = 3, /* a file, the memory or the system failed */
  PLUMBLINE_INTERNAL_ERROR = 70    /* our bug */
};

typedef struct plumbline_error plumbline_error;
typedef struct plumbline_answer plumbline_answer;
typedef struct plumbline_plan plumbline_plan; /* of an answer; priced, to ask further about */
typedef struct plumbline_job plumbline_job;

typedef struct plumbline_request {
  size_t size;          /* sizeof(plumbline_request) */
  const char* verb;     /* "search" */
  const char* question; /* an object of JSON, or NULL */
  /* In place of "plan" and "against" of the question, which name files; or NULL. */
  const plumbline_plan* plan;
  const plumbline_plan* against;
} plumbline_request;

/* Called on the thread that asks, every 20 ms at least: with a report as JSON, or with NULL where there is none. What
 * it returns, unless 0, ends the work soon, with the best that was found until then. A report is {"phase", "done",
 * "total", "best_step_time_s", "text"}, of a run a step, as `plan run --json` prints it. */
typedef int (*plumbline_progress)(const char* report, void* context);

/* "0.2.0", of the program; never freed. PLUMBLINE_ABI of the library that was loaded. */
PLUMBLINE_API const char* plumbline_version(void);
PLUMBLINE_API int plumbline_abi(void);
/* {"verbs": {"search": [{"flag", "values", "help", "several", "large", "kind", "input"}]}, "strategy_keys": [{"key",
 * "kind"}]}: `values` as help shows them, `kind` of an axis of the strategy or null, `input`: a file, or one of
 * plumbline_request; `strategy_keys`: those of a strategy in every answer. */
PLUMBLINE_API int plumbline_verbs(char** json, plumbline_error** error);

/* Answers a request. `progress` may be NULL. */
PLUMBLINE_API int plumbline_ask(const plumbline_request* request, plumbline_progress progress, void* context,
                                plumbline_answer** answer, plumbline_error** error);

/* The same for callers with a loop of their own: start, then wait and take reports until it has ended, then end. */
PLUMBLINE_API int plumbline_start(const plumbline_request* request, plumbline_job** job, plumbline_error** error);
/* Waits at most so many milliseconds, below 0 without limit; 1: it has ended, 0: it has not. */
PLUMBLINE_API int plumbline_job_wait(plumbline_job* job, int milliseconds);
/* The next report that nobody has taken, or NULL: of a run every step, else the latest. */
PLUMBLINE_API int plumbline_job_report(plumbline_job* job, char** report, plumbline_error** error);
/* Asks it to end soon, with what it has. */
PLUMBLINE_API void plumbline_job_stop(plumbline_job* job);
/* Waits for its end, releases the job and hands over its answer, which NULL for `answer` drops. */
PLUMBLINE_API int plumbline_job_end(plumbline_job* job, plumbline_answer** answer, plumbline_error** error);

/* What the command prints with --json; empty where it was stopped before anything was found. */
PLUMBLINE_API int plumbline_answer_json(const plumbline_answer* answer, char** json, plumbline_error** error);
/* {"sentences", "warning", "complete", "found", "changes", "tables"}: what a person reads; something to know, or "";
 * whether it came to its end; whether there is anything worth having; what each plan changes; names of its tables. */
PLUMBLINE_API int plumbline_answer_details(const plumbline_answer* answer, char** json, plumbline_error** error);
/* {"columns": [{"id", "title", "unit", "explanation", "is_text"}], "rows": [[[text, number or null]]]}; *json is NULL
 * where there is no such table. */
PLUMBLINE_API int plumbline_answer_table(const plumbline_answer* answer, const char* name, char** json,
                                         plumbline_error** error);
/* The file that the answer is: the record of a run, the stack of a calibration; else empty. */
PLUMBLINE_API int plumbline_answer_file(const plumbline_answer* answer, char** text, plumbline_error** error);
/* Plans, best first. A place may hold none: *plan is NULL then. */
PLUMBLINE_API size_t plumbline_answer_plans(const plumbline_answer* answer);
PLUMBLINE_API int plumbline_answer_plan(const plumbline_answer* answer, size_t place, plumbline_plan** plan,
                                        plumbline_error** error);
/* Of a search that found nothing: the plan that comes nearest; or NULL. */
PLUMBLINE_API int plumbline_answer_nearest(const plumbline_answer* answer, plumbline_plan** plan,
                                           plumbline_error** error);

/* What `plan estimate --json` prints of it; {"sentences", "warning"}; "plan", "memory", "memory_shown" or "time"; the
 * text of its plan file. */
PLUMBLINE_API int plumbline_plan_json(const plumbline_plan* plan, char** json, plumbline_error** error);
PLUMBLINE_API int plumbline_plan_details(const plumbline_plan* plan, char** json, plumbline_error** error);
PLUMBLINE_API int plumbline_plan_table(const plumbline_plan* plan, const char* name, char** json,
                                       plumbline_error** error);
PLUMBLINE_API int plumbline_plan_file(const plumbline_plan* plan, char** text, plumbline_error** error);

/* The code, and one line; and of an input error where it stands, what is wrong, what was expected and what is nearest,
 * each of which may be empty. Valid until the error is freed. */
PLUMBLINE_API int plumbline_error_code(const plumbline_error* error);
PLUMBLINE_API const char* plumbline_error_message(const plumbline_error* error);
PLUMBLINE_API const char* plumbline_error_where(const plumbline_error* error);
PLUMBLINE_API const char* plumbline_error_what(const plumbline_error* error);
PLUMBLINE_API const char* plumbline_error_expected(const plumbline_error* error);
PLUMBLINE_API const char* plumbline_error_nearest(const plumbline_error* error);

/* Writes a file whole or not at all, with the refusals of --out. Checks that files can be written into a folder, which
 * need not be there yet. */
PLUMBLINE_API int plumbline_write_file(const char* path, const char* text, plumbline_error** error);
PLUMBLINE_API int plumbline_check_folder(const char* path, plumbline_error** error);

PLUMBLINE_API void plumbline_text_free(char* text);
PLUMBLINE_API void plumbline_answer_free(plumbline_answer* answer);
PLUMBLINE_API void plumbline_plan_free(plumbline_plan* plan);
PLUMBLINE_API void plumbline_error_free(plumbline_error* error);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(readability-identifier-naming) */
#endif

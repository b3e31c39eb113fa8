/* Asks libplumbline a question and prints the answer, as a program in C does.
 * Usage: ask VERB QUESTION [AGAIN]. AGAIN: of its first plan, this verb is then asked. PLUMBLINE_STOP=N: the N-th call of
 * the progress callback ends it. Exits with the code of an error, 1 where nothing was found. */
#include <plumbline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct followed {
  long calls, reports, last;
};

static int progress(const char *report, void *context) {
  struct followed *followed = context;
  if (report != NULL && ++followed->reports == 1) fprintf(stderr, "report: %s\n", report);
  return ++followed->calls == followed->last;
}

static int fail(plumbline_error *error) {
  const int code = plumbline_error_code(error);
  fprintf(stderr, "ask: %s\n[%s] [%s] [%s] [%s]\n", plumbline_error_message(error), plumbline_error_where(error),
          plumbline_error_what(error), plumbline_error_expected(error), plumbline_error_nearest(error));
  plumbline_error_free(error);
  return code;
}

/* Hands over the answer; 0, or the code of an error. */
static int ask(const char *verb, const char *question, const plumbline_plan *plan, plumbline_answer **answer) {
  plumbline_request request = {sizeof request, verb, question, plan, NULL};
  plumbline_error *error = NULL;
  struct followed followed = {0, 0, 0};
  const char *stop = getenv("PLUMBLINE_STOP");
  if (stop != NULL) followed.last = atol(stop);
  return plumbline_ask(&request, progress, &followed, answer, &error) == PLUMBLINE_OK ? 0 : fail(error);
}

int main(int count, char **words) {
  plumbline_answer *answer = NULL;
  plumbline_error *error = NULL;
  char *json = NULL;
  char *details = NULL;
  int code = 0;
  if (count < 3 || plumbline_abi() != PLUMBLINE_ABI) return 64;
  if ((code = ask(words[1], words[2], NULL, &answer)) != 0) return code;
  if (count > 3) {
    plumbline_plan *plan = NULL;
    if (plumbline_answer_plan(answer, 0, &plan, &error) != PLUMBLINE_OK) return fail(error);
    plumbline_answer_free(answer);
    code = ask(words[3], NULL, plan, &answer);
    plumbline_plan_free(plan);
    if (code != 0) return code;
  }
  if (plumbline_answer_json(answer, &json, &error) != PLUMBLINE_OK) return fail(error);
  if (plumbline_answer_details(answer, &details, &error) != PLUMBLINE_OK) return fail(error);
  fputs(json, stdout);
  fputs(details, stderr);
  code = strstr(details, "\"found\": true") != NULL || strstr(details, "\"found\":true") != NULL ? 0 : 1;
  plumbline_text_free(json);
  plumbline_text_free(details);
  plumbline_answer_free(answer);
  return code;
}

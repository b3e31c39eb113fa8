/* Asks the library for C whether a configuration fits, and prints what it answers. */
#include <plumbline.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  plumbline_request request = {sizeof request, "estimate",
                               "{\"model\": \"llama-3-8b\", \"machine\": \"dgx-h100\", \"gpus\": 8, \"global_batch\": 64}", NULL, NULL};
  plumbline_answer *answer = NULL;
  plumbline_error *error = NULL;
  char *json = NULL;
  if (plumbline_ask(&request, NULL, NULL, &answer, &error) != PLUMBLINE_OK ||
      plumbline_answer_json(answer, &json, &error) != PLUMBLINE_OK) {
    puts(plumbline_error_message(error));
    return 1;
  }
  puts(strstr(json, "\"llama-3-8b\"") != NULL ? "a plan of llama-3-8b" : json);
  plumbline_text_free(json);
  plumbline_answer_free(answer);
  return 0;
}

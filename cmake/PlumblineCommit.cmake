# cmake -D SOURCE=... -D OUTPUT=... -P: writes a source file with the commit of a checkout, where it is another than before.
find_program(GIT git)
set(commit "")
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${GIT} -C ${SOURCE} diff --quiet HEAD RESULT_VARIABLE differs ERROR_QUIET)
  if(commit AND differs EQUAL 1)
    string(APPEND commit ", with changes")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "cli/version_text.h"

namespace plumbline {

std::string_view program_commit() { return "@commit@"; }

}  // namespace plumbline
]])

# Writes OUTPUT: the files of DIRECTORY that match FILES as raw string literals (see PlumblineEmbed.cmake).
get_filename_component(extension ${FILES} LAST_EXT)
file(GLOB stems RELATIVE ${DIRECTORY} ${DIRECTORY}/${FILES})
list(TRANSFORM stems REPLACE "\\${extension}$" "")
list(SORT stems COMPARE STRING)
# A literal may not be longer than 65536 characters (C++20 [implimits]); longer files become several, which the compiler joins.
set(longest_literal 16000)
set(entries "")
foreach(stem IN LISTS stems)
  file(READ ${DIRECTORY}/${stem}${extension} text)
  string(LENGTH "${text}" length)
  set(literals "")
  set(begin 0)
  while(begin LESS length)
    string(SUBSTRING "${text}" ${begin} ${longest_literal} part)
    string(APPEND literals "\nR\"~~~(${part})~~~\"")
    math(EXPR begin "${begin} + ${longest_literal}")
  endwhile()
  string(APPEND entries "    {\"${stem}\", ${literals}},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"models/embedded.h\"

namespace plumbline::embedded {
namespace {

// Not constexpr: a compiler may refuse to measure so much text while compiling.
const EmbeddedFile files[] = {
${entries}};

}  // namespace

std::span<const EmbeddedFile> ${NAMESPACE}() { return files; }

}  // namespace plumbline::embedded
")

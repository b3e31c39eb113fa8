#include "core/base/escape.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

const std::string unknown = "\xEF\xBF\xBD";  // U+FFFD

TEST_CASE("UTF-8 stays as it is, and each byte that is none becomes U+FFFD") {
  CHECK(printable("na\xC3\xAFve \xE4\xB8\xAD \xF0\x9F\x8E\x93") == "na\xC3\xAFve \xE4\xB8\xAD \xF0\x9F\x8E\x93");
  CHECK(printable("a\xFFz") == "a" + unknown + "z");
  CHECK(printable("caf\xE9") == "caf" + unknown);                                 // Latin-1
  CHECK(printable("\xC0\xAF") == unknown + unknown);                              // overlong '/'
  CHECK(printable("\xED\xA0\x80") == unknown + unknown + unknown);                // half of a surrogate pair
  CHECK(printable("\xF4\x90\x80\x80") == unknown + unknown + unknown + unknown);  // beyond U+10FFFF
  CHECK(printable("\xE4\xB8") == unknown + unknown);                              // cut off
}

TEST_CASE("a terminal gets no control characters and no text that runs backwards") {
  CHECK(printable("a\033[31mb") == "a?[31mb");
  CHECK(printable("a\r\n\tb\x7F") == "a???b?");
  CHECK(printable("\xC2\x9B"
                  "31m") == "?31m");                          // CSI of ISO 6429 in one character
  CHECK(printable("user\xE2\x80\xAEnimda") == "user?nimda");  // right-to-left override
  CHECK(printable_lines("a\n\tb\r") == "a\n\tb?");
}

TEST_CASE("Markdown shows names as they are") {
  CHECK(markdown_text("a|b") == "a\\|b");
  CHECK(markdown_text("<img src=x>") == "\\<img src=x\\>");
  CHECK(markdown_text("[x](y) **b** `c`") == "\\[x\\](y) \\*\\*b\\*\\* \\`c\\`");
  CHECK(markdown_text("two\nlines") == "two?lines");
  CHECK(markdown_text("megatron_lm-2.1") == "megatron_lm-2.1");
}

TEST_CASE("XML is well formed whatever the name") {
  CHECK(xml_text("a<b & \"c\">") == "a&lt;b &amp; &quot;c&quot;&gt;");
  CHECK(xml_text("\xFF\033[1m") == unknown + "[1m");
  CHECK(xml_text("\xEF\xBF\xBE|") == "|");  // U+FFFE is no character
}

TEST_CASE("a DOT string ends where it ends") {
  CHECK(dot_quoted("a\"; b [c") == "\"a\\\"; b [c\"");
  CHECK(dot_quoted("back\\slash\nline\ttab\033") == "\"back\\\\slash\\nline tab?\"");
}

}  // namespace
}  // namespace plumbline

#pragma once
/// \file escape.h: text of unknown origin, made safe for each kind of output that it may end up in.
///
/// Names, notes and sources come from files that others wrote. A terminal would obey their control characters, a
/// Markdown table their bars, an XML reader would refuse the picture. One function for each output, all of them here;
/// JSON text is escaped by its writer (core/io/json.h).
/// Source: ECMA-48 (control characters), Unicode 15 section 3.9 (well-formed UTF-8, one U+FFFD for each wrong byte) and
/// UAX 9 (bidirectional controls), XML 1.0 section 2.2, CommonMark 0.31 section 2.4, Graphviz's DOT language.

#include <string>
#include <string_view>

namespace plumbline {

/// One line for a terminal or a log, bytes that are no UTF-8 replaced by U+FFFD: control characters, line breaks and
/// tabs included, and characters that turn the direction of writing become '?'.
[[nodiscard]] std::string printable(std::string_view text);
/// The same, but line breaks and tabs stay.
[[nodiscard]] std::string printable_lines(std::string_view text);
/// One line inside a paragraph, a list or a table's cell of Markdown that reads as it was given.
[[nodiscard]] std::string markdown_text(std::string_view text);
/// Character data or an attribute's value of XML and SVG; what XML cannot hold is left out.
[[nodiscard]] std::string xml_text(std::string_view text);
/// A quoted string of the DOT language; line breaks are kept as its "\n".
[[nodiscard]] std::string dot_quoted(std::string_view text);

}  // namespace plumbline

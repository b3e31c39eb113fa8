#pragma once
/// \file rows_json.h: files of measured rows, read.
///
/// Two forms: a plain array of rows as people collect them (see row_fields.h; keys that are not known are ignored, so
/// that files written for a later version can be read), and a plumbline.rows/1 document whose `common` keys hold for
/// every row, whose `rules` say how they are read ({"meanings": [..], "assumptions": [..]}, row_rules_json.h) and whose
/// unknown keys are refused. Types, ranges and units are strict in both.

#include <string>

#include "core/io/json.h"
#include "core/measurement/row_set.h"

namespace plumbline {

/// `name` is what the set is called when the document does not say. Throws InputError naming row and key.
[[nodiscard]] RowSet rows_from_json(const JsonPlace& document, std::string name);
/// Of a file, called as the file is. Throws InputError or EnvironmentError.
[[nodiscard]] RowSet read_rows_file(const std::string& file);

}  // namespace plumbline

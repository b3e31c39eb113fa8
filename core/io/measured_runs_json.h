#pragma once
/// \file measured_runs_json.h: files of measured runs, read.
///
/// Two forms: a plain array of runs as people collect them (see run_fields.h; keys that are not known may be data of
/// other programs: they are listed in RunSet::unread), and a plumbline.rows/1 document whose `common` keys hold for
/// every run, whose `rules` say how they are read ({"meanings": [..], "assumptions": [..]}, run_rules_json.h), whose
/// `held_out` keeps its runs out of every fit, and whose unknown keys are refused. Types, ranges and units are strict
/// in both.

#include <string>

#include "core/io/json.h"
#include "core/measurement/run_set.h"

namespace plumbline {

/// `name` is what the set is called when the document does not say. Throws InputError naming run and key.
[[nodiscard]] RunSet runs_from_json(const JsonPlace& document, std::string name);
/// Of a file, called as the file is. Throws InputError or EnvironmentError.
[[nodiscard]] RunSet read_runs_file(const std::string& file);
[[nodiscard]] std::vector<RunSet> read_run_files(const std::vector<std::string>& files);

}  // namespace plumbline

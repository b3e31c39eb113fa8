#pragma once
/// \file name_or_path.h: whether a text given for a model, a machine or a stack names the catalogue's or is a path.
///
/// A path is a path: what has a folder in it ("my/llama-3-8b", "./gpt2", "/data/net") or ends in ".json" or ".onnx" is
/// read where it is, whatever its last part is called. Anything else is the catalogue's where the catalogue has it, in
/// every folder, so that scripts mean the same everywhere. What could be read both ways is said (`warning`).

#include <string>
#include <string_view>

#include "core/base/errors.h"

namespace plumbline {

/// What a catalogue knows about a text.
struct CatalogueMatch {
  std::string name;       ///< of the entry that the text stands for; empty: none
  bool is_exact = false;  ///< spelled as the catalogue does, not only alike once a hub organisation is left out
};

struct NameOrPath {
  bool is_path = false;
  std::string warning;  ///< one sentence where the text could also mean something else; or empty
};

/// Begins as only paths do, holds two folders or more, ends in ".json", or names an ONNX file.
[[nodiscard]] bool is_explicit_path(std::string_view text);
/// `folder_file`: what a folder holds that is read as a whole ("config.json"); empty: no folder is.
[[nodiscard]] NameOrPath name_or_path(std::string_view text, const CatalogueMatch& match, std::string_view folder_file);

/// `find(text)`, where `text` is at `where` in a file that somebody else may have written: what is wrong with a
/// file that it names is said without a word of that file's content. `verb`: what shows a `kind` ("plan models").
template <class Find>
auto found_unquoted(const std::string& where, const std::string& text, const std::string& kind, const std::string& verb,
                    Find find) {
  try {
    return find(text);
  } catch (const InputError& error) {
    if (error.problem().where == kind) throw;  // a name that is unknown: no file was opened
  }
  throw InputError({where, "\"" + text.substr(0, 100) + "\" cannot be read as a " + kind,
                    "a name of " + verb + " or a file; " + verb + " with this file says what is wrong with it", ""});
}

}  // namespace plumbline

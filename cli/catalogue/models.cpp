// plan models: the networks that this program knows, with parameter counts and sources.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/catalogue/catalogue_verb.h"
#include "cli/flags/flag_values.h"
#include "cli/output/output_flag.h"
#include "cli/output/table.h"
#include "core/graph/parameter_count.h"
#include "core/quantity/text.h"
#include "models/import/onnx/onnx_network.h"
#include "models/io/catalogue_json.h"
#include "models/io/onnx_json.h"
#include "models/network_catalog.h"
#include "models/network_config.h"
#include "models/network_picture.h"
#include "planner/present/catalogue_tables.h"
#include "planner/present/onnx_table.h"

namespace plumbline {
namespace {

std::string details_text(const Network& network) {
  std::string text = wrapped(network.name, terminal_columns(), 2) + "\n";
  const auto line = [&](std::string name, const std::string& value) {
    if (value.empty()) return;
    name.resize(18, ' ');
    text += "  " + name + wrapped(value, terminal_columns(), 20, 20) + "\n";
  };
  std::string aliases;
  for (const std::string& alias : network.aliases) aliases += (aliases.empty() ? "" : ", ") + alias;
  line("parameters", grouped(parameter_count(network.graph)));
  line("active", grouped(active_parameter_count(network.graph)));
  if (network.published_parameters) line("published", grouped(*network.published_parameters));
  line("layers", std::to_string(network.graph.layer_count()));
  line("sequence length", std::to_string(network.default_sequence_length));
  line("model type", network.model_type);
  line("aliases", aliases);
  line("source", network.source);
  line("counts from", network.published_source);
  line("note", network.note);
  return text + "\n" + indented_text(present::block_table(network));
}

class ModelsVerb : public CatalogueVerb {
 public:
  ModelsVerb() : CatalogueVerb("MODEL") {}
  [[nodiscard]] VerbWords words() const override {
    return {
        "models", "the networks of the catalogue, or one of them in detail",
        "[NAME|FILE] [--as TYPE] [--dim NAME=N] [--out FILE]",
        "Without a name lists every network with its parameters, those that one token uses, and where its facts come "
        "from. With a name, an alias, a Hugging Face config.json or a network file: its blocks. Of an ONNX graph "
        "also the forward FLOPs by class and the activations, with its symbolic dimensions bound by --dim. A config "
        "whose "
        "model_type is "
        "unknown is read as a known one with --as; --out writes the network as a file to start one's own from.",
        "plan models mixtral-8x7b\nplan models my/config.json --as llama --out mine.json\nplan models bert.onnx --dim "
        "sequence=512\nplan models llama-3-8b "
        "--graph dot | dot -Tsvg > llama.svg"};
  }
  void declare(CLI::App& app) override {
    CatalogueVerb::declare(app);
    app.add_option("--graph", graph_, "write the graph as a picture in Graphviz's language")
        ->group("Output")
        ->type_name("dot");
    app.add_option("--as", as_, "read the config as this model_type, whatever it states")
        ->group("Output")
        ->type_name("TYPE");
    app.add_option("--dim", dimensions_, "size of a symbolic dimension of an ONNX graph, as in --dim sequence=512")
        ->group("Output")
        ->type_name("NAME=N");
    out_.declare(app, "write the network as a file that --model takes");
  }
  ExitCode run(Terminal& terminal) override {
    if (graph_ && *graph_ != "dot") refuse_choice("--graph", *graph_, {"dot"});
    if (graph_ && json())
      throw InputError({"--json", "does nothing with --graph, whose language is Graphviz's", "one of the two", ""});
    if (graph_ && !name()) throw InputError({"--graph", "no network is named", "plan models NAME --graph dot", ""});
    if (as_ && !name()) throw InputError({"--as", "no file is named", "plan models FILE --as TYPE", ""});
    if (!dimensions_.empty() && !name())
      throw InputError({"--dim", "no file is named", "plan models FILE.onnx --dim NAME=N", ""});
    if (out_ && !name()) throw InputError({"--out", "no network is named", "plan models NAME --out FILE", ""});
    require_writable({&out_}, json() ? StandardOutput::json : StandardOutput::text, terminal);
    return CatalogueVerb::run(terminal);
  }

 private:
  [[nodiscard]] std::string one(const std::string& named) const override {
    const std::string name = onnx::with_dimensions(named, dimensions_, "--dim");
    if (onnx::is_reference(name) && !as_ && !graph_) return one_onnx(name);
    const Network network = as_ ? find_network_as(name, *as_).network : find_network(name);
    if (graph_) return graphviz(network.graph);
    return json() ? to_json_text(network_json(network)) : details_text(network);
  }
  [[nodiscard]] std::string one_onnx(const std::string& name) const {
    const OnnxImport onnx = import_onnx_with_summary(name);
    if (json()) return to_json_text(onnx_json(onnx));
    return details_text(onnx.network) + "\n" + indented_text(present::onnx_table(onnx.summary));
  }
  void write_files(const std::string& name, Terminal& terminal) const override {
    out_.write([&] { return network_file_text(name, as_); }, terminal, json() ? Narration::silent : Narration::notes);
  }
  [[nodiscard]] std::string warning(const std::string& name) const override { return network_name_warning(name); }
  [[nodiscard]] std::vector<std::string> names() const override { return network_names(); }
  [[nodiscard]] std::string all() const override {
    return json() ? to_json_text(network_catalogue_json()) : text(present::network_table());
  }

  std::optional<std::string> graph_, as_;
  std::vector<std::string> dimensions_;
  OutputFlag out_{"--out", "network"};
};

const RegisteredVerb models_verb(100, make_verb<ModelsVerb>);

}  // namespace

}  // namespace plumbline

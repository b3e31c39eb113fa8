#include "gui/files/examples.h"

#include <QObject>

namespace plumbline::gui {
namespace {

QuestionForm form(const char* model, const char* machine, const char* gpus, const char* sequence, const char* batch) {
  QuestionForm form;
  form[Field::model] = model;
  form[Field::machine] = machine;
  form[Field::gpus] = gpus;
  form[Field::sequence] = sequence;
  form[Field::batch] = batch;
  return form;
}

std::vector<Example> make_examples() {
  QuestionForm large = form("llama-3-70b", "dgx-h100", "64", "8192", "512");
  large[Field::tokens] = "2T";
  QuestionForm adapters = form("llama-3-8b", "rtx4090-pcie", "8", "4096", "32");
  adapters[Field::lora_rank] = "16";
  return {{QObject::tr("Llama-3 70B on 64 H100"),
           QObject::tr("Which parallelism, and how many days and dollars for 2 T tokens?"), large},
          {QObject::tr("LoRA of Llama-3 8B on 8 RTX 4090"), QObject::tr("Does it fit, and what is fastest?"), adapters},
          {QObject::tr("Mixtral 8x7B on 32 A100"), QObject::tr("Experts, and how they are divided"),
           form("mixtral-8x7b", "dgx-a100-80g", "32", "4096", "256")},
          {QObject::tr("A small Llama on this computer"), QObject::tr("A plan that the page Run trains here and now"),
           form("nano-llama", "this-computer", "2", "128", "8")}};
}

}  // namespace

const std::vector<Example>& examples() {
  static const std::vector<Example> all = make_examples();
  return all;
}

}  // namespace plumbline::gui

#include "runtime/cuda/memory_meter.h"

#include <algorithm>
#include <map>

#include "runtime/cuda/cuda_call.h"

namespace plumbline {

class MemoryMeter {
 public:
  /// Of the thread's device.
  [[nodiscard]] static std::shared_ptr<MemoryMeter> of_device();

  /// What all programs have taken of the device; nothing if it does not answer, as after a failure.
  [[nodiscard]] static std::optional<Bytes> taken();
  /// The part of it that is neither counted nor the context's.
  [[nodiscard]] std::optional<Bytes> uncounted() const {
    const auto all = taken();
    return all ? std::optional(*all - counted - context) : std::nullopt;
  }
  void note_peak() {
    const auto all = taken();
    if (!all) return;
    highest = std::max(highest, *all);
    peak = std::max(peak, *all - trials);
  }

  std::mutex mutex;  ///< over all below
  Bytes context = taken().value_or(Bytes(0));
  Bytes counted{0};  ///< of all accounts
  Bytes trials{0};   ///< the part of it that is given back soon
  Bytes peak{0};
  Bytes highest{0};
  std::int32_t ranks = 0;
};

std::shared_ptr<MemoryMeter> MemoryMeter::of_device() {
  static std::mutex of_all;
  static std::map<int, std::weak_ptr<MemoryMeter>> meters;
  int device = 0;
  require(cudaGetDevice(&device), "cudaGetDevice");
  const std::scoped_lock lock(of_all);
  std::shared_ptr<MemoryMeter> meter = meters[device].lock();
  if (meter == nullptr) meters[device] = meter = std::make_shared<MemoryMeter>();
  return meter;
}

std::optional<Bytes> MemoryMeter::taken() {
  std::size_t free = 0;
  std::size_t total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) {
    (void)cudaGetLastError();  // else a later launch would report it
    return std::nullopt;
  }
  return Bytes(static_cast<std::int64_t>(total - std::min(total, free)));
}

MemoryAccount::MemoryAccount() : meter_(MemoryMeter::of_device()) {
  const std::scoped_lock lock(meter_->mutex);
  ++meter_->ranks;
}

MemoryAccount::~MemoryAccount() = default;

void MemoryAccount::count(MemoryUse use, Bytes asked, Bytes beyond) {
  by_use_[static_cast<std::size_t>(use)] += asked;
  meter_->counted += asked + beyond;
  if (use == MemoryUse::trials)
    meter_->trials += asked + beyond;
  else
    rounding_ += beyond;
}

Bytes MemoryAccount::taken(MemoryUse use, Bytes asked, const std::function<void()>& take) {
  const std::scoped_lock lock(meter_->mutex);
  const auto before = MemoryMeter::taken();
  take();
  const auto behind = MemoryMeter::taken();
  const Bytes beyond = before && behind ? *behind - *before - asked : Bytes(0);
  count(use, asked, beyond);
  meter_->note_peak();
  return beyond;
}

void MemoryAccount::given_back(MemoryUse use, Bytes asked, Bytes beyond, const std::function<void()>& give) {
  const std::scoped_lock lock(meter_->mutex);
  give();
  count(use, Bytes(0) - asked, Bytes(0) - beyond);
}

DeviceUse MemoryAccount::use() const {
  const std::scoped_lock lock(meter_->mutex);
  meter_->note_peak();
  const auto of = [&](MemoryUse one) { return by_use_[static_cast<std::size_t>(one)]; };
  DeviceUse use;
  use.context = meter_->context;
  use.modules = std::max(Bytes(0), meter_->uncounted().value_or(Bytes(0)));
  use.libraries = of(MemoryUse::libraries);
  use.communication = of(MemoryUse::communication);
  use.reserved = of(MemoryUse::tensors);
  use.rounding = rounding_;
  use.peak = meter_->peak;
  use.trials = std::max(Bytes(0), meter_->highest - meter_->peak);
  use.ranks = meter_->ranks;
  return use;
}

namespace {

std::shared_ptr<MemoryAccount>& own_account() {
  thread_local std::shared_ptr<MemoryAccount> account;
  return account;
}

}  // namespace

const std::shared_ptr<MemoryAccount>& thread_account() { return own_account(); }
void set_thread_account(std::shared_ptr<MemoryAccount> account) { own_account() = std::move(account); }

MeasuredUse::MeasuredUse(MemoryUse use) : account_(thread_account()), use_(use) {
  if (account_ == nullptr) return;
  const std::scoped_lock lock(account_->meter_->mutex);
  before_ = account_->meter_->uncounted();
}

MeasuredUse::~MeasuredUse() {
  if (account_ == nullptr) return;
  const std::scoped_lock lock(account_->meter_->mutex);
  const auto behind = account_->meter_->uncounted();
  if (!before_ || !behind || *behind < *before_) return;  // another program may have given something back
  account_->count(use_, *behind - *before_, Bytes(0));
  account_->meter_->note_peak();
}

}  // namespace plumbline

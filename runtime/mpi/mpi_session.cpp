#include "runtime/mpi/mpi_session.h"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <list>
#include <optional>
#include <set>
#include <thread>

#include "runtime/launch_place.h"
#include "runtime/rank_failure.h"

namespace plumbline {
namespace {

constexpr int data_tag = 0;
constexpr int failure_tag = 1;
constexpr int standing_tag = 2;
constexpr int question_tag = 3;  // for whom does a rank wait?
constexpr int answer_tag = 4;
constexpr std::chrono::microseconds idle_sleep(50);
constexpr std::chrono::seconds time_to_answer(1);  // for a rank that was told of a failure
constexpr std::chrono::seconds time_to_speak(3);   // for the rank that says what failed
constexpr std::int32_t nobody = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t all_to_end = nobody - 1;  // whom a rank awaits that has done its work

std::string name_of(std::int32_t rank) { return "rank " + std::to_string(rank); }

/// Stands before each fragment. All ranks of a job run the same binary, so its bytes travel as they are.
struct Envelope {
  std::uint64_t group = 0;
  std::int64_t sequence = 0;
  std::int64_t bytes_to_come = 0;  ///< in later fragments
  std::int32_t tag = 0;
  std::int32_t kind = 0;
  std::int32_t action = -1;  ///< where the sender stands
  std::int32_t unused = 0;   ///< no byte is left undefined
};

void require(int code, const char* call, std::int32_t rank) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw EnvironmentError("rank " + std::to_string(rank) + ": " + call + ": " + text.data() + " (" +
                         std::to_string(code) + ")");
}

}  // namespace

/// What the threads of this process share. MPI is called by one of them at a time.
class MpiSession::Hub : public Wire {
 public:
  explicit Hub(const MpiOptions& options) : options_(options) {
    // OpenMPI 4 prints a paragraph when a rank ends the job (orterun(1), --quiet); ours has been said. The user may ask
    // for it with 0; other implementations do not read the variable.
    ::setenv("OMPI_MCA_orte_execute_quiet", "1", 0);
    int provided = MPI_THREAD_SINGLE;
    require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread", -1);
    if (provided < MPI_THREAD_SERIALIZED) throw EnvironmentError("MPI_Init_thread: this MPI allows one thread only");
    require(MPI_Comm_dup(MPI_COMM_WORLD, &everyone_), "MPI_Comm_dup", -1);
    require(MPI_Comm_set_errhandler(everyone_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", -1);
    MPI_Comm_rank(everyone_, &rank_);
    MPI_Comm_size(everyone_, &size_);
    if (const auto place = launch_place(process_environment)) check_place(*place, "MPI", rank_, size_);
    ranks_here_ = count_here();
    standing_.resize(static_cast<std::size_t>(size_), {-1, false});
    awaited_.resize(static_cast<std::size_t>(size_));
    carrier_ = std::thread([this] { carry(); });
  }
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;
  ~Hub() override { stop_carrying(); }

  [[nodiscard]] std::int32_t size() const { return size_; }
  [[nodiscard]] std::int32_t ranks_here() const { return ranks_here_; }
  void stand_at(std::int32_t action) { action_ = action; }
  [[nodiscard]] std::vector<Standing> standings();

  [[nodiscard]] std::int32_t own_rank() const override { return rank_; }
  void post(std::int32_t to, std::uint64_t group, std::int32_t tag, Message message) override;
  [[nodiscard]] Message take(const MessageKey& key, const CallSite& site) override;
  void enter(const CallSite&) override {}
  void leave() override {}
  void abandon(const std::string& failure) override { mailbox_.fail(failure); }

  /// Tells every other rank, once, and waits a little for the news to leave and for answers.
  void announce(const std::string& failure);
  /// Whether this rank failed by itself, and none below it did.
  [[nodiscard]] bool speaks() const { return is_origin_ && origin_ >= rank_; }
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  /// Waits until all ranks have come here, then ends MPI.
  void finish();
  void stop_carrying();

 private:
  struct Sending {
    std::vector<std::byte> data;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Receiving {
    std::vector<std::byte> data;
    MPI_Request request = MPI_REQUEST_NULL;
    std::int32_t from = 0;
    int mpi_tag = data_tag;
    bool is_done = false;
  };

  [[nodiscard]] std::int32_t count_here() const;
  void send(std::int32_t to, int mpi_tag, std::vector<std::byte> data);
  void send_alone(std::int32_t to, int mpi_tag, std::vector<std::byte> data);  ///< with `mutex_` held
  void hear_failure(std::int32_t from, std::span<const std::byte> news);
  [[nodiscard]] bool all_answered();
  /// Who keeps this rank, which waited for `awaited`, from going on: "; rank 3 waits for rank 2, rank 2 for nobody".
  [[nodiscard]] std::string chain_from(std::int32_t awaited);
  /// Of the others who wait for somebody: "; rank 0 waits for rank 2".
  [[nodiscard]] std::string who_waits();
  [[nodiscard]] static std::string waits_text(std::int32_t rank, std::optional<std::int32_t> awaited);
  /// For whom each of the ranks waits; none of those that do not answer in time.
  [[nodiscard]] std::vector<std::optional<std::int32_t>> asked_for_whom(const std::vector<std::int32_t>& ranks);
  void answer_for_whom(std::int32_t from);
  void carry();
  [[nodiscard]] bool begin_receive();
  [[nodiscard]] bool complete_receives();
  void take_in(std::int32_t from, int mpi_tag, std::span<const std::byte> data);
  void complete_sends();
  void deliver(std::int32_t from, std::span<const std::byte> fragment);
  [[nodiscard]] bool all_sent();
  void wait_at_end(const std::string& what, const std::function<bool()>& is_done);

  MpiOptions options_;
  MPI_Comm everyone_ = MPI_COMM_NULL;
  std::int32_t rank_ = 0;
  std::int32_t size_ = 1;
  Mailbox mailbox_;
  std::map<MessageKey, std::vector<std::byte>> begun_;  ///< payloads of which fragments are missing
  std::mutex mutex_;                                    ///< over MPI, `sending_` and `receiving_`
  std::list<Sending> sending_;
  std::list<Receiving> receiving_;  ///< a rank that stops in the middle of a message blocks nobody else's
  bool is_stopping_ = false;
  std::int32_t ranks_here_ = 1;
  std::atomic<std::int32_t> action_{-1};
  std::atomic<std::int32_t> origin_{nobody};  ///< the lowest rank that another one said has failed by itself
  bool is_announced_ = false;
  bool is_origin_ = false;
  bool has_ended_ = false;
  std::vector<Standing> standing_;  ///< of the others; under `mutex_`
  std::atomic<std::int32_t> waits_for_{nobody};
  std::vector<std::optional<std::int32_t>> awaited_;  ///< for whom the others said that they wait; under `mutex_`
  std::thread carrier_;
};

void MpiSession::Hub::post(std::int32_t to, std::uint64_t group, std::int32_t tag, Message message) {
  const auto size = static_cast<std::int64_t>(message.payload.size());
  std::int64_t first = 0;
  do {
    const std::int64_t count = std::min(size - first, options_.largest_fragment);
    const Envelope envelope{
        group, message.sequence, size - first - count, tag, static_cast<std::int32_t>(message.kind), action_, 0};
    std::vector<std::byte> data(sizeof envelope + static_cast<std::size_t>(count));
    std::memcpy(data.data(), &envelope, sizeof envelope);
    std::copy_n(message.payload.begin() + first, count, data.begin() + sizeof envelope);
    send(to, data_tag, std::move(data));
    first += count;
  } while (first < size);
}

/// A rank whose wait has failed is still waiting for those who ask it.
Message MpiSession::Hub::take(const MessageKey& key, const CallSite& site) {
  waits_for_ = key.from;
  Message message =
      take_or_explain(mailbox_, key, site, rank_, options_.deadline, [&] { return chain_from(key.from); });
  waits_for_ = nobody;
  return message;
}

std::string MpiSession::Hub::chain_from(std::int32_t awaited) {
  std::string text;
  std::set<std::int32_t> seen{rank_};
  for (std::int32_t rank = awaited; seen.insert(rank).second;) {
    const std::optional<std::int32_t> next = asked_for_whom({rank}).front();
    text += (text.empty() ? "" : ", ") + waits_text(rank, next);
    if (!next || *next >= all_to_end) break;
    rank = *next;
  }
  return text;
}

std::string MpiSession::Hub::who_waits() {
  constexpr std::size_t most = 8;  // a message is one line
  std::vector<std::int32_t> others;
  for (std::int32_t rank = 0; rank < size_; ++rank)
    if (rank != rank_) others.push_back(rank);
  const std::vector<std::optional<std::int32_t>> awaited = asked_for_whom(others);
  std::string text;
  std::size_t named = 0;
  for (std::size_t i = 0; i < others.size() && named < most; ++i)
    if (awaited[i] != all_to_end) text += (named++ == 0 ? "; " : ", ") + waits_text(others[i], awaited[i]);
  return text;
}

std::string MpiSession::Hub::waits_text(std::int32_t rank, std::optional<std::int32_t> awaited) {
  if (!awaited) return name_of(rank) + " does not answer";
  if (*awaited == all_to_end) return name_of(rank) + " is at its end";
  return name_of(rank) + " waits for " + (*awaited == nobody ? "nobody" : name_of(*awaited));
}

std::vector<std::optional<std::int32_t>> MpiSession::Hub::asked_for_whom(const std::vector<std::int32_t>& ranks) {
  std::vector<std::optional<std::int32_t>> answers(ranks.size());
  {
    const std::lock_guard lock(mutex_);
    for (const std::int32_t rank : ranks) {
      awaited_[static_cast<std::size_t>(rank)].reset();
      send_alone(rank, question_tag, {});
    }
  }
  const auto latest = Clock::now() + time_to_answer;
  const auto is_open = [](const std::optional<std::int32_t>& answer) { return !answer; };
  while (std::any_of(answers.begin(), answers.end(), is_open) && Clock::now() < latest) {
    std::this_thread::sleep_for(idle_sleep);
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < ranks.size(); ++i) answers[i] = awaited_[static_cast<std::size_t>(ranks[i])];
  }
  return answers;
}

void MpiSession::Hub::answer_for_whom(std::int32_t from) {
  const std::int32_t awaited = waits_for_;
  std::vector<std::byte> answer(sizeof awaited);
  std::memcpy(answer.data(), &awaited, sizeof awaited);
  send_alone(from, answer_tag, std::move(answer));
}

std::int32_t MpiSession::Hub::count_here() const {
  MPI_Comm here = MPI_COMM_NULL;
  require(MPI_Comm_split_type(everyone_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here), "MPI_Comm_split_type",
          rank_);
  int ranks = 1;
  MPI_Comm_size(here, &ranks);
  MPI_Comm_free(&here);
  return ranks;
}

std::vector<MpiSession::Standing> MpiSession::Hub::standings() {
  const std::lock_guard lock(mutex_);
  std::vector<Standing> all = standing_;
  all[static_cast<std::size_t>(rank_)] = {action_, true};
  return all;
}

void MpiSession::Hub::send(std::int32_t to, int mpi_tag, std::vector<std::byte> data) {
  const std::lock_guard lock(mutex_);
  send_alone(to, mpi_tag, std::move(data));
}

void MpiSession::Hub::send_alone(std::int32_t to, int mpi_tag, std::vector<std::byte> data) {
  Sending& sending = sending_.emplace_back();
  sending.data = std::move(data);
  require(MPI_Isend(sending.data.data(), static_cast<int>(sending.data.size()), MPI_BYTE, to, mpi_tag, everyone_,
                    &sending.request),
          "MPI_Isend", rank_);
}

void MpiSession::Hub::announce(const std::string& failure) {
  if (is_announced_) return;
  is_announced_ = true;
  is_origin_ = origin_ == nobody;
  // A rank that stopped because of another hands on what it was told: its own news may overtake the other's.
  const std::string cause = is_origin_ ? failure : mailbox_.failure().value_or(failure);
  const std::int32_t origin = is_origin_ ? rank_ : origin_.load();
  std::vector<std::byte> news(sizeof origin + cause.size());
  std::memcpy(news.data(), &origin, sizeof origin);
  std::memcpy(news.data() + sizeof origin, cause.data(), cause.size());
  for (std::int32_t to = 0; to < size_; ++to)
    if (to != rank_) send(to, failure_tag, news);
  const auto latest = Clock::now() + time_to_answer;
  while (Clock::now() < latest && !(all_sent() && (!is_origin_ || all_answered())))
    std::this_thread::sleep_for(idle_sleep);
}

/// Fails this rank's calls, and answers the one that failed by itself.
void MpiSession::Hub::hear_failure(std::int32_t from, std::span<const std::byte> news) {
  std::int32_t origin = nobody;
  check(news.size() >= sizeof origin, "news of a failure begin with the rank that failed");
  std::memcpy(&origin, news.data(), sizeof origin);
  origin_ = std::min(origin_.load(), origin);
  const auto text = news.subspan(sizeof origin);
  mailbox_.fail({reinterpret_cast<const char*>(text.data()), text.size()});
  if (from != origin) return;
  const std::int32_t action = action_;
  std::vector<std::byte> answer(sizeof action);
  std::memcpy(answer.data(), &action, sizeof action);
  send_alone(from, standing_tag, std::move(answer));
}

bool MpiSession::Hub::all_answered() {
  const std::lock_guard lock(mutex_);
  return std::count_if(standing_.begin(), standing_.end(), [](const Standing& one) { return one.answers; }) ==
         size_ - 1;
}

void MpiSession::Hub::carry() {
  try {
    while (true) {
      bool is_busy = false;
      {
        const std::lock_guard lock(mutex_);
        if (is_stopping_) return;
        is_busy = begin_receive();
        is_busy = complete_receives() || is_busy;
        complete_sends();
      }
      if (!is_busy) std::this_thread::sleep_for(idle_sleep);
    }
  } catch (const std::exception& error) {
    mailbox_.fail(error.what());
  }
}

bool MpiSession::Hub::begin_receive() {
  int is_there = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  require(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, everyone_, &is_there, &message, &status), "MPI_Improbe", rank_);
  if (is_there == 0) return false;
  int size = 0;
  require(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count", rank_);
  Receiving& receiving = receiving_.emplace_back();
  receiving.data.resize(static_cast<std::size_t>(size));
  receiving.from = status.MPI_SOURCE;
  receiving.mpi_tag = status.MPI_TAG;
  require(MPI_Imrecv(receiving.data.data(), size, MPI_BYTE, &message, &receiving.request), "MPI_Imrecv", rank_);
  return true;
}

/// Messages of one rank are taken in as they were sent, whichever is here first.
bool MpiSession::Hub::complete_receives() {
  bool took_any = false;
  std::set<std::int32_t> waited_for;
  for (auto receiving = receiving_.begin(); receiving != receiving_.end();) {
    int is_done = receiving->is_done ? 1 : 0;
    if (is_done == 0) require(MPI_Test(&receiving->request, &is_done, MPI_STATUS_IGNORE), "MPI_Test", rank_);
    receiving->is_done = is_done != 0;
    if (!receiving->is_done) waited_for.insert(receiving->from);
    if (waited_for.contains(receiving->from)) {
      ++receiving;
      continue;
    }
    take_in(receiving->from, receiving->mpi_tag, receiving->data);
    receiving = receiving_.erase(receiving);
    took_any = true;
  }
  return took_any;
}

void MpiSession::Hub::take_in(std::int32_t from, int mpi_tag, std::span<const std::byte> data) {
  if (mpi_tag == failure_tag) {
    hear_failure(from, data);
  } else if (mpi_tag == standing_tag) {
    Standing& standing = standing_[static_cast<std::size_t>(from)];
    std::memcpy(&standing.action, data.data(), sizeof standing.action);
    standing.answers = true;
  } else if (mpi_tag == question_tag) {
    answer_for_whom(from);
  } else if (mpi_tag == answer_tag) {
    std::int32_t awaited = nobody;
    std::memcpy(&awaited, data.data(), sizeof awaited);
    awaited_[static_cast<std::size_t>(from)] = awaited;
  } else {
    deliver(from, data);
  }
}

void MpiSession::Hub::deliver(std::int32_t from, std::span<const std::byte> fragment) {
  Envelope envelope;
  check(fragment.size() >= sizeof envelope, "every message of a session begins with its envelope");
  std::memcpy(&envelope, fragment.data(), sizeof envelope);
  standing_[static_cast<std::size_t>(from)].action = envelope.action;
  const MessageKey key{envelope.group, from, envelope.tag};
  std::vector<std::byte>& payload = begun_[key];
  const auto content = fragment.subspan(sizeof envelope);
  payload.insert(payload.end(), content.begin(), content.end());
  if (envelope.bytes_to_come > 0) return;
  mailbox_.deposit(key, {static_cast<CallKind>(envelope.kind), envelope.sequence, std::move(payload)});
  begun_.erase(key);
}

void MpiSession::Hub::complete_sends() {
  for (auto sending = sending_.begin(); sending != sending_.end();) {
    int is_done = 0;
    require(MPI_Test(&sending->request, &is_done, MPI_STATUS_IGNORE), "MPI_Test", rank_);
    sending = is_done != 0 ? sending_.erase(sending) : std::next(sending);
  }
}

bool MpiSession::Hub::all_sent() {
  const std::lock_guard lock(mutex_);
  return sending_.empty();
}

void MpiSession::Hub::wait_at_end(const std::string& what, const std::function<bool()>& is_done) {
  const auto deadline = Clock::now() + options_.deadline;
  while (!is_done()) {
    if (const auto failure = mailbox_.failure())
      throw CommunicationError("rank " + std::to_string(rank_) + " stopped at its end: " + *failure);
    if (Clock::now() > deadline)
      throw CommunicationError("rank " + std::to_string(rank_) + " waited " + duration_text(options_.deadline) +
                               " at its end for " + what + who_waits());
    std::this_thread::sleep_for(idle_sleep);
  }
}

void MpiSession::Hub::finish() {
  wait_at_end("its messages to be received", [this] { return all_sent(); });
  waits_for_ = all_to_end;
  MPI_Request barrier = MPI_REQUEST_NULL;
  {
    const std::lock_guard lock(mutex_);
    require(MPI_Ibarrier(everyone_, &barrier), "MPI_Ibarrier", rank_);
  }
  wait_at_end("the other ranks to finish", [&] {
    const std::lock_guard lock(mutex_);
    int is_done = 0;
    require(MPI_Test(&barrier, &is_done, MPI_STATUS_IGNORE), "MPI_Test", rank_);
    return is_done != 0;
  });
  stop_carrying();
  MPI_Comm_free(&everyone_);
  MPI_Finalize();
  has_ended_ = true;
}

void MpiSession::Hub::stop_carrying() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  if (carrier_.joinable()) carrier_.join();
}

MpiSession::MpiSession(const MpiOptions& options) : hub_(std::make_shared<Hub>(options)) {}
MpiSession::~MpiSession() = default;
std::int32_t MpiSession::rank() const { return hub_->own_rank(); }
std::int32_t MpiSession::size() const { return hub_->size(); }
std::int32_t MpiSession::ranks_here() const { return hub_->ranks_here(); }
void MpiSession::stand_at(std::int32_t action) { hub_->stand_at(action); }
std::vector<MpiSession::Standing> MpiSession::standings() const { return hub_->standings(); }
bool MpiSession::is_built() { return true; }

void MpiSession::run(const std::function<void(World&)>& body) {
  try {
    World world(hub_, size());
    body(world);
    hub_->finish();
  } catch (...) {
    hub_->announce(failure_text(rank(), std::current_exception()));
    rethrow_of_rank(rank(), std::current_exception());
  }
}

void MpiSession::fail(const std::string& failure, int exit_code, const std::function<void()>& say) {
  if (hub_->has_ended()) {  // nobody is left to be told
    say();
    std::_Exit(exit_code);
  }
  hub_->announce(failure);
  if (hub_->speaks())
    say();
  else
    std::this_thread::sleep_for(time_to_speak);  // and to be ended
  end_all(exit_code);
}

void MpiSession::end_all(int exit_code) {
  hub_->stop_carrying();  // one thread at a time
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);  // MPI_Abort does not return, but is not declared so
}

}  // namespace plumbline

// Ranks that meet in memory, in a folder and at an address.
#include <unistd.h>
#include <chrono>

#include <filesystem>

#include "runtime/rendezvous/file_rendezvous.h"
#include "runtime/rendezvous/launch_rendezvous.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using std::chrono::milliseconds;

Value value_of(const std::string& text) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string failure_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "";
}

/// What a rank leaves another finds, once it is there.
void meet(Rendezvous& first, Rendezvous& second) {
  CHECK_FALSE(second.find("id").has_value());
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(20));
    first.publish("id", value_of(std::string("a\0b", 3)));
  });
  CHECK(second.wait_for("id", milliseconds(5'000)) == value_of(std::string("a\0b", 3)));
  later.join();
  CHECK(first.find("id") == value_of(std::string("a\0b", 3)));
  CHECK_FALSE(failure_of([&] { second.publish("id", {}); }).empty());
  second.publish("empty", {});
  CHECK(first.find("empty") == Value());
  CHECK(has(failure_of([&] { (void)first.wait_for("other", milliseconds(10)); }), " at the rendezvous for 'other'"));
  CHECK_FALSE(first.failure().has_value());
  first.report_failure("rank 0 failed: no room");
  second.report_failure("rank 1 failed: because of rank 0");
  CHECK(second.failure() == "rank 0 failed: no room");
  CHECK(has(failure_of([&] { (void)second.wait_for("other", milliseconds(5'000)); }), "rank 0 failed: no room"));
}

/// Asks until it is so, as a rank's watch does.
bool comes_true(const std::function<bool()>& is_so) {
  const auto end = std::chrono::steady_clock::now() + milliseconds(5'000);
  while (!is_so() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(5));
  return is_so();
}

using Two = std::pair<std::unique_ptr<Rendezvous>, std::unique_ptr<Rendezvous>>;

/// Of two that have joined, one goes; what the other then says.
std::string trouble_of_other(Two ranks, int leaver, bool says_so) {
  ranks.first->join(0, 2);
  ranks.second->join(1, 2);
  CHECK_FALSE(ranks.first->trouble().has_value());
  CHECK_FALSE(ranks.second->trouble().has_value());
  auto& gone = leaver == 0 ? ranks.first : ranks.second;
  Rendezvous& left = leaver == 0 ? *ranks.second : *ranks.first;
  if (says_so) gone->leave();
  gone.reset();
  if (!says_so) CHECK(comes_true([&] { return left.lost() == leaver; }));
  std::this_thread::sleep_for(milliseconds(120));  // longer than rank 0 takes between two looks
  try {
    return left.trouble().value_or("");
  } catch (const EnvironmentError&) {
    return "";  // the values are gone with rank 0, which had left
  }
}

/// `make`: two that meet.
void lose_and_leave(const std::function<Two()>& make) {
  CHECK(has(trouble_of_other(make(), 0, false), "the process of rank 0 has ended without saying why"));
  CHECK(has(trouble_of_other(make(), 1, false), "the process of rank 1 has ended without saying why"));
  CHECK(trouble_of_other(make(), 0, true).empty());
  CHECK(trouble_of_other(make(), 1, true).empty());
  Two ranks = make();
  ranks.first->join(0, 2);
  ranks.second->join(1, 2);
  ranks.second->report_failure("rank 1 failed: no room");
  ranks.second.reset();
  CHECK(comes_true([&] { return ranks.first->lost() == 1; }));
  CHECK(ranks.first->trouble() == "rank 1 failed: no room");
}

/// A port that nobody listens at.
std::uint16_t free_port(std::uint16_t from) { return static_cast<std::uint16_t>(from + ::getpid() % 5'000); }

TEST_CASE("Threads meet in memory") {
  LocalRendezvous one;
  meet(one, one);
}

TEST_CASE("Ranks meet in a folder, which holds nothing of an earlier run") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("plumbline-rendezvous-" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  FileRendezvous first(folder);
  FileRendezvous second(folder);
  meet(first, second);
  FileRendezvous later(folder);
  CHECK(has(failure_of([&] { later.publish("id", {}); }), "without files of an earlier run"));
  std::filesystem::remove_all(folder);
  CHECK(has(failure_of([] { const FileRendezvous bad("/proc/none/here"); }), "/proc/none/here: cannot be made"));
}

TEST_CASE("A process that ends without leaving is lost to those that met it in a folder") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("plumbline-lost-" + std::to_string(::getpid()));
  lose_and_leave([&] {
    std::filesystem::remove_all(folder);
    return Two{std::make_unique<FileRendezvous>(folder), std::make_unique<FileRendezvous>(folder)};
  });
  std::filesystem::remove_all(folder);
}

TEST_CASE("A process that ends without leaving is lost to those that met it at an address") {
  std::uint16_t port = free_port(41'000);
  lose_and_leave([&] {
    const HostPort at{"127.0.0.1", port++};
    auto first = std::make_unique<TcpRendezvous>(at, TcpRendezvous::Role::keeps, milliseconds(5'000));
    return Two{std::move(first), std::make_unique<TcpRendezvous>(at, TcpRendezvous::Role::asks, milliseconds(5'000))};
  });
}

TEST_CASE("Rank 0 that fails stays until the others know it") {
  const HostPort at{"127.0.0.1", free_port(47'000)};
  TcpRendezvous first(at, TcpRendezvous::Role::keeps, milliseconds(5'000));
  auto second = std::make_unique<TcpRendezvous>(at, TcpRendezvous::Role::asks, milliseconds(5'000));
  second->join(1, 2);
  first.report_failure("rank 0 failed: no room");
  std::optional<std::string> heard;
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(50));
    heard = second->trouble();
    second.reset();
  });
  first.see_off(milliseconds(5'000));
  other.join();
  CHECK(heard == "rank 0 failed: no room");
  const auto begin = std::chrono::steady_clock::now();
  first.see_off(milliseconds(5'000));  // nobody is left
  CHECK(std::chrono::steady_clock::now() - begin < milliseconds(1'000));
}

TEST_CASE("Ranks meet at an address, whoever is first there") {
  const HostPort at{"127.0.0.1", free_port(21'000)};
  TcpRendezvous second(at, TcpRendezvous::Role::asks, milliseconds(5'000));
  TcpRendezvous first(at, TcpRendezvous::Role::keeps, milliseconds(5'000));
  meet(first, second);
  CHECK(has(failure_of([&] { const TcpRendezvous third(at, TcpRendezvous::Role::keeps, milliseconds(1)); }),
            "rank 0 cannot listen at port " + std::to_string(at.port)));
}

TEST_CASE("A rank that nobody answers says which address it asked") {
  const HostPort at{"127.0.0.1", free_port(26'000)};
  TcpRendezvous alone(at, TcpRendezvous::Role::asks, milliseconds(50));
  const std::string text = failure_of([&] { alone.publish("id", {}); });
  INFO(text);
  CHECK(has(text, "rendezvous at 127.0.0.1:" + std::to_string(at.port) + ": rank 0 does not answer"));
}

}  // namespace
}  // namespace plumbline

// Ranks that meet in memory, in a folder and at an address.
#include <unistd.h>

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
  CHECK(failure_of([&] { second.publish("id", {}); }).size() > 0);
  second.publish("empty", {});
  CHECK(first.find("empty") == Value());
  CHECK(has(failure_of([&] { (void)first.wait_for("other", milliseconds(10)); }), " at the rendezvous for 'other'"));
  CHECK_FALSE(first.failure().has_value());
  first.report_failure("rank 0 failed: no room");
  second.report_failure("rank 1 failed: because of rank 0");
  CHECK(second.failure() == "rank 0 failed: no room");
  CHECK(has(failure_of([&] { (void)second.wait_for("other", milliseconds(5'000)); }), "rank 0 failed: no room"));
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

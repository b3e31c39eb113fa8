#pragma once
/// \file tcp_rendezvous.h: a rendezvous at an address: rank 0 keeps the values and answers the others.
///
/// Model: a connection for each question: a letter (publish, find), key and value with their lengths; the answer is a
/// letter and a value. Whoever asks before rank 0 is there asks again. A process that has joined keeps a connection to
/// rank 0, which the system closes when one of the two ends; a letter says that it ends as it should. Nothing is
/// encrypted, and whoever reaches the port can read and write: as torchrun's own store, it is meant for a cluster's
/// network. Errors: EnvironmentError with the address and what the system says. Source: tcp(7), getaddrinfo(3). Checked
/// against: tests/runtime/rendezvous/rendezvous_threads_test.cpp.

#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/rendezvous/socket_bytes.h"

namespace plumbline {

struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};
[[nodiscard]] std::string to_text(const HostPort& address);

class TcpRendezvous : public Rendezvous {
 public:
  enum class Role : std::uint8_t { keeps, asks };

  /// `patience`: for rank 0 to be there.
  TcpRendezvous(HostPort address, Role role, std::chrono::milliseconds patience);
  ~TcpRendezvous() override;
  void publish(const std::string& key, const Value& value) override;
  [[nodiscard]] std::optional<Value> find(const std::string& key) override;
  void join(std::int32_t rank, std::int32_t ranks) override;
  void leave() override;
  /// Of rank 0 any other; of others rank 0.
  [[nodiscard]] std::optional<std::int32_t> lost() override;
  void see_off(std::chrono::milliseconds most) override;

 private:
  struct Answer {
    char letter = 0;
    Value value;
  };
  void listen();
  void serve();
  void answer(Socket& connection);
  /// Where one of the joined processes says that it leaves, or has ended.
  void hear_members();
  /// `kept`: the connection, if it is to stay.
  [[nodiscard]] Answer ask(char letter, const std::string& key, const Value& value, Socket* kept = nullptr);
  /// Whether rank 0 has ended, or says that it will.
  [[nodiscard]] bool has_keeper_ended();

  HostPort address_;
  std::chrono::milliseconds patience_;
  LocalRendezvous values_;
  int listener_ = -1;  ///< of the rank that keeps
  std::atomic<bool> is_over_ = false;
  std::mutex mutex_;                                         ///< over the members
  std::map<std::int32_t, std::unique_ptr<Socket>> members_;  ///< of the rank that keeps: by rank
  std::atomic<std::int32_t> lost_ = -1;
  Socket joined_{-1};  ///< of the others: to rank 0
  std::atomic<bool> keeper_left_ = false;
  std::thread thread_;
};

}  // namespace plumbline

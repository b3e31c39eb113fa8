#include "gui/window/ending_signals.h"

#include <sys/socket.h>
#include <unistd.h>

#include <QSocketNotifier>
#include <array>
#include <cerrno>
#include <csignal>

namespace plumbline::gui {
namespace {

std::array<int, 2> ending_sockets{-1, -1};

void note_ending(int signal) {
  const int error = errno;
  const char byte = 1;
  if (::write(ending_sockets[0], &byte, 1) != 1) ::_exit(128 + signal);
  errno = error;
}

}  // namespace

void follow_ending_signals(QObject& on, void (*end)()) {
  if (ending_sockets[0] >= 0 || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ending_sockets.data()) != 0)
    return;
  auto* const notifier = new QSocketNotifier(ending_sockets[1], QSocketNotifier::Read, &on);
  QObject::connect(notifier, &QSocketNotifier::activated, &on, [end] {
    char byte = 0;
    if (::read(ending_sockets[1], &byte, 1) == 1) end();
  });
  struct sigaction action {};
  action.sa_handler = note_ending;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

}  // namespace plumbline::gui

#pragma once
/// \file ending_signals.h: SIGTERM, SIGINT and SIGHUP end the window as closing it does, so that its temporary folders
/// are removed and its question is remembered. A second one ends it at once.
///
/// Model: the handler writes a byte into a socket that the event loop reads (Qt, "Calling Qt Functions From Unix Signal
/// Handlers"). Checked against: tests/gui/window/window_memory_test.cpp.

#include <QObject>

namespace plumbline::gui {

/// `on`: what is told to end; called on its thread. Once in a process.
void follow_ending_signals(QObject& on, void (*end)());

}  // namespace plumbline::gui

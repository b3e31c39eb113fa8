#pragma once
/// \file waiting.h: waits for what other threads and processes deliver to the window.

#include <QTest>
#include <functional>

namespace plumbline::gui {

/// Handles events until it holds; false after a minute.
inline bool wait_for(const std::function<bool()>& holds) { return QTest::qWaitFor(holds, 60'000); }

}  // namespace plumbline::gui

#pragma once
/// \file framework_list.h: the training frameworks that are known here, one row each; all lists of them are these rows.
///
/// A row ROW(ID, NAME) stands for Framework::ID, which flags, files and tables call NAME, and for ID_record(), what it
/// can launch (framework.h); of a launch target also for ID_target(), how that is written and read
/// (launch/launch_target.h). Both are in the framework's own folder, and nothing else names it. The rows are a macro as
/// an enumeration and declarations follow from them; a folder cannot register itself, since a linker leaves out what
/// nothing in a static library asks for.

/// In the order of tables, and of candidates that are equally good.
#define PLUMBLINE_LAUNCH_TARGETS(ROW)     \
  ROW(megatron_lm, "megatron-lm")         \
  ROW(megatron_bridge, "megatron-bridge") \
  ROW(deepspeed, "deepspeed")             \
  ROW(torchtitan, "torchtitan")           \
  ROW(accelerate, "accelerate")           \
  ROW(pytorch, "pytorch")                 \
  ROW(lightning, "lightning")

/// With this program's own runtime, which reads plans as they are.
#define PLUMBLINE_FRAMEWORKS(ROW) \
  PLUMBLINE_LAUNCH_TARGETS(ROW)   \
  ROW(plumbline, "plumbline")

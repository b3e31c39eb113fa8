"""Whether a file is a trace as the trace event format has it, so that Perfetto draws what was meant."""
import json


def check_trace(test, path):
    """The trace event format: whole nanoseconds, slices of a thread nested or disjoint, counters in order of time,
    flows that begin and end once, each end inside a slice of its thread. Returns the events by phase."""
    events = {}
    for event in json.loads(path.read_text())["traceEvents"]:
        events.setdefault(event["ph"], []).append(event)
    test.assertLessEqual(set(events), {"M", "X", "C", "s", "f"})
    nanoseconds = lambda microseconds: round(1000 * microseconds)
    threads, named = {}, {(e["pid"], e["tid"]) for e in events["M"] if e["name"] == "thread_name"}
    for event in events["X"]:
        begin, end = nanoseconds(event["ts"]), nanoseconds(event["ts"]) + nanoseconds(event["dur"])
        test.assertGreaterEqual(begin, 0)
        test.assertLessEqual(begin, end)
        threads.setdefault((event["pid"], event["tid"]), []).append((begin, -end))
    test.assertEqual(set(threads), named)
    for slices in threads.values():
        open_ends = []
        for begin, negated_end in sorted(slices):
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            test.assertTrue(not open_ends or -negated_end <= open_ends[-1], "slices of a thread cross")
            open_ends.append(-negated_end)
    last = {}
    for event in events.get("C", []):
        counter = (event["pid"], event["name"])
        test.assertGreaterEqual(event["ts"], last.get(counter, 0))
        last[counter] = event["ts"]
    begins = {event["id"]: event for event in events.get("s", [])}
    ends = {event["id"]: event for event in events.get("f", [])}
    test.assertEqual(len(begins), len(events.get("s", [])))
    test.assertEqual(len(ends), len(events.get("f", [])))
    test.assertEqual(set(begins), set(ends))
    for identity, begin in begins.items():
        end = ends[identity]
        test.assertEqual((begin["name"], begin["cat"], end["bp"]), (end["name"], end["cat"], "e"))
        test.assertNotEqual(begin["pid"], end["pid"])
    for event in [*begins.values(), *ends.values()]:
        at = nanoseconds(event["ts"])
        test.assertTrue(any(b <= at <= -e for b, e in threads[event["pid"], event["tid"]]))
    return events

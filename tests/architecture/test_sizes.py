#!/usr/bin/env python3
"""sizes.py fails where files are long in the median, or a class has too many methods."""
import unittest

from sizes import faults


class Sizes(unittest.TestCase):
    def test_a_median_of_60_lines_is_too_long(self):
        self.assertEqual(faults({"core/a.h": 10, "core/b.h": 59, "gui/c.h": 900}, []), [])
        self.assertEqual(len(faults({"core/a.h": 10, "core/b.h": 60, "gui/c.h": 900}, [])), 1)
        self.assertEqual(len(faults({"core/a.h": 50, "core/b.h": 70}, [])), 1)

    def test_only_product_files_count(self):
        self.assertEqual(faults({"core/a.h": 10, "tests/b.h": 900, "bench/c.h": 900, "scripts/d.sh": 900}, []), [])

    def test_a_class_of_26_methods_is_too_large(self):
        self.assertEqual(faults({"core/a.h": 1}, [(25, "A", "core/a.h")]), [])
        found = faults({"core/a.h": 1}, [(26, "A", "core/a.h"), (25, "B", "core/a.h")])
        self.assertEqual(len(found), 1)
        self.assertIn("core/a.h: A has 26 methods", found[0])


if __name__ == "__main__":
    unittest.main()

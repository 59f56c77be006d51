"""Hypothesis's settings: the same examples every time, and no deadline, as nothing here is about time."""

import hypothesis

hypothesis.settings.register_profile("tesela", deadline=None, derandomize=True, max_examples=150, database=None)
hypothesis.settings.load_profile("tesela")

"""Hypothesis's settings: the same examples every time, and no deadline, as nothing here is about time."""

import hypothesis
import pytest

hypothesis.settings.register_profile("tesela", deadline=None, derandomize=True, max_examples=150,
                                     database=None)
hypothesis.settings.load_profile("tesela")


@pytest.fixture
def short_pieces():
    """Makes every product count as long, with pieces of one row or 64."""
    from tesela import _core
    before = _core.set_pieces(1, 1e-9)
    yield
    _core.set_pieces(*before)

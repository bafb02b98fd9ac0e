"""Row heights: sums and places, compared with plain addition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from desktop.transcript.heights import Heights

heights = st.lists(st.integers(min_value=0, max_value=500), max_size=60)


def by_adding(rows: list[int], y: int) -> int:
    total = 0
    for index, height in enumerate(rows):
        total += height
        if y < total:
            return index
    return max(len(rows) - 1, 0)


@given(heights, st.integers(min_value=-10, max_value=30_000))
def test_the_row_at_a_height_is_the_one_that_covers_it(rows: list[int], y: int) -> None:
    assert Heights(rows).at(y) == by_adding(rows, max(y, 0))


@given(heights, st.data())
def test_changes_keep_the_sums_right(rows: list[int], data: st.DataObject) -> None:
    known = Heights(rows)
    for _step in range(10):
        value = data.draw(st.integers(min_value=0, max_value=500))
        at = data.draw(st.integers(min_value=0, max_value=len(rows)))
        if at < len(rows) and value % 3 == 0:
            assert known.set(at, value) == value - rows[at]
            rows[at] = value
        elif at < len(rows) and value % 3 == 1:
            known.remove(at, at)
            del rows[at]
        else:
            known.insert(at, value)
            rows.insert(at, value)
    assert [known.top(index) for index in range(len(rows) + 1)] == [sum(rows[:index]) for index in range(len(rows) + 1)]
    assert known.total == sum(rows)

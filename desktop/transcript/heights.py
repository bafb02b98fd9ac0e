"""Heights of many rows: which row lies at a height, and where a row begins, in a few steps however many there are."""

from __future__ import annotations

from collections.abc import Iterable


class Heights:
    """Row heights in pixels, with sums over the rows before one (a Fenwick tree)."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights: list[int] = []
        self._tree: list[int] = [0]
        self.reset(heights)

    def reset(self, heights: Iterable[int]) -> None:
        """Start anew with these."""
        self._heights = list(heights)
        tree = [0, *self._heights]
        for index in range(1, len(tree)):
            parent = index + (index & -index)
            if parent < len(tree):
                tree[parent] += tree[index]
        self._tree = tree

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, row: int) -> int:
        return self._heights[row]

    def append(self, height: int) -> None:
        """Add a row at the end."""
        self._heights.append(height)
        index = len(self._heights)
        total, child = height, 1
        while child < index & -index:
            total += self._tree[index - child]
            child *= 2
        self._tree.append(total)

    def insert(self, row: int, height: int) -> None:
        """Add a row before another."""
        if row == len(self._heights):
            self.append(height)
        else:
            self._heights.insert(row, height)
            self.reset(self._heights)

    def remove(self, first: int, last: int) -> None:
        """Take rows out, `last` among them."""
        del self._heights[first : last + 1]
        self.reset(self._heights)

    def set(self, row: int, height: int) -> int:
        """Change one height; returns by how much."""
        delta = height - self._heights[row]
        if delta:
            self._heights[row] = height
            index = row + 1
            while index < len(self._tree):
                self._tree[index] += delta
                index += index & -index
        return delta

    def top(self, row: int) -> int:
        """The sum of the heights before a row: where it begins."""
        total = 0
        while row:
            total += self._tree[row]
            row -= row & -row
        return total

    @property
    def total(self) -> int:
        return self.top(len(self._heights))

    def at(self, y: int) -> int:
        """The row that covers a height; the last one below the end, 0 where there is none."""
        position, left = 0, max(y, 0)
        step = 1 << (len(self._heights).bit_length())
        while step:
            following = position + step
            if following < len(self._tree) and self._tree[following] <= left:
                position, left = following, left - self._tree[following]
            step >>= 1
        return min(position, max(len(self._heights) - 1, 0))

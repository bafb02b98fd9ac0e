"""Where an answer ends: the first of the client's own stop texts in it, however the answer is cut into pieces."""

from __future__ import annotations

from collections.abc import Sequence


class StopScanner:
    """Lets an answer through up to the first stop text, and holds back what may yet turn out to be one.

    What comes out of all calls together is the answer up to the earliest place where one of the texts stands in it
    (the smallest `str.find`), or all of it. Linear in the answer, whatever the texts are (Knuth, Morris and Pratt).

    Args:
        stops: the texts, none of them empty; without any, everything passes.

    Attributes:
        hit: the answer has ended at a stop text. Known at the latest after `finish`.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self.hit = False
        self._stops = [_Stop(stop) for stop in stops]
        self._first_letters = frozenset(stop[0] for stop in stops)
        # Places in the answer, in characters: what was looked at, where the held text begins, the first stop so far.
        self._seen = 0
        self._held_from = 0
        self._found: int | None = None
        self._held = ""

    def feed(self, text: str) -> str:
        """Takes the next piece of the answer, returns what may go out; "" from a stop text on."""
        if self.hit:
            return ""
        if not self._held and self._first_letters.isdisjoint(text):
            self._seen = self._held_from = self._seen + len(text)
            return text
        self._held += text
        for letter in text:
            self._look_at(letter)
            if self._found is not None and self._undecided_from() >= self._found:
                self.hit = True
                return self._release(self._found)
        undecided = self._undecided_from()
        return self._release(undecided if self._found is None else min(undecided, self._found))

    def finish(self) -> str:
        """What was held back and belongs to the answer, now that nothing more comes."""
        if self.hit:
            return ""
        self.hit = self._found is not None
        return self._release(self._seen if self._found is None else self._found)

    def _look_at(self, letter: str) -> None:
        self._seen += 1
        for stop in self._stops:
            if stop.next(letter):
                start = self._seen - len(stop.text)
                self._found = start if self._found is None else min(start, self._found)

    def _undecided_from(self) -> int:
        """Where the earliest stop text begins that is on its way and not complete."""
        return self._seen - max(stop.matched for stop in self._stops)

    def _release(self, end: int) -> str:
        length = end - self._held_from
        out, self._held = self._held[:length], self._held[length:]
        self._held_from = end
        return out


class _Stop:
    """One stop text, and how many of its letters the answer ends with at the moment."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.matched = 0
        self._borders = _borders(text)

    def next(self, letter: str) -> bool:
        """Takes one more letter; whether the text is complete with it."""
        while self.matched and self.text[self.matched] != letter:
            self.matched = self._borders[self.matched - 1]
        self.matched += self.text[self.matched] == letter
        if self.matched < len(self.text):
            return False
        self.matched = self._borders[self.matched - 1]
        return True


def _borders(text: str) -> list[int]:
    """For each beginning of a text, the length of its longest shorter beginning that it also ends with."""
    borders = [0] * len(text)
    length = 0
    for index in range(1, len(text)):
        while length and text[length] != text[index]:
            length = borders[length - 1]
        length += text[length] == text[index]
        borders[index] = length
    return borders

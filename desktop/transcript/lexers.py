"""Lexers by language. Making one for the first time takes a tenth of a second, so that happens on another thread."""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import lru_cache
from threading import Lock

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound
from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal

log = logging.getLogger("handraise.transcript")

_SAMPLE = "<script>x = 1</script><style>a { b: c }</style><?php echo 1; ?>\n"
"""Makes a lexer load those that it hands parts of a text to."""
_making = Lock()
_ready: set[str] = set()


@lru_cache(maxsize=128)
def _made(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def lexer_for(language: str) -> Lexer | None:
    """The lexer of a language's name as written after a fence; None for a name nobody knows. Makes it if need be."""
    with _making:
        lexer = _made(language.lower())
    _ready.add(language.lower())
    return lexer


class _Loader(QObject):
    """Signals: `loaded` when the lexer of a language can be used at once."""

    loaded = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._jobs: dict[str, _Job] = {}
        self.loaded.connect(lambda language: self._jobs.pop(language, None))

    def start(self, language: str) -> None:
        if language not in self._jobs:
            job = self._jobs[language] = _Job(language, self)
            QThreadPool.globalInstance().start(job)


class _Job(QRunnable):
    """Makes one lexer."""

    def __init__(self, language: str, loader: _Loader) -> None:
        super().__init__()
        self.setAutoDelete(False)  # Python owns it: the loader keeps it until it has run
        self._language, self._loader = language, loader

    def run(self) -> None:
        try:
            with _making:
                lexer = _made(self._language)
                if lexer is not None:
                    list(lexer.get_tokens_unprocessed(_SAMPLE))
        except Exception:  # a lexer is third-party code: a broken one may only cost the colours
            log.debug("The lexer for %s cannot be made", self._language, exc_info=True)
        _ready.add(self._language)
        with suppress(RuntimeError):  # the program may be over meanwhile
            self._loader.loaded.emit(self._language)


@lru_cache(maxsize=1)
def loader() -> _Loader:
    """The one that tells when a lexer is ready."""
    return _Loader()


def ready(language: str) -> bool:
    """Whether a lexer can be used at once. If not, it is being made, and `loader().loaded` tells when."""
    language = language.lower()
    if language in _ready:
        return True
    loader().start(language)
    return False

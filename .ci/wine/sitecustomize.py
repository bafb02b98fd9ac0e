"""For tests under Wine, which keeps variables of the name QT_… from its programs: they are set in here."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_QPA_FONTDIR", os.environ.get("HANDRAISE_TEST_FONTS", ""))

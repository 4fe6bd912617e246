"""What is said where Ctrl-C ends a command; imports nothing, so that it is there before the verbs are."""

from __future__ import annotations

EXIT_CODE = 130
"""After Ctrl-C, as a shell gives it."""

MESSAGE = "interrupted; run the same command again to go on"

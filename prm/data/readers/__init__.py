"""One file a source format; `registry` finds the one for a source."""

"""One file a source format; see `prm.data.readers.registry`."""

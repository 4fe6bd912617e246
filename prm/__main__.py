"""``python -m prm`` is ``prm`` (used by ``accelerate launch -m prm``)."""

from prm.cli import main

if __name__ == "__main__":
    main()

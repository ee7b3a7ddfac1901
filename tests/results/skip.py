"""A test that cannot be made: prints its reason and is skipped; without a reason it fails."""

import sys

sys.exit("neither CHECK nor NO_REPLAY is given" if not sys.argv[1:] or not sys.argv[1] else print(sys.argv[1]) or 77)

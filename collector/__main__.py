"""__main__ -- python -m collector is the same as the command collector"""

import sys

from collector.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

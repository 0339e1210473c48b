"""`python -m acidsql` is the command `acidsql`."""

import sys

from acidsql.frontends.cli import main

if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python
"""Studio's commands, from a checkout; an installation has the same as `studio`."""

from studio_project.cli import main

if __name__ == "__main__":
    main()

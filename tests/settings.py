"""Studio's own settings, loaded in the environment of the tests."""

import tests.environment  # noqa: F401 (first: the settings read what it prepares)
from studio_project.settings import *  # noqa: F403 (every setting, unchanged)

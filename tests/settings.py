"""Studio's own settings, loaded in the environment of the tests."""

import tests.environment  # noqa: F401 (first: the settings read what it prepares)
from studio_project.settings import *  # noqa: F403 (every setting, unchanged but for what is said below)
from studio_project.settings import INSTALLED_APPS as _OURS

# Its command `flush` is what empties the database after a test.
INSTALLED_APPS = [*_OURS, "tests.emptying"]
# A password that is made for a test need not take the third of a second that keeps others from guessing it. That real
# ones do, and that one can log in with them, is seen at daemons, which have Studio's own settings.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

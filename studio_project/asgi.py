"""The entry point for ASGI servers. `manage.py serve` is the one that also takes the lock, migrates and reconciles."""

import django

django.setup()

from studio_project.application import build_application  # noqa: E402 (models need the setup before)
from studio_project.composition import get_studio  # noqa: E402

application = build_application(get_studio)

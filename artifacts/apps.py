"""The app's place in Django."""

from django.apps import AppConfig


class ArtifactsConfig(AppConfig):
    """The artifacts app."""

    name = "artifacts"

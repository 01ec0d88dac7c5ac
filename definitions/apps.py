"""The app's place in Django."""

from django.apps import AppConfig


class DefinitionsConfig(AppConfig):
    """The definitions app."""

    name = "definitions"

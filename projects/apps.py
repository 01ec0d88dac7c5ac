"""The app's place in Django."""

from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    """The projects app."""

    name = "projects"

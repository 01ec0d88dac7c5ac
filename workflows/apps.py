"""The app's place in Django."""

from django.apps import AppConfig


class WorkflowsConfig(AppConfig):
    """The workflows app."""

    name = "workflows"

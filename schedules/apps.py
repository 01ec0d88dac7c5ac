"""The app's place in Django."""

from django.apps import AppConfig


class SchedulesConfig(AppConfig):
    """The schedules app."""

    name = "schedules"

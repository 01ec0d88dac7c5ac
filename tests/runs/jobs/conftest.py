"""Procrastinate works on PostgreSQL only, and is tested there."""

from django.conf import settings

collect_ignore_glob = ["*_on_postgresql.py"] if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3") else []

"""Django settings, all derived from the configuration (studio_project/config.py)."""

from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from django.utils.functional import SimpleLazyObject

from contract.limits import BODY_MAX_BYTES
from studio_project.config import current_config
from studio_project.database_url import Database
from studio_project.secret_key import load_secret_key
from studio_project.sqlite_connection import OwnersConnection

_config = current_config()

# None of these takes the write lock (auto_vacuum would), so that a connection opens while somebody else writes.
# FULL: what was acknowledged survives a power cut too, which NORMAL does not promise with WAL
# (sqlite.org/pragma.html#pragma_synchronous).
# 12 MB hold the list's index at 100,000 runs, which halves a deep page; SQLite's own 2 MB do not.
_SQLITE_PRAGMAS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-12000;"
# Longer than any transaction of ours, so that two processes wait for each other instead of failing.
_SQLITE_TIMEOUT_SECONDS = 20
# Our transactions compute for a moment between two statements. Whoever is silent for longer, such as a process that was
# suspended, holds locks that others wait for: PostgreSQL ends its connection, and what was not committed is undone.
# Well within a lease of a run (20 seconds), so that who takes a run over from a suspended worker does not wait for it.
POSTGRESQL_IDLE_SECONDS: Final = 10


def database_settings(database: Database) -> dict[str, Any]:
    """Return what Django needs to know about `database`."""
    # Connections are persistent: StateDB's pool owns them and replaces broken ones, so no check before each use.
    connections = {"CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": False}
    return connections | (_sqlite(database) if database.engine == "sqlite" else _postgresql(database))


def _sqlite(database: Database) -> dict[str, Any]:
    # SQLite makes the file but not its folder; where that fails, opening the database says so.
    with suppress(OSError):
        Path(database.name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": database.name,
        # IMMEDIATE: a transaction that reads and then writes waits at its start, where waiting is possible.
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": _SQLITE_TIMEOUT_SECONDS,
            "factory": OwnersConnection,
            "init_command": _SQLITE_PRAGMAS,
        },
        "TEST": {"NAME": f"{database.name}.test"},  # a file: StateDB's threads cannot share one in memory
    }


def _postgresql(database: Database) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database.name,
        "HOST": database.host,
        "PORT": "" if database.port is None else str(database.port),
        "USER": database.user,
        "PASSWORD": database.password.get_secret_value(),
        "OPTIONS": {**database.options, "options": _session_options(database)},
    }


def _session_options(database: Database) -> str:
    """Return our options of each session, then those of the URL, which win."""
    ours = f"-c idle_in_transaction_session_timeout={POSTGRESQL_IDLE_SECONDS}s"
    return f"{ours} {database.options.get('options', '')}".rstrip()


DATABASES = {"default": database_settings(_config.database)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "ninja",
    "channels",
    "django_typer",
    "studio_project",
    "runs",
    "definitions",
    "workflows",
    "schedules",
    "artifacts",
    "projects",
    # Its migrations know PostgreSQL alone.
    *(("procrastinate.contrib.django",) if _config.queue == "procrastinate" else ()),
]
PROCRASTINATE_ON_APP_READY = "studio_project.composition.bind_jobs"
MIDDLEWARE = [
    "studio_project.admin_middleware.AdminSecurity",
    "studio_project.admin_middleware.AdminSession",
    "studio_project.admin_middleware.AdminCsrf",
    "studio_project.admin_middleware.AdminAuth",
    "studio_project.admin_middleware.AdminMessages",
    "studio_project.admin_middleware.AdminFrames",
    "studio_project.admin_middleware.AdminValues",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
ROOT_URLCONF = "studio_project.urls"
ASGI_APPLICATION = "studio_project.asgi.application"

DEBUG = False
# studio_project/security.py checks Host with one grammar, for every protocol, before Django sees a request.
ALLOWED_HOSTS = ["*"]
# The security middleware has counted the body; Django's own limits would refuse or spool one that is allowed.
DATA_UPLOAD_MAX_MEMORY_SIZE = FILE_UPLOAD_MAX_MEMORY_SIZE = BODY_MAX_BYTES
APPEND_SLASH = False  # the slash policy is the contract's: 308 with a relative Location
SECRET_KEY = SimpleLazyObject(lambda: load_secret_key(_config.home))  # so that a client never makes a home

# Cookies are the admin's alone: they carry its path, and messages travel in the session.
SESSION_COOKIE_NAME = "studio_session"
SESSION_COOKIE_PATH = "/admin/"
CSRF_COOKIE_NAME = "studio_csrf"
CSRF_COOKIE_PATH = "/admin/"
CSRF_COOKIE_HTTPONLY = True
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
STATIC_URL = "/static/"

USE_TZ = True
TIME_ZONE = "UTC"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "safe": {
            "()": "studio_project.logs.SafeFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
            "secrets": _config.secrets,
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "safe"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        # Django's own default handlers print a second time and mail administrators.
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        # http_errors logs what is unforeseen, under its incident id; what a client does wrong is the client's to see.
        "django.request": {"level": "CRITICAL"},
        "httpx": {"level": "WARNING"},  # it would tell of each request, between the lines of a command
        "procrastinate": {"level": "WARNING"},  # and of each job; what becomes of a run is told with the run
    },
}

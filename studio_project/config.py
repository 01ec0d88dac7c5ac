"""The configuration: the only reader of the environment and of `<home>/studio.toml`.

`STUDIO_*` environment variables win over studio.toml, which wins over the defaults below.
"""

import os
from collections.abc import Collection, Mapping
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import Field, PrivateAttr, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from contract.limits import RETENTION_DAYS_MAX
from studio_project.config_execution import (
    ALLOWED_EXECUTABLES,
    GRACE_SECONDS_MAX,
    Deadlines,
    Queue,
    Runtimes,
    default_deadlines,
    default_runtimes,
    queue_faults,
    read_runtimes,
)
from studio_project.config_file import ConfigFile, read_config_file, suggestion
from studio_project.config_values import (
    GITHUB_API_URL,
    AbsolutePath,
    ApiUrl,
    DatabaseUrl,
    NameList,
    Number,
    Origins,
    PlainWord,
    Seconds,
    Token,
)
from studio_project.config_zones import ZoneName, machine_zone
from studio_project.database_url import Database, parse_database_url

PREFIX = "STUDIO_"
FILE_NAME = "studio.toml"
DATABASE_NAME = "studio.db"

Origin = Literal["default", "file", "env"]

_SETTINGS = "DJANGO_SETTINGS_MODULE"
_OUR_SETTINGS = "studio_project.settings"
# As it was given to this process: Django, once it is set up, puts its own zone there.
_GIVEN_ZONE = os.environ.get("TZ")

# Names under the prefix that are not configuration: the test suite's switches (tests/environment.py).
_FOREIGN_PREFIXES = ("STUDIO_TEST_",)


class ConfigError(Exception):
    """The configuration cannot be used: `problems` has every fault as "where: what", never a secret."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class StudioConfig(BaseSettings):
    """The effective configuration; `origins` tells for every field where its value came from."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True, hide_input_in_errors=True)

    home: Path = Field(description="folder of everything Studio keeps; only from the environment")
    host: PlainWord = Field(default="127.0.0.1", description="address the daemon listens on")
    port: Number = Field(default=8765, ge=0, le=65535, description="port of the daemon; 0 picks a free one")
    database_url: DatabaseUrl = Field(description="sqlite:///abs/path or postgresql://user:pw@host:port/name")
    auth_token: Token | None = Field(default=None, description="bearer token that may read and write")
    auth_read_token: Token | None = Field(default=None, description="bearer token that may only read")
    allowed_hosts: NameList = Field(default=(), description="Host names accepted besides loopback and `host`")
    cors_origins: Origins = Field(default=(), description="web origins allowed to call the API")
    command_allowlist: Annotated[NameList, ALLOWED_EXECUTABLES] = Field(
        default=(), description="executables a `command` action may start"
    )
    timezone: ZoneName = Field(description="IANA zone in which people read and write instants")
    max_concurrent: Number = Field(default=4, ge=0, description="runs executed at a time; 0 is unlimited")
    queue: Queue = Field(default="local", description="what hands queued runs to workers: local or procrastinate")
    default_runtime: str | None = Field(default=None, description="runtime of actions that name none")
    execution_root: AbsolutePath | None = Field(default=None, description="folder of runs that are given none")
    deadline_seconds: Deadlines = Field(default_factory=default_deadlines, description="how long a run may take")
    grace_seconds: Seconds = Field(
        default=5.0, ge=0, le=GRACE_SECONDS_MAX, description="how long a process may go on after it was told to end"
    )
    retention_days: Number = Field(
        default=0, ge=0, le=RETENTION_DAYS_MAX, description="days that ended runs are kept; 0 is for ever"
    )
    github_api_url: ApiUrl = Field(default=GITHUB_API_URL, description="where pull requests are asked for")
    github_token: Token | None = Field(default=None, description="token for GitHub; only read access is needed")
    pass_token: bool = Field(default=False, description="give auth_token to the processes of runs")
    insecure: bool = Field(default=False, description="allow a daemon without tokens beyond loopback")
    url: PlainWord | None = Field(default=None, description="daemon the CLI talks to; only from the environment")
    run_id: PlainWord | None = Field(default=None, description="run a child belongs to; only from the environment")
    artifacts: str | None = Field(default=None, description="folder of that run's files; only from the environment")

    _origins: dict[str, Origin] = PrivateAttr(default_factory=dict)
    _runtimes: Runtimes = PrivateAttr(default_factory=default_runtimes)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 (this one and the rest: the caller's signature)
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what `load_config` passes: it reads the environment it was given, never the process's own."""
        return (init_settings,)

    @property
    def origins(self) -> Mapping[str, Origin]:
        """Field name to the place its value came from."""
        return self._origins

    @property
    def runtimes(self) -> Runtimes:
        """Runtimes by name: the shipped ones, and those of the file, which alone describes them."""
        return self._runtimes

    @property
    def database(self) -> Database:
        """`database_url` in its parts."""
        return parse_database_url(self.database_url.get_secret_value())

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the daemon."""
        return _is_loopback(self.host)

    @property
    def secrets(self) -> tuple[SecretStr, ...]:
        """Every secret set, for those who must keep them out of what they write."""
        found = (self.auth_token, self.auth_read_token, self.github_token, self.database.password)
        return tuple(secret for secret in found if secret)


ENVIRONMENT_ONLY = frozenset({"home", "url", "run_id", "artifacts"})
FILE_KEYS = frozenset(StudioConfig.model_fields) - ENVIRONMENT_ONLY


def load_config(environ: Mapping[str, str], *, localtime: Path = Path("/etc/localtime")) -> StudioConfig:
    """Return the configuration that `environ` and the home's studio.toml describe.

    Raises ConfigError with all faults at once. `localtime` is the link that names the machine's time zone.
    """
    home = _home(environ)
    file = read_config_file(home / FILE_NAME, known=FILE_KEYS, elsewhere=ENVIRONMENT_ONLY)
    from_env = _environment(environ)
    database_url = "sqlite://" + quote(str(home / DATABASE_NAME))
    defaults = {"database_url": database_url, "timezone": machine_zone(localtime)}
    values = defaults | file.values | from_env | {"home": home}
    origins = _origins(file, from_env)
    runtimes, runtime_problems = read_runtimes(file.runtimes)
    problems = [*_unknown_names(environ), *file.problems]
    problems += (f"{FILE_NAME}: runtimes.{problem}" for problem in runtime_problems)
    config: StudioConfig | None = None
    try:
        config = StudioConfig(**values)
    except ValidationError as error:
        problems += _describe(error, origins)
    problems += _equal_tokens(values)
    problems += _unknown_default(values, runtimes, origins)
    if config is not None:
        problems += queue_faults(config.queue, config.database.engine, _place("queue", origins["queue"]))
    if problems or config is None:
        raise ConfigError(tuple(problems))
    config._origins.update(origins)  # noqa: SLF001 (this and the next: the model's own loader)
    config._runtimes = runtimes  # noqa: SLF001
    return config


@cache
def current_config() -> StudioConfig:
    """The configuration of this process, loaded once."""
    return load_config(os.environ)


def chosen_editor(environ: Mapping[str, str]) -> str:
    """Return the command line of the user's editor: VISUAL, else EDITOR, else `vi` (POSIX, as `crontab -e` does)."""
    chosen = (environ.get(name, "").strip() for name in ("VISUAL", "EDITOR"))
    return next(filter(None, chosen), "vi")


def current_editor() -> str:
    """Return the editor that the environment of this process names."""
    return chosen_editor(os.environ)


def child_environment(config: StudioConfig, *, url: str) -> dict[str, str]:
    """Return the environment of a run's process: the one given to us, without what configures Studio or makes it run.

    It says where the daemon is. The token is passed on only if the configuration says so: what a process knows, it may
    print.
    """
    passed = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX) and name != "TZ"}
    if _GIVEN_ZONE is not None:
        passed["TZ"] = _GIVEN_ZONE
    if passed.get(_SETTINGS) == _OUR_SETTINGS:
        del passed[_SETTINGS]
    passed[PREFIX + "URL"] = url
    if config.pass_token and config.auth_token is not None:
        passed[PREFIX + "AUTH_TOKEN"] = config.auth_token.get_secret_value()
    return passed


def isolated_environment(home: Path, **values: str) -> dict[str, str]:
    """Return the environment for a process of Studio on a home of its own, with these configuration keys alone."""
    others = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    settings = {_SETTINGS: _OUR_SETTINGS}
    return others | settings | {PREFIX + key.upper(): value for key, value in (values | {"home": str(home)}).items()}


def _home(environ: Mapping[str, str]) -> Path:
    home = environ.get("STUDIO_HOME") or "~/.studio"
    if home == "~" or home.startswith("~/"):
        home = (environ.get("HOME") or str(Path.home())) + home[1:]
    return Path(home).absolute()


def _environment(environ: Mapping[str, str]) -> dict[str, Any]:
    source = EnvSettingsSource(StudioConfig)
    source.env_vars = {name.lower(): value for name, value in environ.items() if name.startswith(PREFIX)}
    return source()


def _unknown_names(environ: Mapping[str, str]) -> list[str]:
    known = {PREFIX + field.upper() for field in StudioConfig.model_fields}
    mine = {name for name in environ if name.startswith(PREFIX) and not name.startswith(_FOREIGN_PREFIXES)}
    return [f"{name}: is not a known variable{suggestion(name, known)}" for name in sorted(mine - known)]


def _origins(file: ConfigFile, from_env: Mapping[str, Any]) -> dict[str, Origin]:
    origins: dict[str, Origin] = dict.fromkeys(StudioConfig.model_fields, "default")
    origins.update(dict.fromkeys(file.values, "file"))
    origins.update(dict.fromkeys(from_env, "env"))
    return origins


def _describe(error: ValidationError, origins: Mapping[str, Origin]) -> list[str]:
    """One line per fault; pydantic's message never repeats the value, so no secret can get into it."""
    problems = []
    for fault in error.errors(include_input=False, include_url=False, include_context=False):
        field = str(fault["loc"][0])
        problems.append(f"{_place(field, origins[field])}: {fault['msg']}")
    return problems


def _place(field: str, origin: Origin) -> str:
    if origin == "env":
        return PREFIX + field.upper()
    return f"{FILE_NAME}: {field}" if origin == "file" else field


def _equal_tokens(values: Mapping[str, Any]) -> list[str]:
    if values.get("auth_token") and values["auth_token"] == values.get("auth_read_token"):
        return ["auth_read_token: must differ from auth_token, or reading would grant writing"]
    return []


def _unknown_default(values: Mapping[str, Any], names: Collection[str], origins: Mapping[str, Origin]) -> list[str]:
    name = values.get("default_runtime")
    if not isinstance(name, str) or name in names:
        return []
    place = _place("default_runtime", origins["default_runtime"])
    return [f"{place}: there is no such runtime{suggestion(name, names)}"]


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"

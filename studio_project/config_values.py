"""What the values of the configuration may be: types that check and say why. No environment, no files."""

import re
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, SecretStr
from pydantic_core import PydanticCustomError
from pydantic_settings import NoDecode

from studio_project.database_url import parse_database_url

# Visible ASCII without spaces: what an Authorization header carries unchanged (RFC 9110, 5.6.2 and 11.4).
_TOKEN = re.compile(r"[\x21-\x7e]+")
_PLAIN_WORD = "must be visible ASCII characters without spaces, and not empty"
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#@,]+")
_API_URL = re.compile(r"https?://[^\s?#@]+")

GITHUB_API_URL: Final = "https://api.github.com"


def _split_commas(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _refuse_bool(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError("not_a_number", "must be a number")
    return value


def _plain_word(value: str) -> str:
    if not _TOKEN.fullmatch(value):
        raise PydanticCustomError("plain_word", _PLAIN_WORD)
    return value


def _plain_token(value: SecretStr) -> SecretStr:
    if not _TOKEN.fullmatch(value.get_secret_value()):
        raise PydanticCustomError("token", _PLAIN_WORD)
    return value


def _usable_database(value: SecretStr) -> SecretStr:
    try:
        parse_database_url(value.get_secret_value())
    except ValueError as error:
        raise PydanticCustomError("database_url", "{why}", {"why": str(error)}) from None
    return value


def _usable_origins(value: tuple[str, ...]) -> tuple[str, ...]:
    if not all(_ORIGIN.fullmatch(origin) for origin in value):
        raise PydanticCustomError("origin", "must be origins such as https://studio.example, without a path")
    return value


def _absolute_path(value: Path) -> Path:
    if not value.is_absolute() or "\0" in str(value):
        raise PydanticCustomError("absolute", "must be an absolute path")
    return value


def _usable_api(value: str) -> str:
    if not _API_URL.fullmatch(value):
        raise PydanticCustomError("url", "must be a URL such as https://github.example/api/v3")
    return value


NameList = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split_commas)]
Number = Annotated[int, BeforeValidator(_refuse_bool)]
Seconds = Annotated[float, BeforeValidator(_refuse_bool)]
PlainWord = Annotated[str, AfterValidator(_plain_word)]
Token = Annotated[SecretStr, AfterValidator(_plain_token)]
DatabaseUrl = Annotated[SecretStr, AfterValidator(_usable_database)]
Origins = Annotated[NameList, AfterValidator(_usable_origins)]
AbsolutePath = Annotated[Path, AfterValidator(_absolute_path)]
ApiUrl = Annotated[str, AfterValidator(_usable_api)]

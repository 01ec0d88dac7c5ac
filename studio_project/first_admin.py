"""The first administrator of an empty home, so that the admin can be opened at all."""

from typing import Final

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.crypto import get_random_string

NAME: Final = "admin"
# 20 of 62 characters are 119 random bits; it is typed once and then changed or kept in a password store.
_PASSWORD_CHARS: Final = 20


def create_first_admin() -> str | None:
    """Create the superuser `admin` when there is no user at all, and return its password: the only time it is known.

    Return None when there is a user already, also one that another process creates at this moment.
    """
    if User.objects.exists():
        return None
    password = get_random_string(_PASSWORD_CHARS)
    try:
        with transaction.atomic():
            User.objects.create_superuser(NAME, password=password)
    except IntegrityError:
        return None
    return password

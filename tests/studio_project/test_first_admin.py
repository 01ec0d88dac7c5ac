import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User

from studio_project.first_admin import NAME, create_first_admin

pytestmark = pytest.mark.django_db


def test_an_empty_home_gets_an_administrator_who_can_log_in() -> None:
    password = create_first_admin()

    user = authenticate(username=NAME, password=password)
    assert user is not None
    assert user.is_superuser


def test_a_home_with_users_gets_none() -> None:
    User.objects.create_user("somebody")

    assert create_first_admin() is None
    assert not User.objects.filter(username=NAME).exists()


def test_the_password_is_told_once() -> None:
    assert create_first_admin() is not None
    assert create_first_admin() is None


def test_two_homes_have_different_passwords() -> None:
    first = create_first_admin()
    User.objects.all().delete()

    assert create_first_admin() != first

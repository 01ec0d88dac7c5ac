"""Fixtures for every test. Those of one capability live in tests/fixtures and are named here."""

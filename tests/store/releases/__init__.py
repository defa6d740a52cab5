"""Databases as releases wrote them: `VERSION.sqlite.sql` and `VERSION.postgres.sql`, each a whole dump.

They hold a few rows in every table: debates of golden logs, one held with a scripted model, an experiment, an
imported conversation, tokens and invitations. `test_releases.py` opens them with the present code. They stay
for good, as golden logs do; a release adds its own:

    python -m tests.store.releases
"""

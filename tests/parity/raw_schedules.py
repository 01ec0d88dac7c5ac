"""Bodies that no command on schedules may have."""

from contract.limits import SCHEDULES_PER_SET_MAX

CRON = b'{"kind": "cron", "expression": "* * * * *"}'
WRONG_SCHEDULES = (
    b"{}",
    b'{"name": "a", "trigger": %s, "action": {"kind": "command"}, "github_cursor": "x"}' % CRON,
    b'{"name": "", "trigger": {"kind": "tide"}, "action": {}, "enabled": 1}',
    b'{"name": "a\\u0000", "trigger": {"kind": "interval", "seconds": 0}, "action": null, "max_runs": 0}',
    b'{"name": "a", "trigger": {"kind": "interval", "seconds": 1.5}, "action": {"kind": "x"}, "budget_usd": -1}',
    b'{"name": "a", "trigger": {"kind": "at", "at": "now"}, "action": {"kind": "play"}, "overlap_policy": "queue"}',
    b'{"name": "a", "trigger": {"kind": "cron", "expression": "%s"}, "action": {"kind": "play"}}' % (b"1," * 9_999),
    b'{"name": "a", "trigger": {"kind": "github_poll", "repository": "o/r", "poll_interval_seconds": 1}}',
    b'{"kind": "patch", "name": "a", "trigger": %s, "action": {"kind": "play"}}' % CRON,
)
WRONG_CHANGES = (
    b"{}",
    b'{"changes": {}}',
    b'{"expected_updated_at": 1}',
    b'{"expected_updated_at": "1", "changes": {"name": "x"}}',
    b'{"expected_updated_at": 1, "changes": {"github_cursor": "x"}}',
    b'{"expected_updated_at": 1, "changes": {"name": null, "trigger": null, "action": null}}',
    b'{"expected_updated_at": 1, "changes": {"missed_fire_policy": null, "overlap_policy": null}}',
    b'{"expected_updated_at": 1, "changes": {"enabled": false, "run_count": 0, "schedule_id": "x"}}',
    b'{"expected_updated_at": 1, "changes": {"action": {"kind": "command", "command": "sh"}}}',
    b'{"expected_updated_at": 1, "changes": null}',
    b'{"expected_updated_at": 1, "changes": {}, "name": "x"}',
)
WRONG_ENABLES = (b"{}", b'{"enabled": 1}', b'{"enabled": null}', b'{"enabled": true, "expected_updated_at": "x"}')
WRONG_FIRES = (b'{"force": 1}', b'{"fire_key": "../x"}', b'{"fire_key": "", "run": 1}')
WRONG_TRIGGERS = (b"{}", b'{"trigger": %s, "count": 51}' % CRON, b'{"trigger": %s, "after": -1, "x": 1}' % CRON)
WRONG_SETS = (
    b"{}",
    b'{"schedules": {}}',
    b'{"schedules": [{}, 1, {"name": "a", "kind": "create"}], "dry_run": 1}',
    b'{"schedules": [%s]}' % b",".join([b"{}"] * (SCHEDULES_PER_SET_MAX + 1)),
)

"""Every bound the contract publishes, one constant each, with the reason for its value.

Changing a value here is a contract change: raising a bound is additive, lowering one is not.
"""

from typing import Final

CONTRACT_VERSION: Final = "1.0"

# Lists. The ADR bounds RunQuery.limit at 5,000 and defaults it to 20.
LIST_LIMIT_DEFAULT: Final = 20
LIST_LIMIT_MAX: Final = 5_000
# Beyond this an offset walk costs more than a cursor ever would; the cursor has no such end.
LIST_OFFSET_MAX: Final = 10_000_000

# Text. Names are read by people and stand in indexes; PostgreSQL refuses index rows over ~2,700 bytes.
IDENTIFIER_MAX_CHARS: Final = 128
NAME_MAX_CHARS: Final = 200
SUMMARY_MAX_CHARS: Final = 2_000
TAG_MAX_CHARS: Final = 64
TAGS_PER_RUN_MAX: Final = 50
# The longest cursor of ours holds a name, of whose characters each takes up to six bytes; base64 makes eight of them.
CURSOR_MAX_CHARS: Final = 2_048

# JSON. JavaScript clients hold integers exactly only up to 2**53 - 1 (ECMA-262, Number.MAX_SAFE_INTEGER).
SAFE_INTEGER_MAX: Final = 2**53 - 1
# Deeper than any hand-made document, and far from the recursion limit of every JSON parser in use.
JSON_DEPTH_MAX: Final = 100
# Values in one command, evidence bodies apart: far more than any needs, few enough to check in a blink.
COMMAND_VALUES_MAX: Final = 20_000
# Faults named in one answer; who makes more has one fault, repeated.
FIELD_FAILURES_MAX: Final = 100
# Values in one body of evidence; a richer one is kept as its JSON text, so that reading it stays cheap.
EVIDENCE_VALUES_MAX: Final = 5_000
# 9999-12-31T23:59:59Z: the last instant every date library can print.
INSTANT_MAX: Final = 253_402_300_799.0

# Request bodies. A batch of events may be 4 MiB; nothing else needs more than a definition (1 MiB) in JSON quoting.
BODY_MAX_BYTES: Final = 4 * 1024 * 1024
# Recorded evidence (DESIGN of the run-event protocol): a batch is one transaction, so it must stay short.
EVENTS_PER_BATCH_MAX: Final = 500
EVENT_MAX_BYTES: Final = 1024 * 1024
# What a graph may hold: the bounds of a workflow, so that every workflow run can be drawn.
GRAPH_NODES_MAX: Final = 200
GRAPH_EDGES_MAX: Final = 400
# Branches are read whole with a run's detail, so they are bounded like a page.
BRANCHES_PER_RUN_MAX: Final = 1_000
# One usage report. A million dollars or a trillion tokens in one event is a broken producer, not a bill.
USAGE_COST_USD_MAX: Final = 1_000_000.0
USAGE_TOKENS_MAX: Final = 10**12

# Reading one run.
MESSAGE_LIMIT_DEFAULT: Final = 200
MESSAGE_LIMIT_MAX: Final = 1_000
EVIDENCE_LIMIT_DEFAULT: Final = 200
EVIDENCE_LIMIT_MAX: Final = 1_000
# Content one answer may carry; messages beyond it come withheld, with their size, and can be read by pane.
READ_BUDGET_BYTES: Final = 4 * 1024 * 1024

# Execution. Linux takes at most 32 pages for one argument (execve(2), MAX_ARG_STRLEN); UTF-8 needs up to four bytes a
# character, and the bytes are checked again where the argument list is built.
ARGUMENT_MAX_CHARS: Final = 131_071
COMMAND_ARGUMENTS_MAX: Final = 256
# Linux, PATH_MAX.
PATH_MAX_CHARS: Final = 4_096
# A week: whatever runs longer has hung.
DEADLINE_SECONDS_MAX: Final = 7 * 24 * 3600.0
# What is kept of one stream of a child that floods it: the beginning as it comes, the end when it has ended.
OUTPUT_HEAD_BYTES: Final = 1024 * 1024
OUTPUT_TAIL_BYTES: Final = 64 * 1024

# Definitions. A prompt of a mebibyte is beyond every context window; a name leaves room for its extension in the 255
# bytes of a file name.
DEFINITION_MAX_BYTES: Final = 1024 * 1024
DEFINITION_NAME_MAX_CHARS: Final = 120
# Each entry of a page is read from the disk to be compared with the history.
DEFINITION_LIST_LIMIT_MAX: Final = 1_000
# Percent-encoded, a character takes up to twelve bytes, and servers take a request's head up to 16 KiB.
DELETE_MESSAGE_MAX_CHARS: Final = 500
# A hand-made playbook has a depth of 5 and some hundred values; aliases count as what they stand for.
YAML_DEPTH_MAX: Final = 50
YAML_VALUES_MAX: Final = 20_000
DIFF_CONTEXT_LINES_MAX: Final = 1_000
# The peer's bound on prompts, in playbooks and actions alike.
PROMPT_MAX_CHARS: Final = 262_144

# Artifacts. The preview's bounds are the ADR's: what an interface can show at once. A file beyond the hashed size is
# not read at all: hashing takes a second for each gibibyte, and the answer waits for it.
ARTIFACT_PREVIEW_DEFAULT_BYTES: Final = 262_144
ARTIFACT_PREVIEW_MAX_BYTES: Final = 1_048_576
ARTIFACT_UPLOAD_MAX_BYTES: Final = 1_048_576
ARTIFACT_FILE_MAX_BYTES: Final = 1024 * 1024 * 1024
# Files of one run that are looked at in one request, and how much of them is hashed: some ten seconds of work.
ARTIFACT_FILES_MAX: Final = 1_000
ARTIFACT_VERIFY_MAX_BYTES: Final = 8 * 1024 * 1024 * 1024
ARTIFACT_LIST_LIMIT_MAX: Final = 1_000

# Projects.
ASSIGNED_RUNS_MAX: Final = 1_000
# A path of 4,096 characters can be that deep; nobody's is.
PROJECT_FOLDERS_MAX: Final = 200

# Retention. A call removes what it can in a few seconds, and says when there is more.
PRUNE_DEFAULT_RUNS: Final = 1_000
PRUNE_MAX_RUNS: Final = 10_000
RETENTION_DAYS_MAX: Final = 100 * 366
RETENTION_SECONDS_MAX: Final = RETENTION_DAYS_MAX * 24 * 3600.0
STATS_PROJECTS_MAX: Final = 100

# Schedules. A chain is an action after an action; the peer's bound on both.
MAX_CHAIN_DEPTH: Final = 10
CRON_MAX_CHARS: Final = 200
# Ten years: beyond, an interval is a mistake.
INTERVAL_SECONDS_MAX: Final = 10 * 366 * 24 * 3600
PREVIEW_DEFAULT_COUNT: Final = 10
PREVIEW_MAX_COUNT: Final = 50
SCHEDULE_LIST_LIMIT_MAX: Final = 1_000
# One file of schedules, applied as a whole in one transaction.
SCHEDULES_PER_SET_MAX: Final = 1_000
# A due instant that is met so late is not a miss.
MISSED_AFTER_SECONDS: Final = 60.0
# GitHub asks pollers of one resource not to come more often (its X-Poll-Interval).
GITHUB_POLL_SECONDS_MIN: Final = 1
BUDGET_USD_MAX: Final = 1_000_000.0
BUDGET_TOKENS_MAX: Final = 10**12

# Streams.
HEARTBEAT_SECONDS: Final = 5.0
STREAM_PAGE_ENTRIES: Final = 500
STREAM_PAGE_BYTES: Final = 2 * 1024 * 1024
# A reader that takes nothing for this long is told where to resume and let go.
STREAM_STALL_SECONDS: Final = 30.0

PUBLISHED: Final[dict[str, int | float]] = {
    name.lower(): value
    for name, value in sorted(globals().items())
    if name.isupper() and isinstance(value, int | float)
}

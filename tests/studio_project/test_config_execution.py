"""The configuration of execution: its keys, and the tables that describe runtimes."""

import re
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from runs.runtimes import ACTION_KINDS, SHIPPED, Template
from studio_project.config import ConfigError, StudioConfig, load_config

Load = Callable[..., StudioConfig]
NO_DEADLINE = "must be seconds, more than 0 and at most 604800"


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load a studio.toml of this content, with variables given without prefix."""

    def load(content: str = "", **variables: str) -> StudioConfig:
        (tmp_path / "studio.toml").write_text(content, encoding="utf-8")
        environ = {"STUDIO_HOME": str(tmp_path)} | {f"STUDIO_{name}": value for name, value in variables.items()}
        return load_config(environ, localtime=tmp_path / "localtime")

    return load


def problems_of(load: Load, content: str = "", **variables: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        load(content, **variables)
    return caught.value.problems


def test_without_a_word_execution_has_its_defaults(load: Load) -> None:
    config = load()

    assert (config.default_runtime, config.execution_root, config.grace_seconds, config.pass_token) == (
        None,
        None,
        5.0,
        False,
    )
    assert config.deadline_seconds == dict.fromkeys(ACTION_KINDS, 7200.0)
    assert config.runtimes == SHIPPED


def test_every_key_may_stand_in_the_table_of_execution(load: Load) -> None:
    config = load(
        '[execution]\ncommand_allowlist = ["git", "/bin/ls"]\ndeadline_seconds = 60\ndefault_runtime = "codex"\n'
        'grace_seconds = 0.5\nmax_concurrent = 2\npass_token = true\nroot = "/work"\n'
    )

    assert (config.command_allowlist, config.max_concurrent) == (("git", "/bin/ls"), 2)
    assert config.deadline_seconds == dict.fromkeys(ACTION_KINDS, 60.0)
    assert (config.default_runtime, config.execution_root) == ("codex", Path("/work"))
    assert (config.grace_seconds, config.pass_token) == (0.5, True)
    assert config.origins["execution_root"] == "file"


def test_every_key_may_stand_in_the_environment(load: Load) -> None:
    config = load(
        '[execution]\nroot = "/elsewhere"\n',
        DEADLINE_SECONDS="90.5",
        DEFAULT_RUNTIME="claude",
        EXECUTION_ROOT="/work",
        GRACE_SECONDS="1",
        PASS_TOKEN="true",
    )

    assert config.deadline_seconds == dict.fromkeys(ACTION_KINDS, 90.5)
    assert (config.default_runtime, config.execution_root) == ("claude", Path("/work"))
    assert (config.grace_seconds, config.pass_token) == (1.0, True)
    assert config.origins["execution_root"] == "env"


def test_a_deadline_may_be_set_by_kind_and_the_other_kinds_keep_theirs(load: Load) -> None:
    written = {"agent": 60.0, "flow": 3600.5}

    by_file = load("[execution.deadline_seconds]\nagent = 60\nflow = 3600.5\n")
    by_environment = load(DEADLINE_SECONDS=" agent=60, flow = 3600.5 ,")

    expected = dict.fromkeys(ACTION_KINDS, 7200.0) | written
    assert by_file.deadline_seconds == by_environment.deadline_seconds == expected


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "604801", "1h", "", "agent=", "agent=x"])
def test_a_deadline_that_is_none_is_refused(load: Load, seconds: str) -> None:
    assert problems_of(load, DEADLINE_SECONDS=seconds) == (f"STUDIO_DEADLINE_SECONDS: {NO_DEADLINE}",)


@pytest.mark.parametrize("value", ["true", "[60]", '"soon"', "{agent = true}"])
def test_a_deadline_of_the_file_that_is_no_number_is_refused(load: Load, value: str) -> None:
    [problem] = problems_of(load, f"[execution]\ndeadline_seconds = {value}\n")

    assert problem == f"studio.toml: deadline_seconds: {NO_DEADLINE}"


def test_a_deadline_for_an_unknown_kind_is_refused_with_the_nearest(load: Load) -> None:
    assert problems_of(load, DEADLINE_SECONDS="fan_out=3") == (
        "STUDIO_DEADLINE_SECONDS: fan_out is no kind of action; did you mean fanout?",
    )


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("EXECUTION_ROOT", "work", "must be an absolute path"),
        ("EXECUTION_ROOT", "~/work", "must be an absolute path"),
        ("EXECUTION_ROOT", "", "must be an absolute path"),
        ("EXECUTION_ROOT", "/\x00", "must be an absolute path"),
        ("COMMAND_ALLOWLIST", "git,bin/x", "must be bare names or absolute paths"),
        ("DEFAULT_RUNTIME", "claud", "there is no such runtime; did you mean claude?"),
        ("DEFAULT_RUNTIME", "", "there is no such runtime"),
        ("GRACE_SECONDS", "301", "Input should be less than or equal to 300"),
        ("GRACE_SECONDS", "-1", "Input should be greater than or equal to 0"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_its_place(
    load: Load, variable: str, value: str, message: str
) -> None:
    assert problems_of(load, **{variable: value}) == (f"STUDIO_{variable}: {message}",)


def test_a_key_that_is_misspelled_in_a_table_is_told_with_the_nearest(load: Load) -> None:
    assert problems_of(load, "[execution]\nrooot = 1\n[runtime.x]\n") == (
        "studio.toml: execution.rooot: is not a known key; did you mean execution.root?",
        "studio.toml: runtime: is not a known key; did you mean runtimes?",
    )


def test_a_runtime_of_ones_own_comes_after_the_shipped_ones(load: Load) -> None:
    config = load(
        "[runtimes.reviewer]\n"
        'executable = "/opt/reviewer"\nreader = "agent-json"\nenv = { NO_COLOR = "1" }\n'
        'argv.agent = ["review", "--model={model}", "--", "{extra_args}"]\nstdin.agent = "{prompt}\\n"\n'
        'argv.flow = ["flow", "--", "{prompt}"]\n'
    )

    assert list(config.runtimes) == [*SHIPPED, "reviewer"]
    reviewer = config.runtimes["reviewer"]
    assert (reviewer.executable, reviewer.reader, reviewer.env) == ("/opt/reviewer", "agent-json", {"NO_COLOR": "1"})
    assert not reviewer.shipped
    assert reviewer.templates == {
        "agent": Template(argv=("review", "--model={model}", "--", "{extra_args}"), stdin="{prompt}\n"),
        "flow": Template(argv=("flow", "--", "{prompt}")),
    }


def test_a_runtime_that_says_no_more_than_needed_is_called_by_its_name_and_read_as_events(load: Load) -> None:
    config = load('default_runtime = "tool"\n[runtimes.tool]\nargv.agent = ["--", "{prompt}"]\n')

    tool = config.runtimes["tool"]
    assert (tool.name, tool.executable, tool.reader, tool.env) == ("tool", "tool", "events", {})


def test_a_shipped_runtime_keeps_what_its_table_does_not_say(load: Load) -> None:
    config = load(
        '[runtimes.li]\nexecutable = "/opt/li"\n[runtimes.claude]\n'
        'argv.agent = ["-p", "--output-format", "stream-json", "--verbose", "--permission-mode=acceptEdits"]\n'
    )

    li, claude = config.runtimes["li"], config.runtimes["claude"]
    assert (li.executable, li.templates, li.shipped) == ("/opt/li", SHIPPED["li"].templates, False)
    assert (claude.executable, claude.reader, claude.templates["agent"].stdin) == ("claude", "claude", "{prompt}")
    assert config.runtimes["codex"] is SHIPPED["codex"]
    assert list(config.runtimes) == list(SHIPPED)


def test_a_standard_input_can_be_taken_from_a_shipped_runtime(load: Load) -> None:
    config = load('[runtimes.codex]\nargv.agent = ["exec", "--", "{prompt}"]\nstdin.agent = ""\n')

    assert config.runtimes["codex"].templates["agent"] == Template(argv=("exec", "--", "{prompt}"))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[runtimes]\nx = 1", "x: must be a table"),
        ("[runtimes.x]", "x.argv: is needed: it says which kinds of action the runtime executes, and how"),
        (
            '[runtimes."-x"]\nargv.agent = ["--", "{prompt}"]',
            "-x: must begin with a letter and hold only letters, digits and `.`, `_`, `-`, at most 64",
        ),
        ("[runtimes.li]\nexecutible = 'x'", "li.executible: is not a known key; did you mean executable?"),
        ("[runtimes.li]\nexecutable = 1", "li.executable: Input should be a valid string"),
        ("[runtimes.li]\nexecutable = 'bin/li'", "li.executable: must be a bare name or an absolute path"),
        ("[runtimes.li]\nreader = 'xml'", "li.reader: must be one of agent-json, claude, codex, events"),
        ("[runtimes.li]\nenv.X = 1", "li.env.X: Input should be a valid string"),
        ("[runtimes.li]\nenv.STUDIO_HOME = 'x'", "li.env.STUDIO_HOME: is Studio's own to set"),
        ("[runtimes.li]\nargv.agent = 'x'", "li.argv.agent: Input should be a valid tuple"),
        ("[runtimes.li]\nargv.agent = ['x', 1]", "li.argv.agent.1: Input should be a valid string"),
        (
            "[runtimes.li]\nargv.agents = ['x']",
            "li.argv.agents: is no kind of action that a runtime executes; did you mean agent?",
        ),
        ("[runtimes.li]\nargv.command = ['x']", "li.argv.command: is no kind of action that a runtime executes"),
        ("[runtimes.codex]\nstdin.flow = 'x'", "codex.stdin.flow: argv.flow is missing"),
        (
            "[runtimes.codex]\nargv.agent = ['{prompt}']\nstdin.agent = ''",
            "codex.argv.agent.0: its value could be read as a flag: put it after `--`, or write --name={prompt}",
        ),
        ("[runtimes.codex]\nargv.agent = ['--', '{prompt}']", "codex.stdin.agent: {prompt} is in argv already"),
    ],
)
def test_a_runtime_that_cannot_be_used_is_told_with_its_place(load: Load, content: str, problem: str) -> None:
    assert problems_of(load, content) == (f"studio.toml: runtimes.{problem}",)


def test_runtimes_that_are_no_tables_are_told(load: Load) -> None:
    assert problems_of(load, "runtimes = 1") == ("studio.toml: runtimes: must hold a table for each",)


def test_faults_of_runtimes_are_told_with_all_others_and_a_default_that_is_described_is_no_fault(load: Load) -> None:
    problems = problems_of(
        load,
        'port = -1\ndefault_runtime = "x"\n[runtimes.x]\nargv.agent = ["{modle}"]\n[runtimes.y]\nreder = "x"\n',
    )

    assert [problem.split(":")[1] for problem in problems] == [
        " runtimes.x.argv.agent.0",
        " runtimes.x.argv.agent",
        " runtimes.y.reder",
        " runtimes.y.argv",
        " port",
    ]


def test_all_faults_of_a_configuration_are_told_in_one_round(load: Load) -> None:
    problems = problems_of(
        load,
        """
        port = -1
        default_runtime = "claud"
        auth_token = "t"
        auth_read_token = "t"
        execution.deadline_seconds = { fan_out = 1, agent = 0, flow = 0 }
        [runtimes.tool]
        executable = 1
        reader = "xml"
        env.STUDIO_HOME = "x"
        env.X = 1
        argv.agent = ["{modle}", "--", "{prompt}"]
        argv.flow = "x"
        argv.flwo = ["x"]
        stdin.flow = "{modle}"
        stdin.play = "x"
        stdin.fanout = 1
        [runtimes."-x"]
        reader = "xml"
        [runtimes]
        y = 1
        """,
    )

    assert [problem.split(": ")[1] for problem in problems if "runtimes." in problem] == [
        "runtimes.tool.executable",
        "runtimes.tool.env.X",
        "runtimes.tool.argv.flow",
        "runtimes.tool.stdin.fanout",
        "runtimes.tool.argv.flwo",
        "runtimes.tool.stdin.play",
        "runtimes.tool.stdin.fanout",
        "runtimes.tool.reader",
        "runtimes.tool.env.STUDIO_HOME",
        "runtimes.tool.argv.agent.0",
        "runtimes.tool.stdin.flow",
        "runtimes.-x",
        "runtimes.-x.argv",
        "runtimes.-x.reader",
        "runtimes.y",
    ]
    assert [problem for problem in problems if "runtimes." not in problem] == [
        "studio.toml: port: Input should be greater than or equal to 0",
        f"studio.toml: deadline_seconds: fan_out is no kind of action; did you mean fanout?; {NO_DEADLINE}",
        "auth_read_token: must differ from auth_token, or reading would grant writing",
        "studio.toml: default_runtime: there is no such runtime; did you mean claude?",
    ]


@pytest.mark.parametrize(
    ("content", "places"),
    [
        ("argv = 1", ["argv"]),
        ("argv = 1\nstdin.agent = 'x'", ["argv"]),
        ("argv.agent = ['x']\nstdin = 1", ["stdin"]),
        ("argv.agent = ['x']\nstdin.agent = 1", ["stdin.agent"]),
        ("argv.agent = 'x'\nstdin.agent = '{prompt}'", ["argv.agent"]),
        ("argv.agent = ['--', '{prompt}']\nstdin.agent = 1", ["stdin.agent"]),
    ],
)
def test_what_only_follows_from_another_fault_is_not_told(load: Load, content: str, places: list[str]) -> None:
    problems = problems_of(load, f"[runtimes.tool]\n{content}\n")

    assert [problem.split(": ")[1].removeprefix("runtimes.tool.") for problem in problems] == places


def test_no_value_of_a_runtimes_environment_is_ever_told(load: Load) -> None:
    config = load('[runtimes.li]\nenv.KEY = "geheim"\n')

    problems = problems_of(load, '[runtimes.li]\nenv.KEY = ["geheim"]\nenv."A=B" = "geheim"\n')

    assert "geheim" not in f"{config!r} {config.runtimes!r} {problems}"


@pytest.mark.parametrize("page", ["execution.md", "settings.md"])
def test_the_documented_tables_are_taken_as_they_stand(load: Load, page: str) -> None:
    text = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"(?:^(?: {4}.*)?\n)+", text, re.MULTILINE)
    tables = [block for block in blocks if re.search(r"^ {4}\[\w", block, re.MULTILINE)]

    configs = [load(dedent(block)) for block in tables]

    assert configs


def test_the_queue_is_local_or_bound_to_procrastinate_on_postgresql(load: Load) -> None:
    bound = load('[execution]\nqueue = "procrastinate"\n', DATABASE_URL="postgresql://h/n")

    assert (load().queue, bound.queue, bound.origins["queue"]) == ("local", "procrastinate", "file")


@pytest.mark.parametrize(
    ("content", "variables", "place"),
    [
        ('queue = "procrastinate"\n', {}, "studio.toml: queue"),
        ("", {"QUEUE": "procrastinate"}, "STUDIO_QUEUE"),
    ],
)
def test_procrastinate_without_postgresql_is_refused(
    load: Load, content: str, variables: dict[str, str], place: str
) -> None:
    told = "procrastinate works on PostgreSQL only: set database_url to one, or leave the queue local"

    assert problems_of(load, content, **variables) == (f"{place}: {told}",)


def test_an_unknown_queue_is_refused(load: Load) -> None:
    assert problems_of(load, QUEUE="celery") == ("STUDIO_QUEUE: Input should be 'local' or 'procrastinate'",)

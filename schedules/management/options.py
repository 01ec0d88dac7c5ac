"""The options that commands on schedules share."""

from typing import Annotated

from typer import Argument, Option

Which = Annotated[str, Argument(metavar="SCHEDULE", help="Its name or its id.")]
Argv = Annotated[list[str] | None, Argument(metavar="[-- COMMAND ARG...]", help="Of kind command.")]

# When.
Cron = Annotated[str | None, Option(metavar="EXPR", help="Five fields, or @hourly to @yearly.")]
Timezone = Annotated[str | None, Option(metavar="ZONE", help="IANA zone of --cron (default: the configured one).")]
Every = Annotated[str | None, Option(metavar="DURATION", help="Such as 90s, 15m or 1h30m.")]
At = Annotated[str | None, Option("--at", metavar="WHEN", help="Once, at an instant: ISO 8601 or epoch seconds.")]
Github = Annotated[str | None, Option(metavar="OWNER/NAME", help="For each event of its pull requests.")]
PollEvery = Annotated[str | None, Option(metavar="DURATION", help="How often --github is asked.")]
Filter = Annotated[list[str] | None, Option(metavar="KEY=VALUE", help="Which events of --github; repeatable.")]

# What.
Prompt = Annotated[str | None, Option(metavar="TEXT|-", help="What to do; `-` reads it from a pipe.")]
Model = Annotated[str | None, Option(help="Exactly this model.")]
Agent = Annotated[str | None, Option(help="The agent that does it.")]
Playbook = Annotated[str | None, Option(help="The playbook of a play.")]
FlowYaml = Annotated[str | None, Option(metavar="FILE|-", help="The flow of a flow_yaml.")]
Runtime = Annotated[str | None, Option(help="What executes it (default: the configured one).")]
Cwd = Annotated[str | None, Option(metavar="FOLDER", help="Where, as an absolute path.")]
ExtraArg = Annotated[list[str] | None, Option(help="Passed on to the runtime; repeatable.")]
OnSuccess = Annotated[str | None, Option(metavar="JSON|@FILE", help="The action that follows on `completed`.")]
OnFail = Annotated[str | None, Option(metavar="JSON|@FILE", help="The one on `failed` and `timed_out`.")]

# Under which policy.
Project = Annotated[str | None, Option(help="The project of its runs.")]
Description = Annotated[str | None, Option(help="What for, for those who read it later.")]
MaxRuns = Annotated[int | None, Option(metavar="N", help="Disable it after so many starts.")]
BudgetUsd = Annotated[float | None, Option(metavar="USD", help="Disable it when its runs have cost so much.")]
BudgetTokens = Annotated[int | None, Option(metavar="N", help="Disable it when its runs have used so many.")]
Overlap = Annotated[str | None, Option(metavar="skip|allow", help="While a run of it is open (default: skip).")]
Missed = Annotated[str | None, Option(metavar="skip|run_once", help="Instants that passed (default: skip).")]

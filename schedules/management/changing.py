"""`schedule create|update|enable|disable|delete`: what changes one schedule."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from django_typer.management import command
from typer import Argument, Option

from contract.application import StudioApplication
from contract.errors import ValidationFailure, shown
from contract.parsing import parse_model
from contract.schedules import (
    CreateSchedule,
    DeleteSchedule,
    PatchSchedule,
    ScheduleDeleted,
    SchedulePatch,
    ScheduleResult,
    SetScheduleEnabled,
)
from schedules.management import options, presentation
from schedules.management.action_options import ACTION_FIELDS, action_fields, read_action_texts
from schedules.management.finding import find_schedule
from schedules.management.reading import ReadingCommands
from schedules.management.trigger_options import TriggerOptions
from studio_project.command_input import named, reader_zone
from studio_project.commands import AsJson, Remote, Token

Kind = Annotated[str, Argument(metavar="KIND", help="agent, flow, fanout, play, flow_yaml or command.")]
Filters = Annotated[
    list[str] | None, Option("--filter", metavar="KEY=VALUE", help="Which events of --github; repeatable.")
]
Expected = Annotated[
    str | None, Option("--expected-updated-at", metavar="INSTANT", help="Only if nobody changed it since.")
]
_PATCH_FIELDS: Final = frozenset(SchedulePatch.model_fields)


class ChangingCommands(ReadingCommands):
    """Create, update, enable, disable, delete."""

    # The descriptor that `-` reads from.
    standard_input: int = 0

    @command()
    def create(  # noqa: PLR0913 (what a schedule is made of are options)
        self,
        name: Annotated[str, Argument(metavar="NAME", help="What it is called; no other one is.")],
        kind: Kind,
        argv: options.Argv = None,
        *,
        cron: options.Cron = None,
        timezone: options.Timezone = None,
        every: options.Every = None,
        at: options.At = None,
        github: options.Github = None,
        poll_every: options.PollEvery = None,
        filters: Filters = None,
        prompt: options.Prompt = None,
        model: options.Model = None,
        agent: options.Agent = None,
        playbook: options.Playbook = None,
        flow_yaml: options.FlowYaml = None,
        runtime: options.Runtime = None,
        cwd: options.Cwd = None,
        extra_arg: options.ExtraArg = None,
        on_success: options.OnSuccess = None,
        on_fail: options.OnFail = None,
        project: options.Project = None,
        description: options.Description = None,
        max_runs: options.MaxRuns = None,
        budget_usd: options.BudgetUsd = None,
        budget_tokens: options.BudgetTokens = None,
        overlap: options.Overlap = None,
        missed: options.Missed = None,
        disabled: Annotated[bool, Option("--disabled", help="Let it fire once it is enabled.")] = False,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Make a schedule: when, and what."""
        when = TriggerOptions(
            cron=cron, timezone=timezone, every=every, at=at, github=github, poll_every=poll_every, filters=filters
        )
        texts = self._texts(prompt, flow_yaml, on_success, on_fail)
        action = texts | named(
            kind=kind,
            command=argv or None,
            model=model,
            agent=agent,
            playbook=playbook,
            runtime=runtime,
            cwd=cwd,
            extra_args=extra_arg,
        )
        fields = named(
            name=name,
            project=project,
            description=description,
            max_runs=max_runs,
            budget_usd=budget_usd,
            budget_tokens=budget_tokens,
            overlap_policy=overlap,
            missed_fire_policy=missed,
        )

        async def make(studio: StudioApplication) -> ScheduleResult:
            trigger = when.required(reader_zone())
            spec = {**fields, "trigger": trigger, "action": action, "enabled": not disabled}
            return await studio.mutate_schedule(parse_model(CreateSchedule, spec))

        self._changed(self.ask(make, remote=remote, token=token), "created", as_json=as_json)

    @command()
    def update(  # noqa: PLR0913 (what may be changed are options)
        self,
        which: options.Which,
        argv: options.Argv = None,
        *,
        name: Annotated[str | None, Option(help="Call it so from now on.")] = None,
        kind: Annotated[str | None, Option(help="Another kind of action, which begins anew.")] = None,
        cron: options.Cron = None,
        timezone: options.Timezone = None,
        every: options.Every = None,
        at: options.At = None,
        github: options.Github = None,
        poll_every: options.PollEvery = None,
        filters: Filters = None,
        prompt: options.Prompt = None,
        model: options.Model = None,
        agent: options.Agent = None,
        playbook: options.Playbook = None,
        flow_yaml: options.FlowYaml = None,
        runtime: options.Runtime = None,
        cwd: options.Cwd = None,
        extra_arg: options.ExtraArg = None,
        on_success: options.OnSuccess = None,
        on_fail: options.OnFail = None,
        project: options.Project = None,
        description: options.Description = None,
        max_runs: options.MaxRuns = None,
        budget_usd: options.BudgetUsd = None,
        budget_tokens: options.BudgetTokens = None,
        overlap: options.Overlap = None,
        missed: options.Missed = None,
        clear: Annotated[list[str] | None, Option(metavar="FIELD", help="Take its value away; repeatable.")] = None,
        expected: Expected = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Change what is given of a schedule; everything else stays."""
        when = TriggerOptions(
            cron=cron, timezone=timezone, every=every, at=at, github=github, poll_every=poll_every, filters=filters
        )
        texts = self._texts(prompt, flow_yaml, on_success, on_fail)
        action = texts | named(
            kind=kind,
            command=argv or None,
            model=model,
            agent=agent,
            playbook=playbook,
            runtime=runtime,
            cwd=cwd,
            extra_args=extra_arg,
        )
        fields = named(
            name=name,
            project=project,
            description=description,
            max_runs=max_runs,
            budget_usd=budget_usd,
            budget_tokens=budget_tokens,
            overlap_policy=overlap,
            missed_fire_policy=missed,
        )

        async def change(studio: StudioApplication) -> ScheduleResult:
            cleared = _cleared(clear or ())
            found = await find_schedule(studio, which)
            parts = {
                "trigger": when.fields(reader_zone(), found.trigger),
                "action": action_fields(action, found.action, cleared=cleared - _PATCH_FIELDS),
            }
            changes = dict.fromkeys(cleared & _PATCH_FIELDS) | fields | _given(parts)
            since = found.updated_at if expected is None else _instant(expected)
            command = {"schedule_id": found.schedule_id, "expected_updated_at": since, "changes": changes}
            return await studio.mutate_schedule(parse_model(PatchSchedule, command))

        self._changed(self.ask(change, remote=remote, token=token), "updated", as_json=as_json)

    @command()
    def enable(
        self,
        which: options.Which,
        *,
        expected: Expected = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Let a schedule fire from now on. What came due meanwhile is not replayed."""
        self._set_enabled(which, expected, enabled=True, as_json=as_json, remote=remote, token=token)

    @command()
    def disable(
        self,
        which: options.Which,
        *,
        expected: Expected = None,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Let a schedule fire no more."""
        self._set_enabled(which, expected, enabled=False, as_json=as_json, remote=remote, token=token)

    @command()
    def delete(
        self,
        which: options.Which,
        *,
        cancel_runs: Annotated[bool, Option("--cancel-runs", help="Ask its open runs to stop.")] = False,
        as_json: AsJson = False,
        remote: Remote = None,
        token: Token = None,
    ) -> None:
        """Delete a schedule with its firings. Its runs stay."""

        async def remove(studio: StudioApplication) -> ScheduleDeleted:
            found = await find_schedule(studio, which)
            return await studio.delete_schedule(found.schedule_id, DeleteSchedule(cancel_runs=cancel_runs))

        result = self.ask(remove, remote=remote, token=token)
        self.told(result, lambda gone: [presentation.deleted_line(gone)], as_json=as_json)

    def _set_enabled(
        self, which: str, expected: str | None, *, enabled: bool, as_json: bool, remote: str | None, token: str | None
    ) -> None:
        async def change(studio: StudioApplication) -> ScheduleResult:
            fields = {"enabled": enabled} | ({} if expected is None else {"expected_updated_at": _instant(expected)})
            found = await find_schedule(studio, which)
            command = parse_model(SetScheduleEnabled, {"schedule_id": found.schedule_id, **fields})
            return await studio.mutate_schedule(command)

        what = "enabled" if enabled else "disabled"
        self._changed(self.ask(change, remote=remote, token=token), what, as_json=as_json)

    def _texts(
        self, prompt: str | None, flow_yaml: str | None, on_success: str | None, on_fail: str | None
    ) -> dict[str, object]:
        """Read what a pipe or files hold, before anything runs that would keep Ctrl-C from being heard."""
        links = {"on_success": on_success, "on_fail": on_fail}
        try:
            return read_action_texts(prompt, flow_yaml, links, self.standard_input, note=self.terminal.note)
        except ValidationFailure as failure:
            self.fail(failure)

    def _changed(self, result: ScheduleResult, what: str, *, as_json: bool) -> None:
        self.told(result, lambda made: [presentation.result_line(made, what, reader_zone())], as_json=as_json)


def _cleared(words: Sequence[str]) -> frozenset[str]:
    """Return the fields, as options write them or as the contract does. ValidationFailure for what is none."""
    fields = frozenset(word.replace("-", "_") for word in words)
    unknown = sorted(fields - _PATCH_FIELDS - ACTION_FIELDS)
    if unknown:
        message = f"{shown(unknown[0])} is no field of a schedule or its action"
        raise ValidationFailure.at("clear", code="unknown_field", message=message)
    return fields


def _given(parts: Mapping[str, object]) -> dict[str, object]:
    return {name: part for name, part in parts.items() if part is not None}


def _instant(text: str) -> float | str:
    """Return the number that a text says; anything else as it is, for the contract to refuse."""
    try:
        return float(text)
    except ValueError:
        return text

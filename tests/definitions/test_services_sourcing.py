"""What runs are told of playbooks and inline flows before they execute one."""

from pathlib import PurePosixPath

import pytest

from contract.errors import StateUnavailable
from definitions.services.sourcing import PlaybookSources
from tests.fakes.definition_files import InMemoryDefinitionFiles

PLACE = "playbooks/review.playbook.yaml"


@pytest.fixture
def files() -> InMemoryDefinitionFiles:
    return InMemoryDefinitionFiles()


@pytest.fixture
def sources(files: InMemoryDefinitionFiles) -> PlaybookSources:
    return PlaybookSources(files, home=PurePosixPath("/studio"))


async def faults(sources: PlaybookSources, name: str = "review", *, has_prompt: bool = True) -> list[tuple[str, str]]:
    found = await sources.playbook_failures(name, has_prompt=has_prompt)
    return [(".".join(map(str, fault.path)), fault.code) for fault in found]


async def test_a_sound_playbook_can_be_executed(sources: PlaybookSources, files: InMemoryDefinitionFiles) -> None:
    files.edit(PLACE, "prompt: Review it\n")

    assert await faults(sources, has_prompt=False) == []
    assert await sources.playbook_file("review") == f"/studio/{PLACE}"


@pytest.mark.parametrize("name", ["gone", "../review", "a/b", "", "é"])
async def test_there_is_no_such_playbook(sources: PlaybookSources, name: str) -> None:
    assert await faults(sources, name) == [("playbook", "not_found")]
    assert await sources.playbook_file(name) is None


async def test_one_without_a_prompt_needs_that_of_the_action(
    sources: PlaybookSources, files: InMemoryDefinitionFiles
) -> None:
    files.edit(PLACE, "agent: reviewer\n")

    assert await faults(sources, has_prompt=False) == [("prompt", "missing")]
    assert await faults(sources, has_prompt=True) == []


async def test_an_edit_by_hand_that_broke_it_is_told(sources: PlaybookSources, files: InMemoryDefinitionFiles) -> None:
    files.edit(PLACE, "workers: 99\nsteps: [")

    found = await faults(sources)

    assert found
    assert {path for path, _ in found} == {"playbook"}


async def test_one_that_cannot_be_read_is_told(sources: PlaybookSources, files: InMemoryDefinitionFiles) -> None:
    files.make_unreadable(PLACE)

    assert await faults(sources) == [("playbook", "unreadable")]


async def test_a_disk_that_is_away_is_no_fault_of_the_playbook(
    sources: PlaybookSources, files: InMemoryDefinitionFiles
) -> None:
    files.make_unreadable(PLACE, StateUnavailable(retryable=True))

    with pytest.raises(StateUnavailable):
        await faults(sources)


@pytest.mark.parametrize(
    ("flow", "has_prompt", "told"),
    [
        ("prompt: Go\nanything: [1]\n", False, []),
        ("steps: {}\n", True, []),
        ("steps: {}\n", False, [("prompt", "missing")]),
        ("", True, [("flow_yaml", "empty")]),
    ],
)
async def test_an_inline_flow_is_a_mapping_with_a_prompt(
    sources: PlaybookSources, flow: str, has_prompt: bool, told: list[tuple[str, str]]
) -> None:
    found = await sources.flow_failures(flow, has_prompt=has_prompt)

    assert [(str(fault.path[0]), fault.code) for fault in found] == told


async def test_a_fault_of_a_flow_has_its_place(sources: PlaybookSources) -> None:
    [fault] = await sources.flow_failures("a: 1\nb: [", has_prompt=True)

    assert fault.path[0] == "flow_yaml"
    assert fault.line is not None

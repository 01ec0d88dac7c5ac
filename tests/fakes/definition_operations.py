"""The operations on definitions, the real ones, over in-memory files and history."""

from definitions.services.writing import DefinitionWriter
from studio_project.definition_operations import DefinitionOperations
from tests.fakes.clocks import FixedClock
from tests.fakes.definition_files import InMemoryDefinitionFiles
from tests.fakes.definition_history import InMemoryDefinitionHistory
from tests.fakes.processes import FakeProcesses


class InMemoryDefinitionOperations(DefinitionOperations):
    """The half of StudioApplication that is about definitions; `files` and `history` are what it works on."""

    def __init__(self) -> None:
        self.files = InMemoryDefinitionFiles()
        self.history = InMemoryDefinitionHistory()
        writer = DefinitionWriter(history=self.history, files=self.files, writers=FakeProcesses(), clock=FixedClock())
        super().__init__(history=self.history, reconciliations=self.history, files=self.files, writer=writer)

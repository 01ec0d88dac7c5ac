"""InMemoryRuns: every port that the operations on runs need, over one dictionary of runs."""

from tests.fakes.run_reads import InMemoryRunReads
from tests.fakes.run_writes import InMemoryRunWrites


class InMemoryRuns(InMemoryRunReads, InMemoryRunWrites):
    """RunReadPort, RunEvidencePort, InvocationReadPort, RunWritePort, RunTailPort and RunSettlementPort."""

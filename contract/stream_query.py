"""What a stream is asked for: one model for every door, so that all refuse the same."""

from contract.base import ContractModel, Cursor


class StreamQuery(ContractModel):
    """Where a stream goes on: exclusive, after an earlier frame. None or empty is the start."""

    cursor: Cursor | None = None

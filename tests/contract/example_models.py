"""Which model each example of the contract is."""

from pydantic import BaseModel

from contract.actions import LaunchResult
from contract.application import ContractInfo
from contract.artifacts import ArtifactResult, ArtifactSummary, ArtifactVerification
from contract.base import Page
from contract.definitions import (
    DefinitionDetail,
    DefinitionSummary,
    DefinitionVersion,
    DefinitionVersionSummary,
    Reconciliation,
    ReconciliationDetail,
    SaveResult,
    SnapshotResult,
)
from contract.diffs import DefinitionDiff
from contract.events import RecordResult
from contract.projects import AssignResult, DetectedProject, ProjectDeleted, ProjectSummary
from contract.runs import (
    CancelResult,
    EvidencePage,
    InvocationDetail,
    InvocationSummary,
    RunDetail,
    RunSummary,
    TagsResult,
)
from contract.schedule_sets import ApplyResult, ScheduleSet
from contract.schedules import (
    Firing,
    PauseResult,
    ScheduleDeleted,
    ScheduleDetail,
    ScheduleExplanation,
    ScheduleLimits,
    ScheduleResult,
    ScheduleSummary,
)
from contract.triggers import SchedulePreview

MODELS: dict[str, type[BaseModel]] = {
    "contract-info": ContractInfo,
    "artifact-saved": ArtifactResult,
    "artifact-detail": ArtifactResult,
    "artifacts-page": Page[ArtifactSummary],
    "artifact-verification": ArtifactVerification,
    "runs-page": Page[RunSummary],
    "run-detail": RunDetail,
    "run-detail-windowed": RunDetail,
    "run-detail-launched": RunDetail,
    "run-started": RunSummary,
    "launch-result": LaunchResult,
    "launch-repeated": LaunchResult,
    "record-result": RecordResult,
    "cancel-result": CancelResult,
    "tags-result": TagsResult,
    "invocations-page": Page[InvocationSummary],
    "invocation-detail": InvocationDetail,
    "definition-created": SaveResult,
    "definition-saved": SaveResult,
    "definition-edited": DefinitionDetail,
    "definition-detail": DefinitionDetail,
    "definition-rolled-back": SaveResult,
    "definition-deleted": SaveResult,
    "definitions-page": Page[DefinitionSummary],
    "definition-version": DefinitionVersion,
    "definition-versions-page": Page[DefinitionVersionSummary],
    "definition-diff": DefinitionDiff,
    "snapshot-result": SnapshotResult,
    "reconciliations-page": Page[Reconciliation],
    "reconciliation-detail": ReconciliationDetail,
    "reconciliation-resolved": Reconciliation,
    "project-created": ProjectSummary,
    "project-changed": ProjectSummary,
    "project-deleted": ProjectDeleted,
    "project-detected": DetectedProject,
    "projects-page": Page[ProjectSummary],
    "runs-assigned": AssignResult,
    "schedule-created": ScheduleResult,
    "schedule-changed": ScheduleResult,
    "schedule-disabled": ScheduleResult,
    "schedule-deleted": ScheduleDeleted,
    "schedule-detail": ScheduleDetail,
    "schedule-explained": ScheduleExplanation,
    "schedule-limits": ScheduleLimits,
    "schedule-preview": SchedulePreview,
    "schedules-page": Page[ScheduleSummary],
    "schedules-applied": ApplyResult,
    "schedules-planned": ApplyResult,
    "schedules-exported": ScheduleSet,
    "schedules-paused": PauseResult,
    "schedules-resumed": PauseResult,
    "firing": Firing,
    "firing-repeated": Firing,
    "firing-skipped": Firing,
    "firings-page": Page[Firing],
    **{f"evidence-{pane}": EvidencePage for pane in ("messages", "signals", "artifacts", "transitions", "output")},
}

"""HTTP endpoints of projects: parse, one call, answer.

A name stands in the path as it is, with its slashes; what no project can be called finds no project.
"""

from django.http import HttpRequest, HttpResponse
from django.urls import register_converter
from ninja import Router

from contract.base import ContractModel, Page
from contract.projects import (
    AssignResult,
    AssignRuns,
    CreateProject,
    DeleteProject,
    DetectedProject,
    DetectProject,
    PatchProject,
    ProjectDeleted,
    ProjectQuery,
    ProjectSummary,
)
from studio_project.api import body_of, query_of, refuse_body, respond
from studio_project.composition import get_studio
from studio_project.http_errors import CREATED
from studio_project.openapi import describes

router = Router(tags=["projects"])


class _Name:
    """A project's name as a part of a path. One that ends in a slash is the other spelling of a route."""

    regex = "(?:.*[^/])"

    def to_python(self, value: str) -> str:
        """Return the name."""
        return value

    def to_url(self, value: str) -> str:
        """Return the name."""
        return value


register_converter(_Name, "project")


@router.get("/projects/", **describes(Page[ProjectSummary], query=ProjectQuery))
async def list_projects(request: HttpRequest) -> HttpResponse:
    """One page of projects by name, each with what its runs amount to."""
    query = query_of(ProjectQuery, request)
    return respond(await get_studio().list_projects(query))


@router.post("/projects/", **describes(ProjectSummary, status=CREATED, body=CreateProject, errors=("conflict",)))
async def create_project(request: HttpRequest) -> HttpResponse:
    """Make a project."""
    command = body_of(CreateProject, request)
    return respond(await get_studio().create_project(command), status=CREATED)


@router.post("/projects/detect", **describes(DetectedProject, body=DetectProject))
async def detect_project(request: HttpRequest) -> HttpResponse:
    """Say which project a folder belongs to; makes nothing."""
    query = body_of(DetectProject, request)
    return respond(await get_studio().detect_project(query))


@router.post("/projects/{project:project}/assign", **describes(AssignResult, body=AssignRuns, errors=("not_found",)))
async def assign_runs(request: HttpRequest, project: str) -> HttpResponse:
    """Give runs a project, all or nothing."""
    command = body_of(AssignRuns, request)
    return respond(await get_studio().assign_runs(project, command))


@router.get("/projects/{project:project}", **describes(ProjectSummary, errors=("not_found",)))
async def get_project(request: HttpRequest, project: str) -> HttpResponse:
    """A project with what its runs amount to."""
    query_of(ContractModel, request)
    return respond(await get_studio().get_project(project))


@router.patch(
    "/projects/{project:project}", **describes(ProjectSummary, body=PatchProject, errors=("not_found", "conflict"))
)
async def patch_project(request: HttpRequest, project: str) -> HttpResponse:
    """Change a project; a new name goes to all that refers to it."""
    command = body_of(PatchProject, request)
    return respond(await get_studio().patch_project(project, command))


@router.delete(
    "/projects/{project:project}", **describes(ProjectDeleted, query=DeleteProject, errors=("not_found", "conflict"))
)
async def delete_project(request: HttpRequest, project: str) -> HttpResponse:
    """Remove a project; with `detach` from all that refers to it as well."""
    refuse_body(request)
    command = query_of(DeleteProject, request)
    return respond(await get_studio().delete_project(project, command))

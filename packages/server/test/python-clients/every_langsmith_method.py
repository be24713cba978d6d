"""Calls every public method of the Python client `langsmith`, sync and async.

Arguments: the URL with `/api/v1`, the seconds after which the program ends, and a key. Prints `{"works": […], "refused": […], "problems": […]}`: names of
methods that return what their types promise, names of methods that get 501, and a sentence for each of the others.
"""

import asyncio
import faulthandler
import inspect
import io
import json
import sys
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from langsmith import AsyncClient, Client

NOBODY = "00000000-0000-4000-8000-000000000000"
NOW = datetime.now(UTC)
# Parts of the client that send nothing by themselves, or that others call.
WITHOUT_REQUEST = {"aclose", "cleanup", "close", "flush", "flush_compressed_traces"}

Seen = dict[str, Any]


def a_run(**more: Any) -> dict[str, Any]:
    """A trace run, as `create_run` and the batches take it."""
    run_id = uuid.uuid4()
    return {
        "id": run_id,
        "trace_id": run_id,
        "dotted_order": f"{NOW.strftime('%Y%m%dT%H%M%S%f')}Z{run_id}",
        "name": "agent",
        "run_type": "chain",
        "inputs": {"question": "hi"},
        "outputs": {"answer": "ho"},
        "start_time": NOW,
        "end_time": NOW + timedelta(seconds=1),
        "session_name": "written",
        "extra": {"metadata": {"thread_id": "talk"}},
        **more,
    }


def write(client: Any, run: dict[str, Any]) -> Any:
    sent = {key: value for key, value in run.items() if key not in ("name", "run_type", "inputs", "session_name")}
    return client.create_run(run["name"], run["inputs"], run["run_type"], project_name=run["session_name"], **sent)


# Methods that work, in an order in which each finds what it needs. Each gets the client and what the earlier ones returned.
WORKS: dict[str, Callable[[Any, Seen], Any]] = {
    "info": lambda c, _: c.info(),
    "create_run": lambda c, s: write(c, s["run"]),
    "update_run": lambda c, s: c.update_run(s["run"]["id"], trace_id=s["run"]["id"], dotted_order=s["run"]["dotted_order"], tags=["late"]),
    "batch_ingest_runs": lambda c, _: c.batch_ingest_runs(create=[a_run()]),
    "multipart_ingest": lambda c, _: c.multipart_ingest(create=[a_run()]),
    "read_run": lambda c, s: c.read_run(s["run"]["id"]),
    "list_runs": lambda c, _: c.list_runs(project_name="written", limit=10),
    "get_run_stats": lambda c, _: c.get_run_stats(project_names=["written"]),
    "get_run_url": lambda c, s: c.get_run_url(run=s["read_run"]),
    "read_thread": lambda c, _: c.read_thread(thread_id="talk", project_name="written"),
    "list_threads": lambda c, _: c.list_threads(project_name="written"),
    "create_project": lambda c, s: c.create_project(s["project"], description="made"),
    "read_project": lambda c, s: c.read_project(project_name=s["project"]),
    "aread_project": lambda c, s: c.aread_project(project_name=s["project"]),
    "has_project": lambda c, s: c.has_project(s["project"]),
    "list_projects": lambda c, s: c.list_projects(name=s["project"]),
    "update_project": lambda c, s: c.update_project(s["create_project"].id, description="changed"),
    "delete_project": lambda c, s: c.delete_project(project_name=s["project"]),
    "create_feedback": lambda c, s: c.create_feedback(s["run"]["id"], "kind", score=1, trace_id=s["run"]["id"]),
    "evaluate_run": lambda c, s: c.evaluate_run(s["run"]["id"], evaluator()),
    "aevaluate_run": lambda c, s: c.aevaluate_run(s["run"]["id"], evaluator()),
    "read_feedback": lambda c, s: c.read_feedback(s["feedback"]),
    "list_feedback": lambda c, s: c.list_feedback(run_ids=[s["run"]["id"]]),
    "update_feedback": lambda c, s: c.update_feedback(s["feedback"], comment="changed"),
    "delete_feedback": lambda c, s: c.delete_feedback(s["feedback"]),
    "create_presigned_feedback_token": lambda c, s: c.create_presigned_feedback_token(s["run"]["id"], "kind"),
    "create_presigned_feedback_tokens": lambda c, s: c.create_presigned_feedback_tokens(s["run"]["id"], ["kind", "other"]),
    "list_presigned_feedback_tokens": lambda c, s: c.list_presigned_feedback_tokens(s["run"]["id"]),
    "create_feedback_from_token": lambda c, s: c.create_feedback_from_token(s["create_presigned_feedback_token"].url, score=1),
}


def evaluator() -> Any:
    from langsmith.evaluation import RunEvaluator

    class Kind(RunEvaluator):
        def evaluate_run(self, run: Any, example: Any = None, evaluator_run_id: Any = None) -> dict[str, Any]:
            return {"key": "judged", "score": 1}

    return Kind()


def judged(inputs: dict[str, Any]) -> dict[str, Any]:
    return inputs


async def ajudged(inputs: dict[str, Any]) -> dict[str, Any]:
    return inputs


DATASET = {"dataset_id": NOBODY}
# Named arguments of the other methods, where an example of each parameter without a default is not enough.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "add_runs_to_annotation_queue": {"queue_id": NOBODY, "run_ids": [NOBODY]},
    "aevaluate": {"target": ajudged, "data": "examples"},
    "clone_public_dataset": {"token_or_url": NOBODY},
    "create_comparative_experiment": {"name": "x", "experiments": [NOBODY], "reference_dataset": NOBODY},
    "create_example_from_run": {"run": "a trace run", **DATASET},
    "create_example": {"inputs": {"a": 1}, **DATASET},
    "create_examples": {"examples": [{"inputs": {}}], **DATASET},
    "delete_feedback_config": {"feedback_key": "kind"},
    "evaluate": {"target": judged, "data": "examples"},
    "get_experiment_results": {"name": "written"},
    "get_insights_report": {"id": NOBODY, "project_id": NOBODY},
    "list_shared_projects": {"dataset_share_token": NOBODY},
    "poll_insights": {"id": NOBODY, "project_id": NOBODY},
    "read_dataset_version": {"tag": "latest", **DATASET},
    "update_examples": {"updates": [{"id": NOBODY}], **DATASET},
    "upload_csv": {"csv_file": ("x.csv", io.BytesIO(b"a,b")), "input_keys": ["a"], "output_keys": ["b"]},
}
# Methods that send a request of any kind, that no version of the API has, or that need pandas.
NOT_CALLED = {"request_with_retries", "get_test_results", "upload_dataframe"}


def example(name: str, annotation: str) -> Any:
    """A value for a parameter of a method that the server refuses."""
    if "datetime" in annotation:
        return NOW
    if name.endswith("ids") or "Sequence" in annotation or "list[" in annotation:
        return [NOBODY]
    if name.endswith("id") or name == "share_token":
        return NOBODY
    if "dict" in annotation or "Mapping" in annotation or "Config" in annotation:
        return {"type": "continuous"}
    return 1 if "int" in annotation else "name"


def refused_call(method: Any, seen: Seen) -> Any:
    """Calls a method with an example of each parameter that has no default."""
    parameters = inspect.signature(method).parameters
    named = ARGUMENTS.get(method.__name__) or {
        name: example(name, str(parameter.annotation))
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    }
    if "dataset_id" in parameters:
        named = {**named, **DATASET}
    if "run" in named:
        named = {**named, "run": seen["read_run"]}
    positional = [named[name] for name, parameter in parameters.items() if name in named and parameter.kind is parameter.POSITIONAL_ONLY]
    return method(*positional, **{name: value for name, value in named.items() if parameters[name].kind is not parameters[name].POSITIONAL_ONLY})


def attachment_problems(client: Client) -> list[str]:
    """A sentence for each method that does not return the contents of attachments, which the client requests without a key."""
    run = a_run(attachments={"notes/a": ("text/plain", b"it snows"), "empty": ("image/png", b"")})
    client.multipart_ingest(create=[run])
    [in_thread] = [found for thread in client.list_threads(project_name="written") for found in thread["runs"] if found.id == run["id"]]
    read = {
        "read_run": client.read_run(run["id"]),
        "list_runs": next(iter(client.list_runs(run_ids=[run["id"]]))),
        "list_threads": in_thread,
    }
    expected = {"notes/a": ("text/plain", b"it snows"), "empty": ("image/png", b"")}
    problems = []
    for name, found in read.items():
        files = {file: (info["mime_type"], info["reader"].read()) for file, info in (found.attachments or {}).items()}
        if files != expected:
            problems.append(f"Client.{name}: attachments are {files}")
    return problems


async def finished(result: Any) -> Any:
    if inspect.isawaitable(result):
        result = await result
    if hasattr(result, "__aiter__"):
        return [item async for item in result]
    # The results of an experiment are read when its examples are.
    if isinstance(result, dict) and "examples_with_runs" in result:
        result = result["examples_with_runs"]
    return list(result) if hasattr(result, "__next__") else result


def is_refusal(error: BaseException) -> bool:
    """By the server, or by the client: it refuses by itself what `GET /info` does not offer, and what no version of the API has any more."""
    return isinstance(error, NotImplementedError) or "not_supported" in str(error) or "Your LangSmith deployment does not allow" in str(error)


async def main(url: str, key: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"works": [], "refused": [], "problems": []}
    sync = Client(api_url=url, api_key=key, auto_batch_tracing=False)
    for client in (sync, AsyncClient(api_url=url, api_key=key)):
        kind = type(client).__name__
        names = [name for name, value in inspect.getmembers(type(client), inspect.isfunction) if not name.startswith("_")]
        feedback = sync.create_feedback
        seen: Seen = {"run": a_run(), "project": f"made by {kind}"}
        for name in [*(name for name in WORKS if name in names), *(name for name in names if name not in WORKS)]:
            if name in WITHOUT_REQUEST | NOT_CALLED:
                continue
            try:
                if name in ("read_feedback", "evaluate_run"):
                    seen["feedback"] = feedback(seen["run"]["id"], "kind", score=1, trace_id=seen["run"]["id"]).id
                call = (lambda: WORKS[name](client, seen)) if name in WORKS else (lambda: refused_call(getattr(client, name), seen))
                seen[name] = await asyncio.wait_for(finished(call()), 30)
                found["works"].append(f"{kind}.{name}")
            except Exception as error:
                text = f"{type(error).__name__}: {error}".replace("\n", " ")
                if is_refusal(error) and name not in WORKS:
                    found["refused"].append(f"{kind}.{name}")
                else:
                    found["problems"].append(f"{kind}.{name}: {text[:300]}")
    found["problems"].extend(attachment_problems(sync))
    return found


# Shows where a call waits that does not return.
faulthandler.dump_traceback_later(float(sys.argv[2]), exit=True)
print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[3]))))

"""Work "embeddings": the embedding function of the project, or a model of a provider."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from .calls import result_of
from .channel import Channel, Handler
from .failures import ProjectMistake, failure_of
from .frames import Header
from .loaded_files import LoadedFiles
from .logs import send_logs
from .modules import exported

Embed = Callable[[list[str]], Awaitable[Iterable[Iterable[float]]]]


class EmbeddingFailed(Exception):
    """The model has raised. The message has its error."""


async def start(setup: Header, channel: Channel) -> tuple[Header, Handler]:
    """Loads the model."""
    send_logs(channel)
    source = setup["source"]
    documents, query = _of_provider(source["provider"]) if "provider" in source else _of_file(source)

    async def receive(header: Header, parts: list[bytes]) -> tuple[Header, list[bytes]]:
        texts: list[str] = json.loads(parts[0])
        try:
            vectors = await (query if header["is_query"] else documents)(texts)
            return {}, [json.dumps([[float(number) for number in vector] for vector in vectors]).encode()]
        except BaseException as error:  # the error of one call: the others continue
            failure = failure_of(error)
            raise EmbeddingFailed(f"{failure['name']}: {failure['message']}") from error

    return {"modules": LoadedFiles(setup["paths"]).take()}, receive


def _of_provider(name: str) -> tuple[Embed, Embed]:
    try:
        from langchain.embeddings import init_embeddings
    except ImportError:
        raise ProjectMistake("langchain is not installed: install it, or name a function of your own") from None
    try:
        return _of_model(init_embeddings(name))
    except (ImportError, ValueError) as error:
        raise ProjectMistake(str(error)) from error


def _of_file(source: Header) -> tuple[Embed, Embed]:
    file, name = source["file"], source["export"]
    found = exported(file, name)
    if hasattr(found, "embed_documents") and hasattr(found, "embed_query"):
        return _of_model(found)
    if callable(found):
        return _of_function(found), _of_function(found)
    raise ProjectMistake(f"{name} in {file} is neither a function of a list of texts nor an Embeddings object")


def _of_model(model: Any) -> tuple[Embed, Embed]:
    async def query(texts: list[str]) -> list[Any]:
        return [await model.aembed_query(text) for text in texts]

    if hasattr(model, "aembed_documents") and hasattr(model, "aembed_query"):
        return model.aembed_documents, query
    return _of_function(model.embed_documents), _of_function(lambda texts: [model.embed_query(text) for text in texts])


def _of_function(function: Callable[[list[str]], Any]) -> Embed:
    return lambda texts: result_of(function, texts)

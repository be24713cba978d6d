"""The names that the expressions of the vectors use."""

import datetime
import decimal
import ipaddress
import pathlib
import re
import uuid
from collections import Counter, OrderedDict, deque
from zoneinfo import ZoneInfo

import value_classes
from langchain_core import messages
from langchain_core.documents import Document
from langgraph.types import Command, Interrupt, Overwrite, Send
from svc_executor.allowlist import Allowlist

SCOPE = {
    "Counter": Counter,
    "OrderedDict": OrderedDict,
    "deque": deque,
    "ZoneInfo": ZoneInfo,
    "datetime": datetime,
    "decimal": decimal,
    "ipaddress": ipaddress,
    "pathlib": pathlib,
    "re": re,
    "uuid": uuid,
    "messages": messages,
    "Document": Document,
    "Command": Command,
    "Interrupt": Interrupt,
    "Overwrite": Overwrite,
    "Send": Send,
    "classes": value_classes,
    "nan": float("nan"),
    "inf": float("inf"),
}


def allowed() -> Allowlist:
    """An allow-list with the classes of the tests."""
    found = Allowlist()
    found.add(value_classes.CLASSES)
    return found

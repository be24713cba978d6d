"""Prints the versions of this interpreter and of the packages that svc uses, as JSON. Any Python 3 can execute it."""

import json
import sys

PACKAGES = ("langgraph", "langgraph-checkpoint", "langchain-core", "langgraph-sdk", "starlette")


def version_of(package):
    """Returns the version of an installed package, or None."""
    try:
        from importlib import metadata
    except ImportError:  # Python 3.7 and older
        return None
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


print(
    json.dumps(
        {
            "version": ".".join(str(part) for part in sys.version_info[:3]),
            "executable": sys.executable,
            "packages": {package: version_of(package) for package in PACKAGES},
        }
    )
)

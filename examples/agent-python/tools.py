"""The tools of the agent."""

from langchain_core.tools import tool

WEATHER = {"lisbon": "sunny, 24 °C", "oslo": "snow, -3 °C", "zurich": "fog, 8 °C"}


@tool
def weather(city: str) -> str:
    """Returns the weather of a city."""
    return WEATHER.get(city.lower(), "unknown")


@tool
def add(numbers: list[float]) -> float:
    """Adds numbers."""
    return sum(numbers)


TOOLS = [weather, add]

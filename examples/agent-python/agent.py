"""An agent that calls tools. With OPENAI_API_KEY or ANTHROPIC_API_KEY it uses a model of that provider, whose package must be installed."""

import os

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model

from scripted_model import ScriptedModel
from tools import TOOLS


def load_model():
    if os.environ.get("OPENAI_API_KEY"):
        return init_chat_model(os.environ.get("MODEL", "openai:gpt-5-mini"))
    if os.environ.get("ANTHROPIC_API_KEY"):
        return init_chat_model(os.environ.get("MODEL", "anthropic:claude-sonnet-4-5"))
    return ScriptedModel()


agent = create_agent(load_model(), TOOLS)

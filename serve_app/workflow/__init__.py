"""The turn: a LangGraph workflow and the service that runs it once per message."""

"""The public HTTP API: what comes in is checked here, and every error leaves as a problem document."""

"""The application: wiring, the HTTP interface and the turn."""

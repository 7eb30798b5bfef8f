"""One Ray Serve deployment a file, thin; ``calls`` is the only way from one to another."""

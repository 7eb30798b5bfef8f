"""What a pack's files promise one another: one module a file or theme, each ``(checked) -> complaints``."""

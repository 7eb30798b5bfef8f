"""Text that can be written down: halves of surrogate pairs, which JSON may smuggle in, can't."""

import json
from typing import Any


def is_unicode(value: Any) -> bool:
    """Whether every text in a JSON value, keys included, can be encoded."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True

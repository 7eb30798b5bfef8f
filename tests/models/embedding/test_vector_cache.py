"""The cache of vectors by text."""

from models.embedding.vector_cache import VectorCache


def test_what_was_used_last_is_kept() -> None:
    cache = VectorCache(2)
    cache.keep({"one": b"1", "two": b"2"})
    cache.found(["one"])
    cache.keep({"three": b"3"})

    assert cache.found(["one", "two", "three"]) == {"one": b"1", "three": b"3"}


def test_a_cache_without_room_keeps_nothing() -> None:
    cache = VectorCache(0)
    cache.keep({"one": b"1"})

    assert cache.found(["one"]) == {}

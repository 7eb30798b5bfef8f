"""A pack together with the lines of its files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from configs.packs.complaint import Complaint
from configs.packs.types import LocalText, Pack
from configs.packs.yaml_lines import Path, YamlFile, dotted


@dataclass(frozen=True)
class Checked:
    """The pack under check and where its values stand."""

    pack: Pack
    files: dict[str, YamlFile]

    def complaint(self, file: str, message: str, *path: str | int) -> Complaint:
        """A complaint about the value at ``path`` of ``file``."""
        return self.files[file].complaint(message, *path)

    def languages(self, file: str, text: LocalText, *path: str | int) -> Iterator[Complaint]:
        """Whether ``text`` stands there in each of the pack's languages and in no other."""
        wanted = self.pack.domain.languages
        for language in wanted:
            if not text.get(language, "").strip():
                yield self.complaint(file, f"has no text in {language!r}; add it", *path)
        for language in text:
            if language not in wanted:
                message = f"{language!r} is none of the pack's languages ({', '.join(wanted)})"
                yield self.complaint(file, message, *path, language)

    def duplicates(self, file: str, names: Sequence[tuple[str, Path]], what: str) -> Iterator[Complaint]:
        """A complaint for each name that an earlier path has already."""
        first: dict[str, Path] = {}
        for name, path in names:
            if name in first:
                message = f"{what} {name!r} exists already ({dotted(first[name])}); choose another"
                yield self.complaint(file, message, *path)
            first.setdefault(name, path)

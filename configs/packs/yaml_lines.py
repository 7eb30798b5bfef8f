"""YAML that remembers on which line each value stands."""

from dataclasses import dataclass, field
from typing import Any

import yaml

from configs.packs.complaint import Complaint

#: Where a value stands in its file: keys and positions from the top, ``("queries", 3, "cypher")``.
Path = tuple[str | int, ...]

# The C parser reads a pack about ten times faster; both give the same nodes and marks.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def dotted(path: Path) -> str:
    """A path as a reader writes it.

    >>> dotted(("queries", 3, "cypher"))
    'queries[3].cypher'
    """
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


@dataclass(frozen=True)
class YamlFile:
    """One file's plain data, the line of each path (from 1), and what is wrong with it as YAML.

    ``data`` is ``None`` where the file is empty or can't be parsed. Keys are always text, even where
    YAML would read a truth value or a number (``no``, ``1``).
    """

    file: str
    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    complaints: tuple[Complaint, ...] = ()

    def known(self, path: Path) -> Path:
        """The longest beginning of ``path`` that the file has."""
        while path and path not in self.lines:
            path = path[:-1]
        return path

    def line(self, *path: str | int) -> int:
        """The line of ``path``, or of its nearest ancestor that the file has."""
        return self.lines.get(self.known(path), 1)

    def complaint(self, message: str, *path: str | int) -> Complaint:
        """A complaint about the value at ``path``, which it names."""
        return Complaint(
            file=self.file, line=self.line(*path), message=f"{dotted(path)}: {message}" if path else message
        )


def read_yaml(file: str, text: str, *, first_line: int = 1) -> YamlFile:
    """Parse ``text``, which begins on line ``first_line`` of ``file``.

    Besides syntax errors, a key given twice in one mapping is a complaint, since YAML keeps the last one
    silently. A value used again by reference (``*name``) has the line of the reference.
    """
    lines: dict[Path, int] = {(): first_line}
    complaints: list[Complaint] = []
    built: dict[int, Any] = {}
    open_nodes: set[int] = set()
    loader = _Loader(text)

    def complain(mark: Any, message: str) -> None:
        complaints.append(Complaint(file=file, line=first_line + (mark.line if mark else 0), message=message))

    def build(node: yaml.Node, path: Path) -> Any:
        if id(node) in open_nodes:
            complaints.append(Complaint(file=file, line=lines[path], message=f"{dotted(path)}: contains itself"))
            return None
        if id(node) not in built:
            open_nodes.add(id(node))
            built[id(node)] = fresh(node, path)
            open_nodes.discard(id(node))
        return built[id(node)]

    def fresh(node: yaml.Node, path: Path) -> Any:
        if isinstance(node, yaml.MappingNode):
            return mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            items = []
            for position, item in enumerate(node.value):
                lines[*path, position] = first_line + item.start_mark.line
                items.append(build(item, (*path, position)))
            return items
        try:
            return loader.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            reason = str(getattr(error, "problem", None) or error)
            complain(node.start_mark, f"{dotted(path)}: {node.value!r} can't be read ({reason})")
            return None

    def mapping(node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                complain(key.start_mark, f"{dotted(path)}: a key must be a plain text")
                continue
            name = str(key.value)
            below = (*path, name)
            if name in result:
                first = lines[below]
                complain(key.start_mark, f"{dotted(below)}: given twice, first on line {first}; remove one")
                continue
            lines[below] = first_line + key.start_mark.line
            result[name] = build(value, below)
        return result

    try:
        node = loader.get_single_node()
        data = None if node is None else build(node, ())
    except yaml.MarkedYAMLError as error:
        complain(error.problem_mark or error.context_mark, f"not valid YAML: {error.problem or error.context}")
        data = None
    except yaml.reader.ReaderError as error:
        line = first_line + text.count("\n", 0, error.position)
        complaints.append(Complaint(file=file, line=line, message=f"not valid YAML: {error.reason}"))
        data = None
    finally:
        loader.dispose()
    return YamlFile(file=file, data=data, lines=lines, complaints=tuple(complaints))

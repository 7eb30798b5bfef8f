"""A document's head (YAML between two lines ``---``) and its body."""

from pydantic import ValidationError

from configs.packs.complaint import Complaint
from configs.packs.plain_words import in_plain_words
from configs.packs.types import DocumentHead, SourceDocument
from configs.packs.yaml_lines import YamlFile, read_yaml
from contracts.documents import DocumentGovernance

_FENCE = "---"


def read_document(file: str, text: str) -> tuple[SourceDocument | None, YamlFile, list[Complaint]]:
    """The document in ``text``, its head with line numbers, and what is wrong with it.

    Without a document there is at least one complaint.
    """
    lines = text.split("\n")
    if lines[0].strip() != _FENCE:
        return None, YamlFile(file), [_no_head(file, 1, f"must begin with a line {_FENCE!r} and its governance")]
    end = next((number for number, line in enumerate(lines[1:], 1) if line.strip() == _FENCE), None)
    if end is None:
        return None, YamlFile(file), [_no_head(file, 1, f"its governance is not closed by a line {_FENCE!r}")]
    head = read_yaml(file, "\n".join(lines[1:end]), first_line=2)
    if head.data is None:
        return None, head, list(head.complaints) or [_no_head(file, 2, "its governance is empty")]
    try:
        read = DocumentHead.model_validate(head.data)
    except ValidationError as error:
        return None, head, [*head.complaints, *in_plain_words(error, head, DocumentHead)]
    governance = DocumentGovernance.model_validate(read.model_dump(exclude={"questions"}))
    body = "\n".join(lines[end + 1 :])
    document = SourceDocument(path=file, governance=governance, body=body, body_line=end + 2, questions=read.questions)
    return document, head, list(head.complaints)


def _no_head(file: str, line: int, message: str) -> Complaint:
    return Complaint(file=file, line=line, message=message)

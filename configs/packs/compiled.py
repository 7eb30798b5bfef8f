"""The names of a compiled pack's files: written by ``authoring.compile``, read by the deployments."""

MANIFEST = "manifest.json"
PACK = "pack.json"
LEXICON = "lexicon.json"
HEAD = "head.npz"
SNAPSHOT = "snapshot"

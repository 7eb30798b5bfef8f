#!/bin/sh
# Resolve pyproject.toml's groups into one hash-locked file each; `make lock` runs this.
# kglite stays out: its index keeps only the last patch of each minor version, so an exact pin would
# break one day. `make setup` installs it by its range, and the contract suite judges what comes.
set -eu
cd "$(dirname "$0")/.."
compile() {
    out="requirements/$1.lock"
    shift
    .venv/bin/uv pip compile --quiet --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
        --no-annotate --no-header --no-emit-package kglite "$@" pyproject.toml requirements/build.in -o "$out"
}
# dev first and widest; the others take its versions, so that all groups agree.
compile dev --extra cpu --extra redis --extra dev
compile cpu --extra cpu --constraint requirements/dev.lock
compile redis --extra cpu --extra redis --constraint requirements/dev.lock
compile gpu --extra gpu --constraint requirements/dev.lock

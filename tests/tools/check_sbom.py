"""Reads a CycloneDX document from standard input and fails unless it has the schema of its version."""

import importlib.util
import json
import pathlib
import sys

import jsonschema_rs

# The library itself, whose dependencies are not installed, is not loaded.
SCHEMAS = pathlib.Path(importlib.util.find_spec("cyclonedx").submodule_search_locations[0]) / "schema" / "_res"


def schema(name):
    return json.loads((SCHEMAS / f"{name}.SNAPSHOT.schema.json").read_text())


document = json.load(sys.stdin)
named = [
    (f"http://cyclonedx.org/schema/{name}.SNAPSHOT.schema.json", schema(name)) for name in ("spdx", "jsf-0.82")
]
validator = jsonschema_rs.Draft7Validator(
    schema(f"bom-{document['specVersion']}"), registry=jsonschema_rs.Registry(named), validate_formats=True
)
validator.validate(document)

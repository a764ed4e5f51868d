"""Validates a file of resources against the schemas of Kubernetes, and prints them as a JSON array.

The arguments are the file and the versions of Kubernetes.
"""

import json
import pathlib
import sys

import kubernetes_validate
import yaml


def main():
    file, *versions = sys.argv[1:]
    resources = [resource for resource in yaml.safe_load_all(pathlib.Path(file).read_text()) if resource]
    for resource in resources:
        for version in versions:
            try:
                kubernetes_validate.validate(resource, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                place = "/".join(str(part) for part in error.path)
                name = f"{resource['kind']} {resource['metadata']['name']}"
                raise SystemExit(f"{name} for Kubernetes {version}: {place}: {error.message}") from None
    print(json.dumps(resources))


main()

"""Prints the resources of a kustomization as a JSON array, after their validation against the schemas of Kubernetes.

The arguments are the directory and the versions of Kubernetes. This knows of kustomize only what deploy/kubernetes uses, and fails
at anything else.
"""

import json
import pathlib
import sys

import kubernetes_validate
import yaml

HEAD = {"apiVersion", "kind"}


def only(value, keys):
    unknown = set(value) - keys
    if unknown:
        raise SystemExit(f"{sorted(unknown)} in {value}: kubernetes.py does not know this part of kustomize")


def resources_of(path):
    if path.is_dir():
        return build(path)
    return [resource for resource in yaml.safe_load_all(path.read_text()) if resource]


def config_map(directory, generator):
    only(generator, {"name", "files"})
    data = {file: (directory / file).read_text() for file in generator["files"]}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": generator["name"]}, "data": data}


def patched(resources, patch):
    only(patch, {"target", "patch"})
    only(patch["target"], {"kind", "name"})
    kind, name = patch["target"]["kind"], patch["target"]["name"]
    [resource] = [found for found in resources if (found["kind"], found["metadata"]["name"]) == (kind, name)]
    for operation in yaml.safe_load(patch["patch"]):
        only(operation, {"op", "path", "value"})
        *parents, last = operation["path"].lstrip("/").split("/")
        value = resource
        for key in parents:
            value = value[int(key) if isinstance(value, list) else key]
        if not isinstance(value, dict) or (last in value) != {"add": False, "replace": True}[operation["op"]]:
            raise SystemExit(f"{kind} {name}: {operation['op']} {operation['path']}")
        value[last] = operation["value"]


def rename_images(resource, images):
    for container in resource.get("spec", {}).get("template", {}).get("spec", {}).get("containers", []):
        for image in images:
            only(image, {"name", "newName", "digest"})
            if container["image"] == image["name"]:
                container["image"] = f"{image['newName']}@{image['digest']}"
                break


def build(directory):
    kustomization = yaml.safe_load((directory / "kustomization.yaml").read_text())
    only(kustomization, HEAD | {"namespace", "resources", "configMapGenerator", "images", "patches"})
    resources = [resource for path in kustomization["resources"] for resource in resources_of(directory / path)]
    resources += [config_map(directory, generator) for generator in kustomization.get("configMapGenerator", [])]
    for patch in kustomization.get("patches", []):
        patched(resources, patch)
    for resource in resources:
        rename_images(resource, kustomization.get("images", []))
        if resource["kind"] != "Namespace":
            resource["metadata"]["namespace"] = kustomization["namespace"]
    return resources


def main():
    directory, *versions = sys.argv[1:]
    resources = build(pathlib.Path(directory))
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

"""Python's client (Debian: python3-kubernetes) against `orch up --ephemeral`, which the fixture of
docs/test-an-operator/python.md starts."""

import os
import subprocess
import tempfile
import time

import pytest
from kubernetes import client, config, watch


@pytest.fixture(scope="session")
def api():
    server = subprocess.Popen(
        [os.environ.get("ORCH", "orch"), "up", "--ephemeral", "--profile=kubernetes", "--emulated-version=1.23"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    text = ""
    while "current-context:" not in text:
        line = server.stdout.readline()
        assert line, "the server did not start"
        text += line
    with tempfile.NamedTemporaryFile("w", suffix=".kubeconfig") as file:
        file.write(text)
        file.flush()
        yield config.new_client_from_config(file.name)
    server.stdin.close()
    server.wait()


def test_config_map(api):
    core = client.CoreV1Api(api)
    core.create_namespaced_config_map("default", {"metadata": {"name": "a"}, "data": {"k": "v"}})
    assert core.read_namespaced_config_map("a", "default").data == {"k": "v"}
    patched = core.patch_namespaced_config_map("a", "default", {"data": {"k": "w"}})
    assert patched.data == {"k": "w"}
    core.delete_namespaced_config_map("a", "default")
    with pytest.raises(client.ApiException) as refused:
        core.read_namespaced_config_map("a", "default")
    assert refused.value.status == 404


def test_conflict(api):
    core = client.CoreV1Api(api)
    made = core.create_namespaced_config_map("default", {"metadata": {"name": "b"}})
    made.data = {"by": "one"}
    core.replace_namespaced_config_map("b", "default", made)
    made.data = {"by": "two"}
    with pytest.raises(client.ApiException) as refused:
        core.replace_namespaced_config_map("b", "default", made)
    assert refused.value.status == 409


def test_deployment_and_label_selector(api):
    apps = client.AppsV1Api(api)
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
    spec = {"selector": {"matchLabels": labels}, "template": template, "replicas": 2}
    apps.create_namespaced_deployment("default", {"metadata": {"name": "web", "labels": labels}, "spec": spec})
    found = apps.list_namespaced_deployment("default", label_selector="app=web").items
    assert [item.spec.replicas for item in found] == [2]
    scaled = apps.patch_namespaced_deployment_scale("web", "default", {"spec": {"replicas": 5}})
    assert scaled.spec.replicas == 5


def test_watch(api):
    core = client.CoreV1Api(api)
    version = core.list_namespaced_config_map("default").metadata.resource_version
    core.create_namespaced_config_map("default", {"metadata": {"name": "watched"}})
    watcher = watch.Watch()
    for event in watcher.stream(
        core.list_namespaced_config_map, "default", resource_version=version, timeout_seconds=10
    ):
        assert (event["type"], event["object"].metadata.name) == ("ADDED", "watched")
        watcher.stop()


def test_custom_resource(api):
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    client.ApiextensionsV1Api(api).create_custom_resource_definition(
        {
            "metadata": {"name": "things.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
            },
        }
    )
    custom = client.CustomObjectsApi(api)
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"size": 3}}
    custom.create_namespaced_custom_object("example.com", "v1", "default", "things", thing)
    assert custom.get_namespaced_custom_object("example.com", "v1", "default", "things", "a")["spec"] == {"size": 3}


def test_namespace_goes(api):
    core = client.CoreV1Api(api)
    core.create_namespace({"metadata": {"name": "going"}})
    core.create_namespaced_config_map("going", {"metadata": {"name": "a"}})
    core.delete_namespace("going")
    deadline = time.monotonic() + 20
    while "going" in [item.metadata.name for item in core.list_namespace().items]:
        assert time.monotonic() < deadline, "the namespace is still there"
        time.sleep(0.05)

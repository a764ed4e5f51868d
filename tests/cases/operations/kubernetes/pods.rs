//! The pods: their probes, their stop, their rights and their settings.

use super::{array, container, environment, named, servers, variable, workloads};
use crate::operations::{documented_memory, drain_seconds, read, text, variables_of};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{SharedWorld, on_shapes, without_deployment};
use url::Url;

/// The directory of the mounted secrets.
const SECRETS: &str = "/run/secrets/latchkey/";

/// The program in the image of a container, which has a digest.
fn program(container: &Value) -> &str {
    let (image, _) = text(&container["image"]).split_once("@sha256:").unwrap();
    image.rsplit('/').next().unwrap()
}

/// Both programs answer these routes, and the issuer the one of its keys.
async fn the_routes_of_probes_and_keys_exist(world: SharedWorld) {
    let anyone = world.anyone();
    let (issuers, apis) = (world.at_each_issuer(&anyone), world.at_each_api(&anyone));
    for (name, container) in servers() {
        let server = if name == "api-server" {
            &apis[0]
        } else {
            &issuers[0]
        };
        for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
            let probe = &container[probe]["httpGet"];
            assert_eq!(probe["port"], "http", "{name}");
            server.get(text(&probe["path"])).await.expect(200);
        }
    }
    let api = container(&named("Deployment", "api-server")["spec"]["template"]);
    let keys = Url::parse(variable(api, "LATCHKEY_JWKS_URL")).unwrap();
    let service = named("Service", keys.host_str().unwrap());
    assert_eq!(service["spec"]["ports"][0]["port"], json!(keys.port().unwrap()));
    issuers[0].get(keys.path()).await.expect(200);
}

/// Kubernetes kills a container that has not ended by then, and its pause counts.
fn a_stop_lasts_longer_than_the_pause_and_the_drain() {
    let page = read("docs/operate/install.md");
    let documented = format!(
        "serves for five more seconds, until the proxies know, and then has {} seconds",
        drain_seconds()
    );
    assert!(page.contains(&documented), "{documented}");
    for (name, container) in servers() {
        let pod = &named("Deployment", name)["spec"]["template"]["spec"];
        let pause = container["lifecycle"]["preStop"]["sleep"]["seconds"]
            .as_u64()
            .unwrap();
        assert_eq!(pause, 5, "{name}");
        let stop = pod["terminationGracePeriodSeconds"].as_u64().unwrap();
        // Then the server finishes its writes and closes the database.
        assert!(stop >= pause + drain_seconds() + 5, "{name}: {stop}");
    }
}

fn the_pods_are_restricted() {
    for (name, pod) in workloads() {
        let spec = &pod["spec"];
        let user = json!({ "runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532,
                           "seccompProfile": { "type": "RuntimeDefault" } });
        assert_eq!(spec["securityContext"], user, "{name}");
        let restricted = json!({ "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                                 "capabilities": { "drop": ["ALL"] } });
        assert_eq!(container(pod)["securityContext"], restricted, "{name}");
        assert_eq!(spec["automountServiceAccountToken"], false, "{name}");
        // Variables of services could have the names of settings.
        assert_eq!(spec["enableServiceLinks"], false, "{name}");
    }
}

/// The memory is enough for the measured parts, and the processor time is that from which the page derives it.
fn the_resources_of_a_pod_are_the_documented_ones() {
    let (process, all) = documented_memory();
    let page = read("docs/operate/performance.md");
    assert!(page.contains(" limit a replica to two cores,") && page.contains("\n- A pod requests a core. "));
    assert!(page.contains("From 70 % of the core on, the autoscaler adds a pod."));
    for (name, container) in servers() {
        let resources = &container["resources"];
        let cores = (&resources["requests"]["cpu"], &resources["limits"]["cpu"]);
        assert_eq!(cores, (&json!("1"), &json!("2")), "{name}");
    }
    for (name, pod) in workloads() {
        let memory = |bound: &str| {
            let memory = text(&container(pod)["resources"][bound]["memory"]);
            memory.strip_suffix("Mi").unwrap().parse::<u64>().unwrap()
        };
        let most = if name == "migrations" { process } else { all };
        assert!(
            memory("requests") >= process && memory("limits") >= most,
            "{name}"
        );
    }
}

/// Each pod gets the secrets of its own settings only, which the page tells how to create.
fn each_pod_sets_settings_of_its_program() {
    let page = read("docs/operate/install.md");
    for (name, pod) in workloads() {
        let container = container(pod);
        let program = program(container);
        let defined = variables_of(program);
        let mut files = BTreeSet::new();
        for (variable, value) in environment(container) {
            assert!(defined.contains(variable), "{name}: {variable}");
            files.extend(value.strip_prefix(SECRETS));
        }
        let volumes = array(&pod["spec"]["volumes"]);
        let names =
            |list: &'static [Value]| list.iter().map(|one| text(&one["name"])).collect::<BTreeSet<_>>();
        assert_eq!(names(array(&container["volumeMounts"])), names(volumes), "{name}");
        let secrets: Vec<&Value> = volumes.iter().filter_map(|volume| volume.get("secret")).collect();
        assert_eq!(secrets.len(), 1, "{name}");
        assert_eq!(secrets[0]["secretName"], program, "{name}");
        let create = format!("kubectl --namespace latchkey create secret generic {program} ");
        let (_, command) = page.split_once(&create).unwrap();
        let command = command
            .lines()
            .take_while(|line| !line.starts_with("kubectl") && !line.starts_with("```"));
        let words = command.flat_map(str::split_whitespace);
        let created: BTreeSet<&str> = words
            .filter_map(|word| word.strip_prefix("--from-file=")?.split('=').next())
            .collect();
        if name == program {
            assert_eq!(files, created, "{name}");
        }
        assert!(files.is_subset(&created), "{name}");
    }
}

/// The programs would start with the environment of their pods, the settings file and the secrets.
async fn the_settings_of_the_pods_are_valid(world: SharedWorld) {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let settings = text(&named("ConfigMap", "latchkey-settings")["data"]["latchkey.toml"]);
    // The example trusts a network of documentation, so that an installation names its own.
    assert!(settings.contains("trusted-proxies = [\"192.0.2."), "{settings}");
    std::fs::write(dir.join("latchkey.toml"), settings).unwrap();
    let key = "A".repeat(43);
    let database = format!("sqlite:{}", dir.join("missing.db").display());
    for (name, secret) in [
        ("master-key", key.as_str()),
        ("account-key", key.as_str()),
        ("database-url", database.as_str()),
        ("redis-url", "redis://localhost"),
        ("smtp-url", "smtps://mail.example.org"),
    ] {
        std::fs::write(dir.join(name), secret).unwrap();
    }
    for (name, pod) in workloads() {
        let container = container(pod);
        let variables = environment(container).into_iter();
        let mut variables: Vec<String> = variables.map(|(name, value)| format!("{name}={value}")).collect();
        variables.push("LATCHKEY_LISTEN=0.0.0.0:8080".to_owned());
        let here = format!("{}/", dir.display());
        let variables = variables
            .join(" ")
            .replace("/etc/latchkey/", &here)
            .replace(SECRETS, &here);
        let command = match array(&container["args"]) {
            [] => "config check".to_owned(),
            // Its plan changes nothing.
            [command] => format!("{} --plan", text(command)),
            several => panic!("{name}: {several:?}"),
        };
        let program = program(container);
        let output = world.bash(&format!("env -i PATH=\"$PATH\" {variables} {program} {command}"));
        assert!(output.status.success(), "{name}: {output:?}");
    }
}

on_shapes!(the_routes_of_probes_and_keys_exist: split Split);
on_shapes!(the_settings_of_the_pods_are_valid: sqlite Sqlite);

without_deployment!(
    a_stop_lasts_longer_than_the_pause_and_the_drain,
    the_pods_are_restricted,
    the_resources_of_a_pod_are_the_documented_ones,
    each_pod_sets_settings_of_its_program,
);

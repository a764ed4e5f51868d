//! The Helm chart in `deploy/helm`: with the values of its example it has the manifests of the kustomization.

use super::{MANIFESTS, VERSIONS, validated};
use crate::operations::{read, run, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::LazyLock;
use tests::{root, tool, without_deployment};

const EXAMPLE: [&str; 2] = ["--values", "example.yaml"];

static CHART: LazyLock<Vec<Value>> = LazyLock::new(|| validated(&run(template().args(EXAMPLE))));

fn helm() -> Command {
    let mut helm = Command::new(tool("python/kubernetes/helm/helm"));
    helm.current_dir(root().join("deploy/helm"));
    helm
}

/// The command that renders the chart.
fn template() -> Command {
    let mut helm = helm();
    helm.args(["template", "latchkey", "latchkey"]);
    helm
}

/// The manifests by kind and name, without what only one of the tools adds.
fn comparable(manifests: &[Value]) -> BTreeMap<String, Value> {
    let own = manifests
        .iter()
        .filter(|manifest| manifest["kind"] != "Namespace");
    own.map(|manifest| {
        let name = format!(
            "{} {}",
            text(&manifest["kind"]),
            text(&manifest["metadata"]["name"])
        );
        let mut manifest = manifest.clone();
        let metadata = manifest["metadata"].as_object_mut().unwrap();
        metadata.remove("namespace");
        let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
        let annotations = annotations.as_object_mut().unwrap();
        annotations.retain(|name, _| !name.starts_with("helm.sh/"));
        if let Some(settings) = manifest.pointer_mut("/data/latchkey.toml") {
            let lines = settings.as_str().unwrap().lines();
            let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
            *settings = lines.collect();
        }
        (name, manifest)
    })
    .collect()
}

fn helm_finds_nothing() {
    run(helm().args(["lint", "--strict", "latchkey"]).args(EXAMPLE));
    let version = run(helm().args(["version", "--template", "{{ .Version }}"]));
    let (version, _) = version.trim_start_matches('v').rsplit_once('.').unwrap();
    let documented = format!("(rendered by {version} in the tests)");
    assert!(
        read("docs/operate/install.md").contains(&documented),
        "{documented}"
    );
    let chart = read("deploy/helm/latchkey/Chart.yaml");
    for line in [
        format!("version: {}", env!("CARGO_PKG_VERSION")),
        format!("kubeVersion: \">={}.0-0\"", VERSIONS[0]),
    ] {
        assert!(chart.lines().any(|found| found == line), "{line}");
    }
}

/// The migrations have a map of their own: Helm deletes and creates that of a hook at each upgrade, while the
/// servers mount theirs.
fn the_chart_has_the_manifests_of_the_kustomization() {
    let mut chart = comparable(&CHART);
    let of_migrations = chart.remove("ConfigMap migrations").unwrap();
    let of_servers = &chart["ConfigMap latchkey-settings"];
    assert_eq!(of_migrations["data"], of_servers["data"]);
    let migrations = chart.get_mut("Job migrations").unwrap();
    let volumes = &mut migrations["spec"]["template"]["spec"]["volumes"];
    assert_eq!(
        volumes[0],
        json!({ "name": "settings", "configMap": { "name": "migrations" } })
    );
    volumes[0]["configMap"]["name"] = json!("latchkey-settings");
    for (name, manifest) in comparable(&MANIFESTS) {
        assert_eq!(chart.remove(&name), Some(manifest), "{name}");
    }
    assert!(chart.is_empty(), "{chart:?}");
}

/// Helm creates the settings of the migrations before these, and waits for them before it creates the rest.
fn the_settings_and_the_migrations_come_first() {
    let mut hooks: Vec<(i32, &str, &str)> = Vec::new();
    for manifest in &*CHART {
        let annotations = &manifest["metadata"]["annotations"];
        if annotations["helm.sh/hook"] == "pre-install,pre-upgrade" {
            let weight = text(&annotations["helm.sh/hook-weight"]).parse().unwrap();
            let name = text(&manifest["metadata"]["name"]);
            hooks.push((weight, text(&manifest["kind"]), name));
        }
    }
    hooks.sort_unstable();
    assert_eq!(hooks, [(-1, "ConfigMap", "migrations"), (0, "Job", "migrations")]);
}

fn helm_keeps_the_settings_of_the_servers() {
    let kept = CHART.iter().filter(|manifest| {
        let annotations = &manifest["metadata"]["annotations"];
        annotations["helm.sh/resource-policy"] == "keep" && annotations["helm.sh/hook"].is_null()
    });
    let names: Vec<&str> = kept.map(|manifest| text(&manifest["metadata"]["name"])).collect();
    assert_eq!(names, ["latchkey-settings"]);
}

/// The error of Helm with these arguments.
fn refusal(arguments: &[&str]) -> String {
    let output = template().args(arguments).output().unwrap();
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn missing_and_unknown_values_are_refused() {
    let error = refusal(&[]);
    for name in ["/host", "/trustedProxies", "/authServer/image", "/network/redis"] {
        assert!(error.contains(name), "{name}: {error}");
    }
    for (value, name) in [
        ("ingress.clasName=nginx", "clasName"),
        ("authServer.image=auth-server:latest", "/authServer/image"),
        ("apiServer.replicas.min=1", "/apiServer/replicas/min"),
    ] {
        let error = refusal(&[EXAMPLE[0], EXAMPLE[1], "--set", value]);
        assert!(error.contains(name), "{name}: {error}");
    }
}

/// Helm prints the notes after an installation, and not with the manifests.
fn the_notes_have_the_documented_command() {
    let notes = read("deploy/helm/latchkey/templates/NOTES.txt");
    let (_, command) = notes.split_once("\nkubectl ").unwrap();
    let (command, _) = command.split_once("\n{{- end }}").unwrap();
    let command = command.replace("{{ .Release.Namespace }}", "latchkey");
    assert!(read("docs/operate/install.md").contains(&command), "{command}");
}

/// No value is written into a template.
fn each_value_reaches_the_manifests() {
    let digest = "1".repeat(64);
    let (issuer, api) = (format!("issuer@sha256:{digest}"), format!("api@sha256:{digest}"));
    let values = [
        ("host", "login.example.net"),
        ("trustedProxies[0]", "198.51.100.0/28"),
        ("settings", "log-format = \"json\""),
        ("authServer.image", issuer.as_str()),
        ("authServer.secret", "secret-of-issuer"),
        ("authServer.replicas.min", "31"),
        ("authServer.replicas.max", "32"),
        ("authServer.resources.limits.memory", "33Mi"),
        ("apiServer.image", api.as_str()),
        ("apiServer.secret", "secret-of-api"),
        ("apiServer.replicas.min", "34"),
        ("apiServer.replicas.max", "35"),
        ("apiServer.resources.limits.memory", "36Mi"),
        ("migrations.resources.limits.memory", "37Mi"),
        ("ingress.className", "other-class"),
        ("ingress.tlsSecret", "secret-of-host"),
        ("ingress.annotations.example", "annotation-of-ingress"),
        ("network.postgresql", "198.51.100.1/32"),
        ("network.redis", "198.51.100.2/32"),
        ("network.smtp", "198.51.100.3/32"),
        ("network.ingressController.namespace", "namespace-of-proxy"),
        ("network.ingressController.name", "name-of-proxy"),
        ("network.prometheus.namespace", "namespace-of-scraper"),
        ("network.prometheus.name", "name-of-scraper"),
    ];
    let mut helm = template();
    helm.args(EXAMPLE);
    helm.args(["--set", "network.publicServers={api-server}"]);
    for (name, value) in values {
        helm.args(["--set", &format!("{name}={value}")]);
    }
    let rendered = run(&mut helm);
    assert!(rendered.contains("values: [\"api-server\"] }"), "{rendered}");
    for (name, value) in values {
        assert!(rendered.contains(value), "{name}: {value}");
    }
}

without_deployment!(
    helm_finds_nothing,
    the_chart_has_the_manifests_of_the_kustomization,
    the_settings_and_the_migrations_come_first,
    helm_keeps_the_settings_of_the_servers,
    missing_and_unknown_values_are_refused,
    the_notes_have_the_documented_command,
    each_value_reaches_the_manifests,
);

//! The manifests in `deploy/kubernetes`: the example of an installation, and so the base below it. The chart has
//! the same.

mod chart;
mod pods;

use super::{read, run, text};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::LazyLock;
use tests::{ISSUER_PATHS, root, tool, without_deployment};

/// The versions of Kubernetes whose schemas the manifests satisfy: the oldest one that pauses before a stop
/// without a shell in the image, and the newest one that the validator knows.
const VERSIONS: [&str; 2] = ["1.30", "1.37"];

/// The manifests of the example.
static MANIFESTS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let example = root().join("deploy/kubernetes/example");
    let kubectl = tool("python/kubernetes/kubectl/kubectl");
    validated(&run(Command::new(kubectl).arg("kustomize").arg(example)))
});

/// The manifests of this YAML, after their validation. The name of the settings has no hash any more.
fn validated(rendered: &str) -> Vec<Value> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), rendered).unwrap();
    let printed = run(Command::new(tool("python/bin/python"))
        .arg(root().join("tests/tools/kubernetes.py"))
        .arg(file.path())
        .args(VERSIONS));
    let manifests: Vec<Value> = serde_json::from_str(&printed).unwrap();
    let mut names = manifests
        .iter()
        .map(|manifest| text(&manifest["metadata"]["name"]));
    let name = names.find(|name| name.starts_with("latchkey-settings-"));
    let name = name.unwrap();
    serde_json::from_str(&printed.replace(name, "latchkey-settings")).unwrap()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn of_kind(kind: &str) -> impl Iterator<Item = &'static Value> {
    MANIFESTS.iter().filter(move |manifest| manifest["kind"] == kind)
}

fn named(kind: &str, name: &str) -> &'static Value {
    let found = of_kind(kind).find(|manifest| manifest["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("there is no {kind} {name}"))
}

/// The names of the Deployments and the Job, with the templates of their pods.
fn workloads() -> impl Iterator<Item = (&'static str, &'static Value)> {
    let workloads = of_kind("Deployment").chain(of_kind("Job"));
    workloads.map(|workload| (text(&workload["metadata"]["name"]), &workload["spec"]["template"]))
}

/// The names of the Deployments, with their containers.
fn servers() -> impl Iterator<Item = (&'static str, &'static Value)> {
    of_kind("Deployment").map(|server| {
        (
            text(&server["metadata"]["name"]),
            container(&server["spec"]["template"]),
        )
    })
}

/// The only container of a pod.
fn container(pod: &Value) -> &Value {
    let [container] = array(&pod["spec"]["containers"]) else {
        panic!("{pod} has several containers");
    };
    container
}

/// The variables of a container.
fn environment(container: &Value) -> Vec<(&str, &str)> {
    let variables = array(&container["env"]).iter();
    variables
        .map(|variable| (text(&variable["name"]), text(&variable["value"])))
        .collect()
}

fn variable<'a>(container: &'a Value, name: &str) -> &'a str {
    let found = environment(container)
        .into_iter()
        .find(|(found, _)| *found == name);
    found.unwrap_or_else(|| panic!("{name} is not set")).1
}

/// The number of the port of this name.
fn port(container: &Value, name: &str) -> String {
    let mut ports = array(&container["ports"]).iter();
    let found = ports.find(|port| port["name"] == name);
    found.unwrap_or_else(|| panic!("there is no port {name}"))["containerPort"].to_string()
}

/// The names of the pods that a selector of labels finds.
fn selected(selector: &Value) -> Vec<&'static str> {
    let is_selected = |labels: &Value| {
        let mut equal = selector["matchLabels"].as_object().into_iter().flatten();
        let mut among = array(&selector["matchExpressions"]).iter();
        equal.all(|(key, value)| labels[key] == *value)
            && among.all(|one| array(&one["values"]).contains(&labels[text(&one["key"])]))
    };
    let found = workloads().filter(|(_, pod)| is_selected(&pod["metadata"]["labels"]));
    found.map(|(name, _)| name).collect()
}

fn the_manifests_satisfy_the_schemas() {
    assert!(MANIFESTS.len() > 20, "{}", MANIFESTS.len());
    let page = read("docs/operate/install.md");
    let [oldest, newest] = VERSIONS;
    let documented = format!("Kubernetes {oldest} or later (validated for {oldest} and {newest})");
    assert!(page.contains(&documented), "{documented}");
}

fn selectors_find_the_pods_that_they_name() {
    for (name, _) in servers() {
        for selector in [
            &named("Deployment", name)["spec"]["selector"],
            &named("PodDisruptionBudget", name)["spec"]["selector"],
            &json!({ "matchLabels": named("Service", name)["spec"]["selector"] }),
        ] {
            assert_eq!(selected(selector), [name], "{selector}");
        }
        let spreads = &named("Deployment", name)["spec"]["template"]["spec"]["topologySpreadConstraints"];
        assert_eq!(array(spreads).len(), 2);
        for spread in array(spreads) {
            assert_eq!(selected(&spread["labelSelector"]), [name]);
        }
        let scaler = &named("HorizontalPodAutoscaler", name)["spec"];
        let target = &scaler["scaleTargetRef"];
        assert_eq!(
            (text(&target["kind"]), text(&target["name"])),
            ("Deployment", name)
        );
        assert!(scaler["minReplicas"].as_u64() >= Some(2), "{scaler}");
        let [metric] = array(&scaler["metrics"]) else {
            panic!("{scaler}");
        };
        let processor =
            json!({ "name": "cpu", "target": { "type": "Utilization", "averageUtilization": 70 } });
        assert_eq!(metric["resource"], processor, "{name}");
    }
    for policy in of_kind("NetworkPolicy") {
        let (name, spec) = (&policy["metadata"]["name"], &policy["spec"]);
        let listed = array(&spec["podSelector"]["matchExpressions"]).iter();
        let listed: usize = listed.map(|one| array(&one["values"]).len()).sum();
        assert!(selected(&spec["podSelector"]).len() >= listed.max(1), "{name}");
        let rules = array(&spec["ingress"]).iter().chain(array(&spec["egress"]));
        for rule in rules {
            // A port of a pod has a name, one of another server a number.
            for port in array(&rule["ports"])
                .iter()
                .filter_map(|port| port["port"].as_str())
            {
                assert!(["http", "metrics"].contains(&port), "{name}: {port}");
            }
            let peers = array(&rule["from"]).iter().chain(array(&rule["to"]));
            for peer in peers.filter(|peer| peer.get("ipBlock").is_none()) {
                // Of another namespace too, only some pods are allowed.
                assert!(peer["podSelector"]["matchLabels"].is_object(), "{name}: {peer}");
                let is_own = peer.get("namespaceSelector").is_none();
                assert!(
                    !is_own || selected(&peer["podSelector"]).len() == 1,
                    "{name}: {peer}"
                );
            }
        }
    }
}

/// One policy closes everything, and the others open these ports.
fn the_policies_open_only_these_ports() {
    let closed = &named("NetworkPolicy", "default-deny")["spec"];
    assert_eq!(
        *closed,
        json!({ "podSelector": {}, "policyTypes": ["Ingress", "Egress"] })
    );
    let ports = |rules: &'static Value| -> Vec<String> {
        let ports = array(rules).iter().flat_map(|rule| {
            // A rule without ports opens all.
            assert!(!array(&rule["ports"]).is_empty(), "{rule}");
            array(&rule["ports"])
        });
        ports
            .map(|port| format!("{} {}", text(&port["protocol"]), port["port"]).replace('"', ""))
            .collect()
    };
    let policies = of_kind("NetworkPolicy").map(|policy| {
        let spec = &policy["spec"];
        let open = (ports(&spec["ingress"]), ports(&spec["egress"]));
        (text(&policy["metadata"]["name"]), open)
    });
    let open: BTreeMap<_, _> = policies.filter(|(name, _)| *name != "default-deny").collect();
    let list = |ports: &[&str]| -> Vec<String> { ports.iter().map(|&port| port.to_owned()).collect() };
    let expected = [
        ("api-to-issuer", [&[][..], &["TCP http"]]),
        ("from-ingress-controller", [&["TCP http"], &[]]),
        ("from-prometheus", [&["TCP metrics"], &[]]),
        ("issuer-from-api", [&["TCP http"], &[]]),
        ("to-dns", [&[], &["UDP 53", "TCP 53"]]),
        ("to-postgresql", [&[], &["TCP 5432"]]),
        ("to-public-servers", [&[], &["TCP 443"]]),
        ("to-redis", [&[], &["TCP 6379"]]),
        ("to-smtp", [&[], &["TCP 465", "TCP 587"]]),
    ];
    let expected = expected.map(|(name, [ingress, egress])| (name, (list(ingress), list(egress))));
    assert_eq!(open, BTreeMap::from(expected));
}

fn ports_agree() {
    let dockerfile = read("deploy/Dockerfile");
    let (_, listen) = dockerfile.split_once("LATCHKEY_LISTEN=0.0.0.0:").unwrap();
    let listen = listen.lines().next().unwrap();
    let exporter = read("shared/runtime/src/metrics/exporter.rs");
    for (name, container) in servers() {
        assert_eq!(port(container, "http"), listen, "{name}");
        let metrics = variable(container, "LATCHKEY_METRICS_LISTEN");
        assert_eq!(
            metrics,
            format!("0.0.0.0:{}", port(container, "metrics")),
            "{name}"
        );
        let annotations = &named("Deployment", name)["spec"]["template"]["metadata"]["annotations"];
        assert_eq!(
            annotations["prometheus.io/port"],
            port(container, "metrics"),
            "{name}"
        );
        let route = format!(".route({}, ", annotations["prometheus.io/path"]);
        assert!(exporter.contains(&route), "{name}: {route}");
        let [service] = array(&named("Service", name)["spec"]["ports"]) else {
            panic!("{name}: one port was expected");
        };
        assert_eq!(
            (&service["name"], &service["targetPort"]),
            (&json!("http"), &json!("http"))
        );
        assert_eq!(service["port"].to_string(), listen, "{name}");
    }
}

fn the_ingress_sends_the_documented_paths_to_the_issuer() {
    let of_issuer = ISSUER_PATHS.iter().map(|path| (*path, "auth-server"));
    let mut documented: BTreeSet<(&str, &str)> = of_issuer.collect();
    documented.insert(("/", "api-server"));
    let rule = &named("Ingress", "latchkey")["spec"]["rules"][0];
    let paths = array(&rule["http"]["paths"]).iter();
    let sent: BTreeSet<(&str, &str)> = paths
        .map(|path| {
            let service = &path["backend"]["service"];
            let port = (&path["pathType"], &service["port"]["name"]);
            assert_eq!(port, (&json!("Prefix"), &json!("http")), "{path}");
            (text(&path["path"]), text(&service["name"]))
        })
        .collect();
    assert_eq!(sent, documented);
}

fn the_ingress_tells_browsers_to_use_https_alone() {
    let annotations = &named("Ingress", "latchkey")["metadata"]["annotations"];
    assert_eq!(annotations["nginx.org/hsts"], "true");
    assert_eq!(annotations["nginx.org/hsts-max-age"], "31536000");
}

without_deployment!(
    the_manifests_satisfy_the_schemas,
    selectors_find_the_pods_that_they_name,
    the_policies_open_only_these_ports,
    ports_agree,
    the_ingress_sends_the_documented_paths_to_the_issuer,
    the_ingress_tells_browsers_to_use_https_alone,
);

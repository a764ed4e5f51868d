//! The alerts and the dashboard in `deploy/observability`: they are valid, they use metrics that the programs
//! have, and the runbook has an entry for each alert.

use super::{read, run, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Command;
use tests::{Shape, World, eventually, on_shapes, root, tool, type_checker, without_deployment};

const ALERTS: &str = "deploy/observability/alerts.yaml";
const RUNBOOK: &str = "docs/operate/runbook.md";

/// The words of `PromQL` in the expressions.
const LANGUAGE: [&str; 20] = [
    "absent",
    "and",
    "bool",
    "by",
    "changes",
    "count",
    "histogram_quantile",
    "increase",
    "label_replace",
    "offset",
    "or",
    "rate",
    "sum",
    "topk",
    "unless",
    "vector",
    // The metric and the labels that Prometheus adds.
    "up",
    "instance",
    "job",
    // The range of a panel.
    "__rate_interval",
];

/// The rules of the alerts.
fn alerts() -> Vec<Value> {
    let script = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))";
    let output = Command::new(tool("python/bin/python"))
        .args(["-c", script])
        .arg(root().join(ALERTS))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let file: Value = serde_json::from_slice(&output.stdout).unwrap();
    file["groups"][0]["rules"].as_array().unwrap().clone()
}

fn dashboard() -> Value {
    serde_json::from_str(&read("deploy/observability/dashboard.json")).unwrap()
}

/// The panels of the dashboard.
fn panels(dashboard: &Value) -> &[Value] {
    dashboard["panels"].as_array().unwrap()
}

/// The expressions of all alerts and panels.
fn expressions() -> Vec<String> {
    let (dashboard, alerts) = (dashboard(), alerts());
    let targets = panels(&dashboard).iter();
    let targets = targets.flat_map(|panel| panel["targets"].as_array().unwrap());
    targets
        .chain(&alerts)
        .map(|one| text(&one["expr"]).to_owned())
        .collect()
}

/// The names of metrics and labels outside of strings.
fn names(expression: &str) -> BTreeSet<&str> {
    let outside = expression.split('"').step_by(2);
    let words = outside.flat_map(|part| part.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')));
    words
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .collect()
}

fn promtool(arguments: &[&str]) {
    let output = Command::new("promtool")
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("promtool is missing: run tests/install");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

fn promtool_finds_the_alerts_valid() {
    promtool(&["check", "rules", ALERTS]);
}

/// Those for Kubernetes are not checked, because the promtool of Debian lacks them.
fn promtool_finds_the_documented_configurations_valid() {
    let page = read("docs/operate/alerts.md");
    let yaml = |text: &str| {
        let mut blocks = page.split("```yaml\n").skip(1);
        let block = blocks.find(|block| block.split("```").next().unwrap().contains(text));
        block.unwrap().split("```").next().unwrap()
    };
    // Paths are relative to the file.
    let with_addresses =
        yaml("static_configs").replace("/etc/prometheus/alerts.yaml", &format!("../{ALERTS}"));
    let (job, _) = with_addresses.split_once("    static_configs").unwrap();
    for configuration in [&with_addresses, &format!("{job}{}", yaml("dns_sd_configs"))] {
        let mut builder = tempfile::Builder::new();
        let file = builder.prefix("prometheus-").tempfile_in(root().join("target"));
        let file = file.unwrap();
        std::fs::write(file.path(), configuration).unwrap();
        promtool(&["check", "config", file.path().to_str().unwrap()]);
    }
}

fn the_alerts_fire_when_they_should() {
    let tests = "tests/cases/operations/observability/alerts.yaml";
    promtool(&["test", "rules", tests]);
    let tests = read(tests);
    for alert in alerts() {
        let name = text(&alert["alert"]);
        let (_, tested) = tests.split_once(&format!("alertname: {name}\n")).unwrap();
        assert!(
            tested.contains(&format!("#{}\n", name.to_lowercase())),
            "{name} never fires"
        );
    }
}

fn the_runbook_has_an_entry_for_each_alert() {
    let runbook = read(RUNBOOK);
    let mut entries = Vec::new();
    for entry in runbook.split("\n## ").skip(1) {
        let (name, entry) = entry.split_once('\n').unwrap();
        for part in ["\n**Meaning.** ", "\n**First look.** ", "\n**Remedy.** "] {
            assert_eq!(entry.matches(part).count(), 1, "{name}: {part}");
        }
        entries.push(name.to_owned());
    }
    let alerts = alerts();
    let named: Vec<&str> = alerts.iter().map(|alert| text(&alert["alert"])).collect();
    assert_eq!(entries, named);
    for alert in &alerts {
        let name = text(&alert["alert"]);
        let annotations = &alert["annotations"];
        let url = format!("{RUNBOOK}#{}", name.to_lowercase());
        assert_eq!(annotations["runbook_url"], url, "{name}");
        assert!(text(&annotations["summary"]).ends_with('.'), "{name}");
        let severity = text(&alert["labels"]["severity"]);
        assert!(["critical", "warning"].contains(&severity), "{name}");
    }
}

fn the_documented_command_makes_links_to_the_runbook() {
    let page = read("docs/operate/alerts.md");
    let (_, command) = page.split_once("```console\nsed ").unwrap();
    let (command, _) = command.split_once(" > ").unwrap();
    let mut bash = Command::new("bash");
    bash.args(["-c", &format!("sed {command}")]).current_dir(root());
    let link = format!("runbook_url: https://git.example.org/latchkey/blob/main/{RUNBOOK}#");
    assert_eq!(run(&mut bash).matches(&link).count(), alerts().len());
}

/// The dashboard has the members of Grafana's types, which the TypeScript compiler compares, and no others.
fn grafana_can_draw_the_dashboard() {
    let dashboard = dashboard();
    let mut program = read("tests/cases/operations/observability/dashboard.ts");
    let pretty = read("deploy/observability/dashboard.json");
    program += &format!("void ({} satisfies LatchkeyDashboard);\n", pretty.trim_end());
    let line = dashboard.to_string();
    for (right, wrong) in [
        ("\"schemaVersion\":", "\"schemaVersin\":"),
        ("\"gridPos\":", "\"gridPs\":"),
        ("\"legendFormat\":", "\"legendFormt\":"),
        ("\"fillOpacity\":", "\"fillOpacty\":"),
        ("\"never\"", "\"nevr\""),
        ("\"multi\"", "\"mlti\""),
    ] {
        assert!(line.contains(right), "{right}");
        let line = line.replace(right, wrong);
        program += &format!("// @ts-expect-error\nvoid ({line} satisfies LatchkeyDashboard);\n");
    }
    // The compiler looks for the types in the directories above.
    let directory = tempfile::tempdir_in(tool("node")).unwrap();
    let file = directory.path().join("dashboard.ts");
    std::fs::write(&file, program).unwrap();
    // Only the dashboard is checked, and not the declarations of the library.
    run(type_checker().arg("--skipLibCheck").arg(&file));
    expect_panels_beside_each_other(&dashboard);
}

fn expect_panels_beside_each_other(dashboard: &Value) {
    let (mut ids, mut cells) = (BTreeSet::new(), BTreeSet::new());
    for panel in panels(dashboard) {
        assert!(ids.insert(panel["id"].as_u64()), "{}", panel["title"]);
        let [x, y, w, h] = ["x", "y", "w", "h"].map(|key| panel["gridPos"][key].as_u64().unwrap());
        assert!(x + w <= 24, "{}", panel["title"]);
        for column in x..x + w {
            for row in y..y + h {
                assert!(
                    cells.insert((column, row)),
                    "{} covers another panel",
                    panel["title"]
                );
            }
        }
    }
}

/// All metrics and labels of the expressions are among those of the programs, and so are the routes and the
/// names of events.
async fn the_programs_have_the_metrics(shape: Shape) {
    let world = World::builder(shape)
        .flag("--metrics-listen", "127.0.0.1:0")
        .start()
        .await;
    let anyone = world.anyone();
    let ann = world.sign_up_and_log_in().await;
    let wrong = json!({ "email": ann.email, "password": "wrong horse" });
    anyone.post("/login").json(&wrong).await.expect(401);
    let app = world.app().register();
    let tokens = app.tokens(&ann, "posts:read").await;
    app.refresh(&anyone, &tokens.refresh).await.expect(200);
    app.refresh(&anyone, &tokens.refresh).await.expect(400);
    anyone.get("/readyz").await.expect(200);
    eventually("the replayed refresh token was not counted", || async {
        world.metrics().await.contains("latchkey_alerts_total{")
    })
    .await;
    let metrics = world.metrics().await;
    let series = metrics.lines().filter(|line| !line.starts_with('#'));
    let exported: BTreeSet<&str> = series.flat_map(names).collect();
    let expressions = expressions();
    for expression in &expressions {
        let names = names(expression).into_iter();
        let unknown: Vec<&str> = names
            .filter(|name| !exported.contains(name) && !LANGUAGE.contains(name))
            .collect();
        assert!(unknown.is_empty(), "{unknown:?} in {expression}");
        for label in ["route=\"", "name=\""] {
            for rest in expression.split(label).skip(1) {
                let pair = format!("{label}{}\"", rest.split('"').next().unwrap());
                assert!(metrics.contains(&pair), "{pair} in {expression}");
            }
        }
    }
    for metric in ["latchkey_alerts_total", "http_request_duration_seconds_bucket"] {
        assert!(
            expressions
                .iter()
                .any(|expression| names(expression).contains(metric))
        );
    }
}

on_shapes!(the_programs_have_the_metrics: split Split);

without_deployment!(
    promtool_finds_the_alerts_valid,
    promtool_finds_the_documented_configurations_valid,
    the_alerts_fire_when_they_should,
    the_runbook_has_an_entry_for_each_alert,
    the_documented_command_makes_links_to_the_runbook,
    grafana_can_draw_the_dashboard,
);

//! The metrics of the programs. A world serves them if it has the flag `--metrics-listen 127.0.0.1:0`.

use crate::world::World;

impl World {
    /// The concatenated metrics of all processes.
    pub async fn metrics(&self) -> String {
        let http = reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .build()
            .unwrap();
        let mut metrics = String::new();
        for line in self.log().lines() {
            let Some((_, rest)) = line.split_once("metrics on ") else {
                continue;
            };
            let url = rest.split('"').next().unwrap();
            let response = http.get(url).send().await.unwrap();
            assert_eq!(response.status(), 200, "{url}");
            metrics += &response.text().await.unwrap();
        }
        assert!(!metrics.is_empty(), "no process logged its metrics address");
        metrics
    }

    /// The sum of a series over all processes. `series` is its name with its labels, as in the text format.
    pub async fn metric_total(&self, series: &str) -> u64 {
        let metrics = self.metrics().await;
        let values = metrics.lines().filter_map(|line| line.strip_prefix(series));
        values.map(|value| value.trim().parse::<u64>().unwrap()).sum()
    }
}

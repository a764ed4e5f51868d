//! Metrics of the programs. They need `--metrics-listen 127.0.0.1:0`.

use crate::world::World;
use std::time::{Duration, Instant};

impl World {
    /// The concatenated metrics of all processes.
    pub async fn metrics(&self) -> String {
        let http = reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .build()
            .unwrap();
        let mut all = String::new();
        for line in self.log().lines() {
            let Some((_, rest)) = line.split_once("metrics on ") else {
                continue;
            };
            let url = rest.split('"').next().unwrap();
            let answer = http.get(url).send().await.unwrap();
            assert_eq!(answer.status(), 200, "{url}");
            all += &answer.text().await.unwrap();
        }
        assert!(!all.is_empty(), "no process logged its metrics address");
        all
    }

    /// The sum of a series over all processes.
    pub async fn metric_total(&self, series: &str) -> u64 {
        let counts = self.metrics().await;
        let of_series = counts.lines().filter_map(|line| line.strip_prefix(series));
        of_series.map(|value| value.trim().parse::<u64>().unwrap()).sum()
    }
}

/// Polls until a condition holds. Fails with `what` after a timeout.
#[track_caller]
pub fn eventually<F: Future<Output = bool>>(
    what: &str,
    happened: impl Fn() -> F,
) -> impl Future<Output = ()> {
    let (what, began) = (what.to_owned(), Instant::now());
    async move {
        while !happened().await {
            assert!(began.elapsed() < Duration::from_secs(20), "{what}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

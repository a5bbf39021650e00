//! The status as text for Prometheus.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::status::Status;

/// The lines of each metric, by its name. They must stand together.
type Metrics = BTreeMap<String, String>;

impl Status {
    /// All numbers of the status as text for Prometheus, under the names that they have in its JSON.
    pub fn metrics(&self) -> String {
        let mut metrics = Metrics::new();
        add(&mut metrics, "jarmo_blocks", "", &self.blocks);
        for run in &self.runs {
            let labels = format!("{{run={:?}}}", run.run);
            add(&mut metrics, "jarmo_run", &labels, run);
        }
        for worker in &self.workers {
            let labels = format!("{{worker={:?},key={:?}}}", worker.worker, worker.key);
            add(&mut metrics, "jarmo_worker", &labels, worker);
        }
        metrics.into_values().collect()
    }
}

fn add(metrics: &mut Metrics, name: &str, labels: &str, content: &impl Serialize) {
    let number = match serde_json::to_value(content).expect("a status is plain data") {
        Value::Object(fields) => {
            for (field, value) in fields {
                add(metrics, &format!("{name}_{field}"), labels, &value);
            }
            return;
        }
        Value::Number(number) => number.to_string(),
        Value::Bool(is_so) => u8::from(is_so).to_string(),
        _ => return,
    };
    let lines = metrics.entry(name.to_owned()).or_default();
    *lines += &format!("{name}{labels} {number}\n");
}

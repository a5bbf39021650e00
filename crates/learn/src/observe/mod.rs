//! Observing a run: events, lines of metrics, TensorBoard files, and a block of text for a terminal.
//!
//! Nothing here decides or prints: a run fills it in, and the command line shows it.

mod event;
mod fleet;
mod hparams;
mod metrics;
mod tensorboard;
mod view;

pub use event::{Activity, Event};
pub use fleet::FleetReport;
pub use metrics::{MatchScore, Metrics, Strength, Timing};
pub use tensorboard::EventFile;
pub use view::{Facts, Line, RunView};

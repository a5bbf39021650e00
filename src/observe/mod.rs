//! What can be seen of a run: events, a line of metrics every few steps, TensorBoard's form of it, and
//! a block of text for a terminal.
//!
//! Nothing here decides or prints anything: a run fills it in, and the command line shows it.

mod event;
mod metrics;
mod tensorboard;
mod view;

pub use event::{Activity, Event};
pub use metrics::{MatchScore, Metrics, Strength, Timing};
pub use tensorboard::EventFile;
pub use view::{Facts, Line, RunView};

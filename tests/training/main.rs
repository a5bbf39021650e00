//! Training: self-play, the learner, and runs of both.

#[cfg(feature = "cli")]
mod config;
#[cfg(feature = "cli")]
mod damage;
mod episodes;
#[cfg(feature = "net")]
mod fleet;
mod observe;
#[cfg(feature = "cli")]
mod run;
#[cfg(feature = "cli")]
mod selfplay;
mod train;

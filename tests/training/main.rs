//! Training: self-play, the learner, and runs of both.

mod config;
mod damage;
mod device;
mod episodes;
mod fleet;
mod observe;
mod run;
mod runs;
mod selfplay;
mod train;

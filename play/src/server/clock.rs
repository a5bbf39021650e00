//! The clocks of a game of two. The time is an argument; browsers have no say in it.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use jarmo_core::game::Player;

/// The shortest and longest time, and the longest increment, in seconds.
const TIMES: [u32; 2] = [1, 3 * 3600];
const MOST_INCREMENT: u32 = 180;

/// The clocks of both players.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Clock {
    initial: Duration,
    increment: Duration,
    left: [Duration; 2], // White, Black
    running: Option<Player>,
    /// The moment up to which time is counted; `None` after a restart.
    #[serde(skip)]
    counted: Option<Instant>,
}

impl Clock {
    /// Clocks with this time and increment per move, in seconds; `None` if they are out of bounds.
    pub(super) fn new([time, increment]: [u32; 2]) -> Option<Clock> {
        let is_possible = (TIMES[0]..=TIMES[1]).contains(&time) && increment <= MOST_INCREMENT;
        let [initial, increment] = [time, increment].map(|seconds| Duration::from_secs(seconds.into()));
        is_possible.then_some(Clock { initial, increment, left: [initial; 2], running: None, counted: None })
    }

    /// The clocks of another game.
    pub(super) fn reset(&mut self) {
        (self.left, self.running) = ([self.initial; 2], None);
    }

    /// Counts the time up to now, except for the last part of it, `away`, during which neither player was connected.
    /// Returns the player whose time is up.
    pub(super) fn count(&mut self, now: Instant, away: Duration) -> Option<Player> {
        let passed = self.counted.map_or(Duration::ZERO, |counted| now.saturating_duration_since(counted));
        self.counted = Some(now);
        let left = &mut self.left[self.running?.index()];
        *left = left.saturating_sub(passed.saturating_sub(away));
        self.running.filter(|_| left.is_zero())
    }

    /// Lets the clock of one player run; `None` stops both.
    pub(super) fn run(&mut self, player: Option<Player>) {
        self.running = player;
    }

    /// Adds the increment for the move of the player whose clock runs.
    pub(super) fn increment(&mut self) {
        if let Some(player) = self.running {
            self.left[player.index()] += self.increment;
        }
    }

    /// The time until a flag falls, if a clock runs.
    pub(super) fn due(&self) -> Option<Duration> {
        Some(self.left[self.running?.index()])
    }

    /// The clocks as the page shows them, in milliseconds.
    pub(super) fn view(&self) -> serde_json::Value {
        serde_json::json!({
            "initial": self.initial.as_millis() as u64,
            "increment": self.increment.as_millis() as u64,
            "left": self.left.map(|left| left.as_millis() as u64),
            "running": self.running,
        })
    }
}

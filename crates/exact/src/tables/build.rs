//! Builds a folder of tables, layer by layer. A build that was killed resumes where it last saved.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::file::{Bytes, lock};
use super::solvable::{Job, Layer, LayerEvent, Solvable, owner, table_id};
use crate::{ExactError, ExactErrorKind};

/// Settings of a build.
#[derive(Clone, Copy, Debug)]
pub struct BuildSettings {
    /// The highest force to solve.
    pub force: u32,
    /// The time between two saves of the unfinished layer.
    pub save_every: Duration,
}

/// A progress message while tables are built or packed. `Display` writes it as a line of text.
#[derive(Clone, Debug)]
pub enum TableProgress {
    /// The file of this force exists already and passed its checks.
    Kept(u32),
    /// A file is damaged for this reason, so its layer is built again.
    Rebuilding(String),
    /// The work on this force continues from the last save of an earlier build.
    Resumed(u32),
    /// The progress of the work on this force.
    Working(u32, String),
    /// This force, or a round of the work on it, is done. Has its cost.
    Done(u32, String),
}

impl fmt::Display for TableProgress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        use TableProgress::{Done, Kept, Rebuilding, Resumed, Working};
        match self {
            Kept(force) => write!(out, "force {force}: already there"),
            Rebuilding(problem) => write!(out, "{}; building it again", problem.trim_end_matches("; build it again")),
            Resumed(force) => write!(out, "force {force}: continuing with the unfinished layer"),
            Working(force, what) | Done(force, what) => write!(out, "force {force}: {what}"),
        }
    }
}

/// Builds all layers up to a force in `folder`, and opens them. Intact layers that exist already are kept.
pub(super) fn build_layers<G: Solvable>(
    game: &G,
    folder: &Path,
    settings: BuildSettings,
    tell: &mut dyn FnMut(TableProgress),
) -> Result<Vec<Bytes>, ExactError> {
    assert!(G::TABLES.forces.contains(&settings.force), "no tables have this force");
    let owner = owner(game);
    fs::create_dir_all(folder).map_err(ExactError::io(folder))?;
    let layers: Vec<G::Layer> = (*G::TABLES.forces.start()..=settings.force).map(G::Layer::new).collect();
    let mut kept = Vec::new();
    for layer in &layers {
        let found = Bytes::open(&table_id::<G>(folder, owner, layer));
        kept.push(match found {
            Ok(bytes) => {
                tell(TableProgress::Kept(layer.force()));
                Some(bytes)
            }
            Err(error) => {
                may_rebuild(error, &mut |why| tell(TableProgress::Rebuilding(why)))?;
                None
            }
        });
    }
    let missing: Vec<&G::Layer> =
        layers.iter().zip(&kept).filter(|(_, kept)| kept.is_none()).map(|(layer, _)| layer).collect();
    let _lock = match missing.last() {
        Some(highest) => {
            let begun = |layer: &&G::Layer| fs::metadata(table_id::<G>(folder, owner, layer).unfinished());
            let begun = missing.iter().map(|layer| begun(layer).map_or(0, |file| file.len())).sum();
            check_room(folder, positions(&missing), begun, G::memory_needed(highest))?;
            Some(lock(folder)?)
        }
        None => None,
    };

    let mut clock = TimeLeft { began: Instant::now(), all: positions(&missing) as f64, done: 0.0, before: None };
    let mut done: Vec<Bytes> = Vec::new();
    for (layer, kept) in layers.iter().zip(kept) {
        if let Some(bytes) = kept {
            done.push(bytes);
            continue;
        }
        let (began, force, positions) = (Instant::now(), layer.force(), layer.size());
        let id = table_id::<G>(folder, owner, layer);
        let job = Job { id, layer, lower: &done, save_every: settings.save_every };
        game.solve(&job, &mut |event| {
            tell(match event {
                LayerEvent::Resumed => TableProgress::Resumed(force),
                LayerEvent::Rebuilding(why) => TableProgress::Rebuilding(why),
                LayerEvent::Done(done) => {
                    let left = clock.left(done * positions as f64).ceil();
                    let share = 100.0 * done;
                    TableProgress::Working(force, format!("{share:.0} %, about {left} s left in total"))
                }
            });
        })?;
        clock.done += positions as f64;
        let took = began.elapsed().as_secs_f64();
        tell(TableProgress::Done(force, format!("{positions} positions in {took:.1} s")));
        done.push(Bytes::open(&id)?);
    }
    Ok(done)
}

fn positions<L: Layer>(layers: &[&L]) -> u64 {
    layers.iter().map(|layer| layer.size() as u64).sum()
}

/// Ignores the error for a missing or damaged file, because the file is created again. Any other error ends the build.
pub(super) fn may_rebuild(error: ExactError, tell: &mut dyn FnMut(String)) -> Result<(), ExactError> {
    match error.kind {
        ExactErrorKind::Missing => {}
        ExactErrorKind::Damaged => tell(error.to_string()),
        _ => return Err(error),
    }
    Ok(())
}

/// Fails if there is too little disk space or memory for the build. `begun` bytes of the `tables` exist already.
fn check_room(folder: &Path, tables: u64, begun: u64, memory: u64) -> Result<(), ExactError> {
    // Next to the tables there are only copies of some pages of the unfinished layer.
    const BESIDES: u64 = 64 << 20;
    let disk = (tables + BESIDES).saturating_sub(begun);
    #[cfg(any(unix, windows))]
    let free = fs4::available_space(folder).map_err(ExactError::io(folder))?;
    #[cfg(not(any(unix, windows)))]
    let (_, free) = (folder, 0); // a browser has no folders
    let short = |what: &str, needed: u64, free: u64| {
        let (needed, free) = (needed >> 20, free >> 20);
        Err(ExactError::new(format!(
            "not enough {what}: {needed} MiB needed, {free} MiB free; free some or build a lower force"
        )))
    };
    if free < disk {
        return short("disk space", disk, free);
    }
    match free_memory() {
        Some(free) if free < memory => short("memory", memory, free),
        _ => Ok(()),
    }
}

/// The memory that programs can use, if the system reports it.
fn free_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}

/// Estimates the remaining time from the speed so far.
struct TimeLeft {
    began: Instant,
    all: f64,            // positions of all layers to build
    done: f64,           // positions of the finished ones
    before: Option<f64>, // positions that were done before this run: unknown until its first report
}

impl TimeLeft {
    /// The remaining seconds when `positions` of the current layer are done.
    fn left(&mut self, positions: f64) -> f64 {
        let all_done = self.done + positions;
        let before = *self.before.get_or_insert(all_done);
        let rest = (self.all - all_done).max(0.0) / (all_done - before).max(1.0);
        self.began.elapsed().as_secs_f64() * rest.min(1e6)
    }
}

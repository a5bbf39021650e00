//! Builds a directory of tables, layer by layer. A build that was killed resumes where it last saved.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::file::{
    Bytes, Owner, Problem, TableFileError, open_finished, pages_path, unfinished_path,
};
use super::index::{LEAST_FORCE, Layer};
use super::lines::{Blockable, Lines};
use super::lookup::Tables;
use super::solve::{Layers, Progress, SolveError, Solver, Spill, memory_of};
use crate::files::lock_folder;
use crate::games::Jarmo;

/// Settings of a build.
#[derive(Clone, Copy, Debug)]
pub struct BuildSettings {
    /// The highest force to solve.
    pub force: u32,
    /// The bytes of memory to use, mapped files aside; `None`: half of what the machine has.
    pub memory: Option<u64>,
    /// The time between two saves of the unfinished layer.
    pub save_every: Duration,
}

/// A message about the progress of a build.
#[derive(Clone, Debug)]
pub enum BuildProgress {
    /// A finished layer exists already and passed its checks.
    Kept {
        /// Its force.
        force: u32,
    },
    /// A file is damaged, so its layer is built again; why.
    Rebuilding(String),
    /// A layer continues from the last save of an earlier build.
    Resumed {
        /// Its force.
        force: u32,
    },
    /// A layer is being solved.
    Working {
        /// Its force.
        force: u32,
        /// The share of its work that is done, estimated.
        done: f64,
        /// The time until the whole build is done, estimated.
        left: Duration,
    },
    /// A layer is done and on disk.
    Built {
        /// Its force.
        force: u32,
        /// The number of its positions.
        positions: usize,
        /// The time it took, including the writing.
        took: Duration,
    },
}

/// Why a build failed.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The board lets players pass.
    #[error(transparent)]
    Board(#[from] Blockable),
    /// A file could not be read or written, or belongs to another board.
    #[error(transparent)]
    File(#[from] TableFileError),
    /// A layer could not be solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// Another process is building in this folder.
    #[error("{}: another process is building tables in this folder", .0.display())]
    Busy(PathBuf),
    /// Not enough memory or disk space: which, bytes needed, bytes free.
    #[error(
        "not enough {0}: {needed} MiB needed, {free} MiB free; free some or build a lower force",
        needed = .1 >> 20,
        free = .2 >> 20
    )]
    Short(&'static str, u64, u64),
    /// The memory that may be used is too little: bytes needed.
    #[error(
        "force {force} needs at least {:.1} GiB of memory to build; allow it, or build a lower force",
        *.needed as f64 / f64::from(1 << 30)
    )]
    Allowed {
        /// The layer.
        force: u32,
        /// Bytes.
        needed: u64,
    },
}

/// The bytes of memory that building a layer takes at least, and with the whole layer in memory; mapped
/// files aside.
pub fn memory_needed(force: u32) -> (u64, u64) {
    memory_of(&Layer::new(force))
}

/// Builds all layers up to a force in `folder`. Intact layers that exist already are kept.
pub fn build(
    game: &Jarmo,
    folder: &Path,
    settings: BuildSettings,
    tell: &mut dyn FnMut(BuildProgress),
) -> Result<Tables, BuildError> {
    let lines = Lines::of(game.board())?;
    let owner = Owner::of(game);
    fs::create_dir_all(folder).map_err(TableFileError::io(folder))?;
    let mut kept = Vec::new();
    for force in LEAST_FORCE..=settings.force {
        let layer = Layer::new(force);
        kept.push(match open_finished(folder, owner, &layer) {
            Ok(map) => {
                tell(BuildProgress::Kept { force });
                Some(Bytes::Mapped(map))
            }
            Err(error) => {
                may_rebuild(error, tell)?;
                None
            }
        });
    }
    let missing: Vec<u32> = (LEAST_FORCE..=settings.force)
        .zip(&kept)
        .filter_map(|(force, kept)| kept.is_none().then_some(force))
        .collect();
    let memory = check_room(folder, &missing, settings.memory)?;
    let _lock = match missing.is_empty() {
        true => None,
        false => {
            let lock = lock_folder(folder).map_err(TableFileError::io(folder))?;
            Some(lock.ok_or_else(|| BuildError::Busy(folder.to_owned()))?)
        }
    };

    let mut clock = TimeLeft::new(&missing);
    let mut done: Vec<Bytes> = Vec::new();
    for (force, kept) in (LEAST_FORCE..=settings.force).zip(kept) {
        let bytes = match kept {
            Some(bytes) => bytes,
            None => {
                let work = Work {
                    lines: &lines,
                    folder,
                    owner,
                    layer: Layer::new(force),
                    save_every: settings.save_every,
                    memory,
                };
                work.build(&done, &mut clock, tell)?
            }
        };
        done.push(bytes);
    }
    Ok(Tables::from_layers(game, done))
}

/// Accepts a missing or damaged file, which is built again; any other problem ends the build.
fn may_rebuild(
    error: TableFileError,
    tell: &mut dyn FnMut(BuildProgress),
) -> Result<(), BuildError> {
    match error.problem {
        Problem::Missing => {}
        Problem::Damaged(_) => tell(BuildProgress::Rebuilding(error.to_string())),
        _ => return Err(BuildError::File(error)),
    }
    Ok(())
}

/// Refuses a build for which disk space or memory is too small; returns the bytes of memory to use.
fn check_room(folder: &Path, missing: &[u32], allowed: Option<u64>) -> Result<u64, BuildError> {
    let Some(&highest) = missing.last() else {
        return Ok(0);
    };
    let (least, most) = memory_needed(highest);
    let half = memory("MemTotal:").map(|bytes| bytes / 2);
    let usable = allowed.or(half).unwrap_or(most);
    if usable < least {
        return Err(BuildError::Allowed {
            force: highest,
            needed: least,
        });
    }
    // Next to the tables there are only some pages of the unfinished layer.
    const BESIDES: u64 = 64 << 20;
    let begun: u64 = missing.iter().map(|&force| begun(folder, force)).sum();
    let layers: u64 = missing
        .iter()
        .map(|&force| Layer::new(force).size() as u64)
        .sum();
    let disk = (layers + BESIDES).saturating_sub(begun);
    let free = fs4::available_space(folder).map_err(TableFileError::io(folder))?;
    if free < disk {
        return Err(BuildError::Short("disk space", disk, free));
    }
    let needed = match allowed {
        Some(allowed) => allowed.min(most),
        None => least,
    };
    match memory("MemAvailable:") {
        Some(free) if free < needed => Err(BuildError::Short("memory", needed, free)),
        Some(free) => Ok(usable.min(free)),
        None => Ok(usable),
    }
}

/// Bytes that an unfinished layer already takes on the disk.
fn begun(folder: &Path, force: u32) -> u64 {
    fs::metadata(unfinished_path(folder, force)).map_or(0, |file| file.len())
}

/// A line of the system's report on memory, in bytes.
fn memory(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}

/// One layer to build.
struct Work<'a> {
    lines: &'a Lines,
    folder: &'a Path,
    owner: Owner,
    layer: Layer,
    save_every: Duration,
    memory: u64,
}

impl Work<'_> {
    fn build(
        &self,
        done: &[Bytes],
        clock: &mut TimeLeft,
        tell: &mut dyn FnMut(BuildProgress),
    ) -> Result<Bytes, BuildError> {
        let began = Instant::now();
        let force = self.layer.force();
        let lower = Layers::of(done.iter().map(Bytes::get));
        let solver = Solver::new(self.lines, &self.layer, &lower);
        let spill = self.files(tell)?;
        let io = |error| TableFileError::io(&unfinished_path(self.folder, force))(error);
        let mut pages = solver
            .pages(self.memory, spill, self.save_every)
            .map_err(io)?;
        let longest = solver
            .solve(&mut pages, &mut |progress| {
                let done = share_done(progress);
                tell(BuildProgress::Working {
                    force,
                    done,
                    left: clock.left(done * self.layer.size() as f64),
                });
            })
            .map_err(|error| match error {
                SolveError::Io(error) => BuildError::File(io(error)),
                error => BuildError::Solve(error),
            })?;
        let spill = pages.into_spill().expect("a build has files");
        spill.finish(self.folder, self.owner, &self.layer, longest)?;
        clock.layer_done(self.layer.size());
        tell(BuildProgress::Built {
            force,
            positions: self.layer.size(),
            took: began.elapsed(),
        });
        let map = open_finished(self.folder, self.owner, &self.layer)?;
        Ok(Bytes::Mapped(map))
    }

    /// The files of an earlier build of this layer, or new ones.
    fn files(&self, tell: &mut dyn FnMut(BuildProgress)) -> Result<Spill, BuildError> {
        let force = self.layer.force();
        if pages_path(self.folder, force).exists() {
            match Spill::resume(self.folder, self.owner, &self.layer) {
                Ok(spill) => {
                    tell(BuildProgress::Resumed { force });
                    return Ok(spill);
                }
                Err(error) => may_rebuild(error, tell)?,
            }
        }
        Ok(Spill::create(self.folder, self.owner, &self.layer)?)
    }
}

/// The share of the work on a layer that is done. The constants are from force 10, by processor time.
fn share_done(progress: Progress) -> f64 {
    const FILLING: f64 = 0.2;
    const CLOSING: f64 = 0.01;
    const STEPS: f64 = 1.0 - FILLING - CLOSING;
    match progress {
        Progress::Filled(share) => FILLING * share,
        Progress::Step(step, share) => {
            let (from, to) = (steps_done(step), steps_done(step + 1));
            FILLING + STEPS * (from + (to - from) * share)
        }
        Progress::Closed(share) => 1.0 - CLOSING + CLOSING * share,
    }
}

/// The share of the work of all steps that this many steps are. Two thirds of it follow the positions that are
/// decided; the rest is the same in every step.
fn steps_done(steps: u32) -> f64 {
    const BY_POSITIONS: f64 = 0.66;
    const LAST_STEP: f64 = 90.0;
    let decided = match steps.checked_sub(1) {
        Some(last) => DECIDED.get(last as usize).copied().unwrap_or(1.0),
        None => 0.0,
    };
    let passed = (f64::from(steps) / LAST_STEP).min(1.0);
    BY_POSITIONS * decided + (1.0 - BY_POSITIONS) * passed
}

/// The share of force 9's decided positions that is decided within 0, 1, 2, … plies.
const DECIDED: [f64; 38] = [
    0.011, 0.043, 0.052, 0.104, 0.118, 0.183, 0.209, 0.299, 0.341, 0.442, 0.494, 0.587, 0.642,
    0.715, 0.764, 0.814, 0.851, 0.883, 0.907, 0.927, 0.942, 0.954, 0.964, 0.971, 0.977, 0.982,
    0.986, 0.989, 0.991, 0.993, 0.994, 0.995, 0.996, 0.997, 0.997, 0.998, 0.998, 0.999,
];

/// Estimates the remaining time from the speed so far.
struct TimeLeft {
    began: Instant,
    all: f64,  // positions of all layers to build
    done: f64, // positions of the finished ones
    /// Positions that were done before this run: unknown until its first report.
    before: Option<f64>,
}

impl TimeLeft {
    fn new(missing: &[u32]) -> TimeLeft {
        TimeLeft {
            began: Instant::now(),
            all: missing
                .iter()
                .map(|&force| Layer::new(force).size() as f64)
                .sum(),
            done: 0.0,
            before: None,
        }
    }

    fn layer_done(&mut self, positions: usize) {
        self.done += positions as f64;
    }

    /// The remaining time when `positions` of the current layer are done.
    fn left(&mut self, positions: f64) -> Duration {
        let all_done = self.done + positions;
        let before = *self.before.get_or_insert(all_done);
        let done = (all_done - before).max(1.0);
        let rest = (self.all - all_done).max(0.0);
        self.began.elapsed().mul_f64((rest / done).min(1e6))
    }
}

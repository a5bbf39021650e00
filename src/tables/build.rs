//! Builds a directory of tables, layer by layer. A build that was killed resumes where it last saved.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::file::{
    Bytes, Owner, Problem, TableFileError, open_finished, read_unfinished, unfinished_path,
    write_finished, write_unfinished,
};
use super::index::{LEAST_FORCE, Layer};
use super::lines::{Blockable, Lines};
use super::lookup::Tables;
use super::solve::{Layers, Monitor, SolveError, Solver, Unfinished};
use crate::files::lock_folder;
use crate::games::Jarmo;

/// Settings of a build.
#[derive(Clone, Copy, Debug)]
pub struct BuildSettings {
    /// The highest force to solve.
    pub force: u32,
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
        /// The distance it continues with.
        plies: u32,
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
}

/// Bytes of memory that building this layer takes, mapped files aside: one byte per position, and the
/// pending updates of a step.
fn memory_needed(force: u32) -> u64 {
    const PENDING: u64 = 256 << 20;
    Layer::new(force).size() as u64 + PENDING
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
    check_room(folder, &missing)?;
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
                };
                work.build(&done, &mut clock, tell)?
            }
        };
        done.push(bytes);
    }
    Ok(Tables::from_layers(owner, done))
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

/// Refuses a build for which disk space or memory is too small.
fn check_room(folder: &Path, missing: &[u32]) -> Result<(), BuildError> {
    let Some(&highest) = missing.last() else {
        return Ok(());
    };
    // Two more copies of the highest layer: its unfinished file and a temporary file while saving.
    let layers: u64 = missing
        .iter()
        .map(|&force| Layer::new(force).size() as u64)
        .sum();
    let disk = layers + 2 * Layer::new(highest).size() as u64;
    let free = fs4::available_space(folder).map_err(TableFileError::io(folder))?;
    if free < disk {
        return Err(BuildError::Short("disk space", disk, free));
    }
    let memory = memory_needed(highest);
    match free_memory() {
        Some(free) if free < memory => Err(BuildError::Short("memory", memory, free)),
        _ => Ok(()),
    }
}

/// Bytes of memory available without swapping, if the system reports them.
fn free_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
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
        let unfinished = match read_unfinished(self.folder, self.owner, &self.layer) {
            Ok(state) => {
                tell(BuildProgress::Resumed {
                    force,
                    plies: state.next,
                });
                Some(state)
            }
            Err(error) => {
                may_rebuild(error, tell)?;
                None
            }
        };
        let solver = Solver::new(self.lines, &self.layer, &lower);
        let mut reporter = Reporter {
            work: self,
            clock,
            tell,
            saved: Instant::now(),
            spread: 0,
        };
        let state = match unfinished {
            Some(state) => Ok(state),
            None => solver.start(&mut reporter),
        };
        let finished = state.and_then(|state| solver.finish(state, &mut reporter))?;
        write_finished(
            self.folder,
            self.owner,
            &self.layer,
            finished.longest,
            &finished.bytes,
        )?;
        drop(finished);
        let unfinished = unfinished_path(self.folder, force);
        match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(TableFileError::io(&unfinished)(error).into());
            }
            _ => {}
        }
        clock.layer_done(self.layer.size());
        tell(BuildProgress::Built {
            force,
            positions: self.layer.size(),
            took: began.elapsed(),
        });
        let map = open_finished(self.folder, self.owner, &self.layer)?;
        Ok(Bytes::Mapped(map))
    }
}

/// Reports the progress of a layer and saves it at intervals.
struct Reporter<'a> {
    work: &'a Work<'a>,
    clock: &'a mut TimeLeft,
    tell: &'a mut dyn FnMut(BuildProgress),
    saved: Instant,
    spread: u64, // positions whose result was propagated
}

impl Reporter<'_> {
    fn report(&mut self, positions: f64) {
        let positions = positions.min(self.work.layer.size() as f64);
        let progress = BuildProgress::Working {
            force: self.work.layer.force(),
            done: positions / self.work.layer.size() as f64,
            left: self.clock.left(positions),
        };
        (self.tell)(progress);
    }
}

/// The share of the work on a layer that its first bytes take; propagating results takes the rest.
const FILLING: f64 = 0.15;

/// The share of a layer's positions that are won or lost, as measured up to force 7.
const DECIDED: f64 = 0.88;

impl Monitor for Reporter<'_> {
    fn filled(&mut self, positions: usize) {
        self.report(FILLING * positions as f64);
    }

    fn stepped(&mut self, state: &Unfinished, positions: u64) -> io::Result<()> {
        self.spread += positions;
        let filled = FILLING * self.work.layer.size() as f64;
        self.report(filled + (1.0 - FILLING) * self.spread as f64 / DECIDED);
        if self.saved.elapsed() >= self.work.save_every {
            write_unfinished(self.work.folder, self.work.owner, &self.work.layer, state)
                .map_err(io::Error::other)?;
            self.saved = Instant::now();
        }
        Ok(())
    }
}

/// Estimates the remaining time from the speed so far.
struct TimeLeft {
    began: Instant,
    all: f64,  // positions of all layers to build
    done: f64, // positions of the finished ones
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
        }
    }

    fn layer_done(&mut self, positions: usize) {
        self.done += positions as f64;
    }

    /// The remaining time when `positions` of the current layer are done.
    fn left(&self, positions: f64) -> Duration {
        let done = (self.done + positions).max(1.0);
        let rest = (self.all - done).max(0.0);
        self.began.elapsed().mul_f64((rest / done).min(1e6))
    }
}

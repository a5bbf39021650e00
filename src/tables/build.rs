//! Builds a directory of tables, layer by layer, so that it can be killed at any time and go on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::file::{
    Bytes, FileError, Owner, Problem, open_finished, read_unfinished, unfinished_path,
    write_finished, write_unfinished,
};
use super::index::{LEAST_FORCE, Layer};
use super::lines::{Blockable, Lines};
use super::lookup::Tables;
use super::solve::{Layers, SolveError, Solver, Unfinished, Watch};
use crate::files::lock_folder;
use crate::games::Jarmo;

/// How a build is to be done.
#[derive(Clone, Copy, Debug)]
pub struct BuildSettings {
    /// The highest force.
    pub force: u32,
    /// How often the layer under way is written down.
    pub save_every: Duration,
}

/// What a build tells about its progress.
#[derive(Clone, Debug)]
pub enum Progress {
    /// A layer was there already, and every byte of it is as it was written.
    Kept {
        /// Its force.
        force: u32,
    },
    /// A file cannot be used and its layer is built again.
    Rebuilding(String),
    /// A layer goes on from where an earlier build wrote it down.
    Resumed {
        /// Its force.
        force: u32,
        /// The distance it goes on with.
        plies: u32,
    },
    /// Work on a layer goes on.
    Working {
        /// Its force.
        force: u32,
        /// The share of its work that is done, roughly.
        done: f64,
        /// Time until the whole build is done, roughly.
        left: Duration,
    },
    /// A layer is done and on disk.
    Built {
        /// Its force.
        force: u32,
        /// Its positions.
        positions: usize,
        /// Time it took, with writing.
        took: Duration,
    },
}

/// Why a build ended early.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The web lets players pass.
    #[error("{0}")]
    Web(Blockable),
    /// A file could not be read or written, or belongs to something else.
    #[error("{0}")]
    File(FileError),
    /// A layer could not be solved.
    #[error("{0}")]
    Solve(SolveError),
    /// Another process builds in this folder.
    #[error("{}: another process is building tables in this folder", .0.display())]
    Busy(PathBuf),
    /// There is not enough of something: what, bytes needed, bytes there.
    #[error(
        "not enough {0}: {needed} MiB are needed, {there} MiB are free; free some, or build a lower force",
        needed = .1 >> 20,
        there = .2 >> 20
    )]
    Short(&'static str, u64, u64),
}

/// Bytes that building the layer of this force takes in memory, above the files mapped: a byte for
/// each position, and what a step keeps until it is worked off.
pub fn memory_needed(force: u32) -> u64 {
    const KEPT: u64 = 256 << 20;
    Layer::new(force).len() as u64 + KEPT
}

/// Builds all layers up to a force in `folder`; layers that are there and sound are kept.
pub fn build(
    game: &Jarmo,
    folder: &Path,
    settings: BuildSettings,
    tell: &mut dyn FnMut(Progress),
) -> Result<Tables, BuildError> {
    let lines = Lines::of(game.web()).map_err(BuildError::Web)?;
    let owner = Owner::of(game);
    let failed = |error| BuildError::File(FileError::io(folder)(error));
    fs::create_dir_all(folder).map_err(failed)?;
    let mut kept = Vec::new();
    for force in LEAST_FORCE..=settings.force {
        let layer = Layer::new(force);
        kept.push(match open_finished(folder, owner, &layer) {
            Ok(map) => {
                tell(Progress::Kept { force });
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
            let lock = lock_folder(folder).map_err(failed)?;
            Some(lock.ok_or_else(|| BuildError::Busy(folder.to_owned()))?)
        }
    };

    let mut clock = Clock::new(&missing);
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

/// Passes over a file that has to be built again, unless it belongs to something else.
fn may_rebuild(error: FileError, tell: &mut dyn FnMut(Progress)) -> Result<(), BuildError> {
    match error.problem {
        Problem::Missing => {}
        Problem::Damaged(_) => tell(Progress::Rebuilding(error.to_string())),
        _ => return Err(BuildError::File(error)),
    }
    Ok(())
}

/// Refuses work for which there is no room.
fn check_room(folder: &Path, missing: &[u32]) -> Result<(), BuildError> {
    let Some(&highest) = missing.last() else {
        return Ok(());
    };
    // The highest layer is written down while it is under way, and once more when it is done.
    let layers: u64 = missing
        .iter()
        .map(|&force| Layer::new(force).len() as u64)
        .sum();
    let disk = layers + 2 * Layer::new(highest).len() as u64;
    let there = fs4::available_space(folder)
        .map_err(|error| BuildError::File(FileError::io(folder)(error)))?;
    if there < disk {
        return Err(BuildError::Short("disk space", disk, there));
    }
    let memory = memory_needed(highest);
    match free_memory() {
        Some(there) if there < memory => Err(BuildError::Short("memory", memory, there)),
        _ => Ok(()),
    }
}

/// Bytes of memory that can be had without swapping, where the system tells.
fn free_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}

/// One layer to be built.
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
        clock: &mut Clock,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Bytes, BuildError> {
        let began = Instant::now();
        let force = self.layer.force();
        let lower = Layers::of(done.iter().map(Bytes::get));
        let unfinished = match read_unfinished(self.folder, self.owner, &self.layer) {
            Ok(state) => {
                tell(Progress::Resumed {
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
        let mut follower = Follower {
            work: self,
            clock,
            tell,
            saved: Instant::now(),
            spread: 0,
        };
        let state = match unfinished {
            Some(state) => Ok(state),
            None => solver.start(&mut follower),
        };
        let finished = state
            .and_then(|state| solver.finish(state, &mut follower))
            .map_err(BuildError::Solve)?;
        write_finished(
            self.folder,
            self.owner,
            &self.layer,
            finished.longest,
            &finished.bytes,
        )
        .map_err(BuildError::File)?;
        drop(finished);
        let unfinished = unfinished_path(self.folder, force);
        match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(BuildError::File(FileError::io(&unfinished)(error)));
            }
            _ => {}
        }
        clock.layer_done(self.layer.len());
        tell(Progress::Built {
            force,
            positions: self.layer.len(),
            took: began.elapsed(),
        });
        open_finished(self.folder, self.owner, &self.layer)
            .map(Bytes::Mapped)
            .map_err(BuildError::File)
    }
}

/// Tells how far the work is, and writes a layer down now and then.
struct Follower<'a> {
    work: &'a Work<'a>,
    clock: &'a mut Clock,
    tell: &'a mut dyn FnMut(Progress),
    saved: Instant,
    spread: u64, // positions whose result has spread
}

impl Follower<'_> {
    fn tell(&mut self, positions: f64) {
        let positions = positions.min(self.work.layer.len() as f64);
        let progress = Progress::Working {
            force: self.work.layer.force(),
            done: positions / self.work.layer.len() as f64,
            left: self.clock.left(positions),
        };
        (self.tell)(progress);
    }
}

/// The share of the work on a layer that giving first bytes takes; spreading takes the rest.
const FILLING: f64 = 0.15;

/// The share of a layer's positions that have a result to spread, as measured on those up to 7.
const DECIDED: f64 = 0.88;

impl Watch for Follower<'_> {
    fn filled(&mut self, positions: usize) {
        self.tell(FILLING * positions as f64);
    }

    fn stepped(&mut self, state: &Unfinished, positions: u64) -> io::Result<()> {
        self.spread += positions;
        let filled = FILLING * self.work.layer.len() as f64;
        self.tell(filled + (1.0 - FILLING) * self.spread as f64 / DECIDED);
        if self.saved.elapsed() >= self.work.save_every {
            write_unfinished(self.work.folder, self.work.owner, &self.work.layer, state)
                .map_err(io::Error::other)?;
            self.saved = Instant::now();
        }
        Ok(())
    }
}

/// How long the rest will take, by what the part that is done took.
struct Clock {
    began: Instant,
    all: f64,  // positions of all layers to build
    done: f64, // positions of those that are built
}

impl Clock {
    fn new(missing: &[u32]) -> Clock {
        Clock {
            began: Instant::now(),
            all: missing
                .iter()
                .map(|&force| Layer::new(force).len() as f64)
                .sum(),
            done: 0.0,
        }
    }

    fn layer_done(&mut self, positions: usize) {
        self.done += positions as f64;
    }

    /// Time left when `positions` of the layer under way are done.
    fn left(&self, positions: f64) -> Duration {
        let done = (self.done + positions).max(1.0);
        let rest = (self.all - done).max(0.0);
        self.began.elapsed().mul_f64((rest / done).min(1e6))
    }
}

//! Builds a directory of tables, layer by layer. A build that was killed resumes where it last saved.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::file::{Bytes, Owner, Problem, TableFileError, open_finished, unfinished_path};
use super::lines::Blockable;
use super::lookup::Tables;
use super::solvable::{Job, Layer, LayerEvent, Solvable};
use super::solve::SolveError;
use jarmo_host::files::lock_folder;

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
pub fn memory_needed<G: Solvable>(force: u32) -> (u64, u64) {
    G::memory_needed(&G::layer(force))
}

/// Builds all layers up to a force in `folder`. Intact layers that exist already are kept.
///
/// # Panics
/// Panics if the game has no tables of this force.
pub fn build<G: Solvable>(
    game: &G,
    folder: &Path,
    settings: BuildSettings,
    tell: &mut dyn FnMut(BuildProgress),
) -> Result<Tables<G>, BuildError> {
    assert!(
        G::FORCES.contains(&settings.force),
        "no tables have this force"
    );
    let preparation = game.prepare()?;
    let owner = Owner::of(game);
    fs::create_dir_all(folder).map_err(TableFileError::io(folder))?;
    let forces = *G::FORCES.start()..=settings.force;
    let mut kept = Vec::new();
    for force in forces.clone() {
        kept.push(match open_finished::<G>(folder, owner, &G::layer(force)) {
            Ok(map) => {
                tell(BuildProgress::Kept { force });
                Some(Bytes::Mapped(map))
            }
            Err(error) => {
                may_rebuild(error, &mut |why| tell(BuildProgress::Rebuilding(why)))?;
                None
            }
        });
    }
    let missing: Vec<u32> = forces
        .clone()
        .zip(&kept)
        .filter_map(|(force, kept)| kept.is_none().then_some(force))
        .collect();
    let memory = check_room::<G>(folder, &missing, settings.memory)?;
    let _lock = match missing.is_empty() {
        true => None,
        false => {
            let lock = lock_folder(folder).map_err(TableFileError::io(folder))?;
            Some(lock.ok_or_else(|| BuildError::Busy(folder.to_owned()))?)
        }
    };

    let mut clock = TimeLeft::new(missing.iter().map(|&force| G::layer(force).size()));
    let mut done: Vec<Bytes> = Vec::new();
    for (force, kept) in forces.zip(kept) {
        if let Some(bytes) = kept {
            done.push(bytes);
            continue;
        }
        let began = Instant::now();
        let job: Job<'_, G> = Job {
            folder,
            owner,
            layer: G::layer(force),
            done: &done,
            save_every: settings.save_every,
            memory,
        };
        let positions = job.layer.size();
        game.build_layer(&preparation, &job, &mut |event| {
            tell(match event {
                LayerEvent::Resumed => BuildProgress::Resumed { force },
                LayerEvent::Rebuilding(why) => BuildProgress::Rebuilding(why),
                LayerEvent::Done(done) => BuildProgress::Working {
                    force,
                    done,
                    left: clock.left(done * positions as f64),
                },
            });
        })?;
        clock.layer_done(positions);
        tell(BuildProgress::Built {
            force,
            positions,
            took: began.elapsed(),
        });
        let map = open_finished::<G>(folder, owner, &job.layer)?;
        done.push(Bytes::Mapped(map));
    }
    Ok(Tables::from_layers(game, done))
}

/// Accepts a missing or damaged file, which is built again; any other problem ends the build.
pub(super) fn may_rebuild(
    error: TableFileError,
    tell: &mut dyn FnMut(String),
) -> Result<(), BuildError> {
    match error.problem {
        Problem::Missing => {}
        Problem::Damaged(_) => tell(error.to_string()),
        _ => return Err(BuildError::File(error)),
    }
    Ok(())
}

/// Refuses a build for which disk space or memory is too small; returns the bytes of memory to use.
fn check_room<G: Solvable>(
    folder: &Path,
    missing: &[u32],
    allowed: Option<u64>,
) -> Result<u64, BuildError> {
    let Some(&highest) = missing.last() else {
        return Ok(0);
    };
    let (least, most) = memory_needed::<G>(highest);
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
    let begun: u64 = missing.iter().map(|&force| begun::<G>(folder, force)).sum();
    let layers: u64 = missing
        .iter()
        .map(|&force| G::layer(force).size() as u64)
        .sum();
    let disk = (layers + BESIDES).saturating_sub(begun);
    let free = free_space(folder).map_err(TableFileError::io(folder))?;
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

#[cfg(any(unix, windows))]
fn free_space(folder: &Path) -> std::io::Result<u64> {
    fs4::available_space(folder)
}

#[cfg(not(any(unix, windows)))]
fn free_space(_: &Path) -> std::io::Result<u64> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Bytes that an unfinished layer already takes on the disk.
fn begun<G: Solvable>(folder: &Path, force: u32) -> u64 {
    fs::metadata(unfinished_path::<G>(folder, force)).map_or(0, |file| file.len())
}

/// A line of the system's report on memory, in bytes.
fn memory(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}

/// Estimates the remaining time from the speed so far.
struct TimeLeft {
    began: Instant,
    all: f64,  // positions of all layers to build
    done: f64, // positions of the finished ones
    /// Positions that were done before this run: unknown until its first report.
    before: Option<f64>,
}

impl TimeLeft {
    fn new(layers: impl Iterator<Item = usize>) -> TimeLeft {
        TimeLeft {
            began: Instant::now(),
            all: layers.map(|positions| positions as f64).sum(),
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

//! Builds a folder of tables, layer by layer. A build that was killed resumes where it last saved.

use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::file::{Bytes, Owner, lock, unfinished_path};
use super::lookup::Tables;
use super::solvable::{Job, Layer, LayerEvent, Solvable};
use crate::{ExactError, ExactErrorKind};

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

/// A message while tables are built or packed. As text it is a line for people.
#[derive(Clone, Debug)]
pub enum TableProgress {
    /// The file of this force exists already and passed its checks.
    Kept(u32),
    /// A file is damaged, so its layer is built again; why.
    Rebuilding(String),
    /// The work on this force continues from the last save of an earlier build.
    Resumed(u32),
    /// How far the work on this force is.
    Working(u32, String),
    /// This force, or a round of the work on it, is done; what it took.
    Done(u32, String),
}

impl fmt::Display for TableProgress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        use TableProgress::{Done, Kept, Rebuilding, Resumed, Working};
        match self {
            Kept(force) => write!(out, "force {force}: already there"),
            Rebuilding(problem) => write!(out, "{problem}: building it again"),
            Resumed(force) => write!(out, "force {force}: going on with the unfinished layer"),
            Working(force, what) | Done(force, what) => write!(out, "force {force}: {what}"),
        }
    }
}

/// Builds all layers up to a force in `folder`. Intact layers that exist already are kept.
///
/// # Panics
/// Panics if the game has no tables of this force.
pub fn build<G: Solvable>(
    game: &G,
    folder: &Path,
    settings: BuildSettings,
    tell: &mut dyn FnMut(TableProgress),
) -> Result<Tables<G>, ExactError> {
    assert!(G::FORCES.contains(&settings.force), "no tables have this force");
    game.check_solvable()?;
    let owner = Owner::of(game);
    fs::create_dir_all(folder).map_err(ExactError::io(folder))?;
    let forces = *G::FORCES.start()..=settings.force;
    let kept =
        forces.clone().map(|force| kept_layer::<G>(folder, owner, force, tell)).collect::<Result<Vec<_>, _>>()?;
    let missing: Vec<u32> =
        forces.clone().zip(&kept).filter_map(|(force, kept)| kept.is_none().then_some(force)).collect();
    let memory = check_room::<G>(folder, &missing, settings.memory)?;
    let _lock = match missing.is_empty() {
        true => None,
        false => Some(lock(folder)?),
    };

    let all = missing.iter().map(|&force| G::layer(force).size() as f64).sum();
    let mut clock = TimeLeft { began: Instant::now(), all, done: 0.0, before: None };
    let mut done: Vec<Bytes> = Vec::new();
    for (force, kept) in forces.zip(kept) {
        if let Some(bytes) = kept {
            done.push(bytes);
            continue;
        }
        let began = Instant::now();
        let job: Job<'_, G> =
            Job { folder, owner, layer: G::layer(force), done: &done, save_every: settings.save_every, memory };
        let positions = job.layer.size();
        game.build_layer(&job, &mut |event| {
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
        done.push(Bytes::open::<G>(folder, owner, &job.layer)?);
    }
    Ok(Tables::from_layers(game, done))
}

impl<G: Solvable> Tables<G> {
    /// Builds all layers up to a force in a folder that is removed again, for small forces and this process alone.
    pub fn solve(game: &G, force: u32) -> Result<Tables<G>, ExactError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let unique = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let name = format!("jarmo-tables-{}-{unique}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).map_err(ExactError::io(&folder))?;
        let settings = BuildSettings { force, memory: None, save_every: Duration::MAX };
        let built = build(game, &folder, settings, &mut |_| {});
        // The tables are mapped and do not need the names of their files.
        let _ = fs::remove_dir_all(&folder);
        built
    }
}

/// The layer of a force if an earlier build left it intact.
fn kept_layer<G: Solvable>(
    folder: &Path,
    owner: Owner,
    force: u32,
    tell: &mut dyn FnMut(TableProgress),
) -> Result<Option<Bytes>, ExactError> {
    match Bytes::open::<G>(folder, owner, &G::layer(force)) {
        Ok(bytes) => {
            tell(TableProgress::Kept(force));
            Ok(Some(bytes))
        }
        Err(error) => may_rebuild(error, &mut |why| tell(TableProgress::Rebuilding(why))).map(|()| None),
    }
}

/// Accepts a missing or damaged file, which is made again; any other problem ends the work.
pub(super) fn may_rebuild(error: ExactError, tell: &mut dyn FnMut(String)) -> Result<(), ExactError> {
    match error.kind {
        ExactErrorKind::Missing => {}
        ExactErrorKind::Damaged => tell(error.to_string()),
        _ => return Err(error),
    }
    Ok(())
}

/// Refuses a build for which disk space or memory is too small; returns the bytes of memory to use.
fn check_room<G: Solvable>(folder: &Path, missing: &[u32], allowed: Option<u64>) -> Result<u64, ExactError> {
    let Some(&highest) = missing.last() else { return Ok(0) };
    let (least, most) = G::memory_needed(&G::layer(highest));
    let half = memory("MemTotal:").map(|bytes| bytes / 2);
    let usable = allowed.or(half).unwrap_or(most);
    if usable < least {
        // Rounded up, so that what is asked for is enough.
        let gibibytes = (10.0 * least as f64 / f64::from(1 << 30)).ceil() / 10.0;
        return Err(ExactError::new(format!(
            "force {highest} needs at least {gibibytes:.1} GiB of memory to build; allow it, or build a lower force"
        )));
    }
    // Next to the tables there are only some pages of the unfinished layer.
    const BESIDES: u64 = 64 << 20;
    let begun = |&force| fs::metadata(unfinished_path::<G>(folder, force)).map_or(0, |file| file.len());
    let begun: u64 = missing.iter().map(begun).sum(); // what unfinished layers take already
    let layers: u64 = missing.iter().map(|&force| G::layer(force).size() as u64).sum();
    let disk = (layers + BESIDES).saturating_sub(begun);
    #[cfg(any(unix, windows))]
    let free = fs4::available_space(folder).map_err(ExactError::io(folder))?;
    #[cfg(not(any(unix, windows)))]
    let free = 0;
    let short = |what: &str, needed: u64, free: u64| {
        let (needed, free) = (needed >> 20, free >> 20);
        Err(ExactError::new(format!(
            "not enough {what}: {needed} MiB needed, {free} MiB free; free some or build a lower force"
        )))
    };
    if free < disk {
        return short("disk space", disk, free);
    }
    let needed = match allowed {
        Some(allowed) => allowed.min(most),
        None => least,
    };
    match memory("MemAvailable:") {
        Some(free) if free < needed => short("memory", needed, free),
        Some(free) => Ok(usable.min(free)),
        None => Ok(usable),
    }
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

//! Networks that are loaded once, for all agents that share them.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jarmo_core::agent::{AGENTS, AgentSource, FILE_ENDING, Sources};
use jarmo_core::encode::Encode;
use jarmo_core::error::FileError;
use jarmo_core::game::shorten;
use jarmo_core::known::{Endgames, ProofStrategy};
use jarmo_core::net::{FrozenNet, GameVersion, KernelKind, Weights};

use super::trained;
use crate::catalog::CatalogGame;

/// The number of networks to keep. The least recently used one is dropped first.
const CAPACITY: usize = 8;

/// Networks of trained agents, each loaded once. Clones share the collection, and all agents of one source share its
/// weights. A file that was rejected is read again the next time; a file that was accepted is not, even if it changes.
#[derive(Clone, Default)]
pub struct Networks {
    loaded: Arc<Mutex<Vec<Loaded>>>, // most recently used last
    device: Option<Arc<OnDevice>>,
}

/// Makes the form of a network that computes on a device.
type OnDevice = dyn Fn(&Weights) -> FrozenNet + Send + Sync;

struct Loaded {
    source: AgentSource,
    kernel: Option<KernelKind>, // `None` on the device
    version: GameVersion,
    net: FrozenNet,
}

impl Networks {
    /// An empty collection.
    pub fn new() -> Networks {
        Networks::default()
    }

    /// An empty collection. Its networks compute where `device` puts them, unless an agent's spec names a kernel.
    pub fn on_device(device: impl Fn(&Weights) -> FrozenNet + Send + Sync + 'static) -> Networks {
        Networks { device: Some(Arc::new(device)), ..Networks::default() }
    }

    /// The network of an agent for this game on this kernel; without one, on the device or the fastest kernel.
    pub fn load<G: Encode>(
        &self,
        game: &G,
        source: &AgentSource,
        kernel: Option<KernelKind>,
    ) -> Result<FrozenNet, FileError> {
        let kernel = kernel.or_else(|| self.device.is_none().then(KernelKind::best));
        let version = GameVersion::of(game);
        // Locked while the file is read, so that two threads do not read it at the same time.
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let place =
            loaded.iter().position(|one| one.source == *source && one.kernel == kernel && one.version == version);
        let one = match place {
            Some(place) => loaded.remove(place),
            None => {
                if let AgentSource::File(path) = source
                    && !trained::is_file(path)
                {
                    return Err(missing_file(path));
                }
                let file = trained::load(source, game)?;
                let net = match (&self.device, kernel) {
                    (Some(device), None) => device(file.weights()),
                    (_, kernel) => FrozenNet::with_kernel(file.weights(), kernel.unwrap_or_else(KernelKind::best)),
                };
                Loaded { source: source.clone(), kernel, version, net }
            }
        };
        let net = one.net.clone();
        loaded.push(one);
        if loaded.len() > CAPACITY {
            loaded.remove(0);
        }
        Ok(net)
    }
}

impl<G: CatalogGame> Sources<G> for Networks {
    fn network(&self, game: &G, source: &AgentSource, kernel: Option<KernelKind>) -> Result<FrozenNet, String> {
        self.load(game, source, kernel).map_err(|error| error.to_string())
    }

    fn endgames(&self, game: &G, folder: &Path) -> Result<Arc<dyn Endgames<G>>, String> {
        game.open_endgames(folder).map_err(|error| error.to_string())
    }

    fn proof(&self, game: &G) -> Option<Arc<dyn ProofStrategy<G>>> {
        game.proof()
    }
}

impl fmt::Debug for Networks {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Networks")
    }
}

/// The error for a missing agent file, with the agent files in its folder. The spec beside it has the path.
fn missing_file(path: &Path) -> FileError {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.path().to_str().map(str::to_owned))
        .filter(|name| name.ends_with(FILE_ENDING))
        .collect();
    found.sort();
    let files = match found.len() {
        0 => format!("{} contains no agent file", shorten(&folder.display().to_string())),
        _ => format!("agent files there: {}", found.join(", ")),
    };
    FileError::from(format!("no such file; {files}; agents are {AGENTS}"))
}

//! Networks that are loaded once, for all agents that share them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::AgentSource;
use crate::encode::Encode;
use crate::net::{FileError, FrozenNet, GameVersion, KernelKind};

/// The number of networks that are kept; the one that was used least recently goes first.
const CAPACITY: usize = 8;

/// Networks of trained agents, each read once. Clones are the same collection, and a network that is handed out
/// shares its weights with all others of its source. A file that was refused is read again next time, one that changes
/// later is not.
#[derive(Clone, Default)]
pub struct Networks {
    loaded: Arc<Mutex<Vec<Loaded>>>, // most recently used last
}

struct Loaded {
    source: AgentSource,
    kernel: Option<KernelKind>,
    version: GameVersion,
    net: Option<FrozenNet>,
}

impl Networks {
    /// An empty collection.
    pub fn new() -> Networks {
        Networks::default()
    }

    /// The network of an agent for this game on this kernel, or on the fastest one. `None` if this processor
    /// cannot run the kernel.
    pub fn load<G: Encode>(
        &self,
        game: &G,
        source: &AgentSource,
        kernel: Option<KernelKind>,
    ) -> Result<Option<FrozenNet>, FileError> {
        let version = GameVersion::of(game);
        // Locked while the file is read, so that two threads do not read it at the same time.
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let place = loaded.iter().position(|one| {
            one.source == *source && one.kernel == kernel && one.version == version
        });
        let one = match place {
            Some(place) => loaded.remove(place),
            None => {
                let file = source.load(game)?;
                let net = match kernel {
                    None => Some(FrozenNet::new(file.weights())),
                    Some(kind) => FrozenNet::with_kernel(file.weights(), kind),
                };
                Loaded {
                    source: source.clone(),
                    kernel,
                    version,
                    net,
                }
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

impl fmt::Debug for Networks {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Networks")
    }
}

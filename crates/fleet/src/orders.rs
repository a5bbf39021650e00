//! What all workers of a server are to do.

use serde::{Deserialize, Serialize};

use super::places::{ORDERS, find, runs};
use super::{FleetError, Link};

/// What all workers are to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Orders {
    /// Play.
    #[default]
    Play,
    /// Send what they have, and wait.
    Pause,
    /// Send what they have, and stop.
    Drain,
}

impl Orders {
    /// Tells all workers, with the learner's key. It holds for later ones as well.
    pub fn give(self, link: &Link) -> Result<(), FleetError> {
        let runs = find(link, runs(&link.context))?;
        let text = serde_json::to_vec(&self).expect("a word is plain data");
        link.wait(runs.put(ORDERS, text.into())).map(|_| ())
    }

    /// Reads orders. Those of a newer version are none.
    pub(super) fn read(bytes: Option<&[u8]>) -> Orders {
        bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
    }
}

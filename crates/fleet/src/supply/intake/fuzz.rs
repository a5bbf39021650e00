//! What reads the files of strangers and what learners wrote, for the fuzzer. Programs have no use for it.

use std::collections::BTreeSet;

use super::super::lease::Lease;
use super::{KeptName, check, files_of};
use crate::GameFile;
use jarmo_facade::AnyGame;
use jarmo_learn::run::FileId;
use jarmo_selfplay::selfplay::SelfPlaySettings;

/// Checks a file of games as a learner does. `is_new` is false for games that came with another file.
pub fn games(bytes: &[u8], game: &dyn AnyGame, settings: &SelfPlaySettings, is_new: &dyn Fn(FileId) -> bool) {
    let Ok(GameFile { run, .. }) = GameFile::from_bytes(bytes) else {
        return;
    };
    let name = KeptName { sequence: 1, id: GameFile::id(bytes), key: String::new() };
    if let Ok((delivery, found)) = check(&run, game, settings)(&name, bytes, Some(u64::MAX), is_new) {
        assert!(delivery.games.iter().all(|game| is_new(*game)), "a game is learned twice");
        assert!(found.is_empty() || !delivery.games.is_empty(), "only new games are searched again");
    }
}

/// Reads a lease, a list of revoked keys, and a batch of the inbox, whichever it may be.
pub(crate) fn value(bytes: &[u8]) {
    let _ = serde_json::from_slice::<Lease>(bytes);
    let _ = serde_json::from_slice::<BTreeSet<String>>(bytes);
    if let Some(files) = files_of(bytes) {
        let held: usize = files.iter().map(|(_, file)| file.len()).sum();
        assert!(held <= bytes.len(), "a batch holds no more than its bytes");
    }
}

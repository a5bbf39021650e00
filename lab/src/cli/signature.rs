//! `lab signature`

use std::io::{Write, stdout};

use super::CommandResult;
use crate::signature::signature;
use jarmo_exact::catalog::{CatalogGame, GAMES, GameSettings, GameTask, with_game};

pub(super) fn run() -> CommandResult {
    let mut out = stdout().lock();
    for name in GAMES {
        let signature = with_game(name, &GameSettings::default(), SignatureTask)?;
        writeln!(out, "{signature}")?;
    }
    Ok(())
}

struct SignatureTask;

impl GameTask for SignatureTask {
    type Output = String;

    fn run<G: CatalogGame>(self, game: G) -> String {
        signature(&game)
    }
}

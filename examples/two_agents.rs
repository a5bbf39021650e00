//! A match between two agents, with error bars. Every opening is played twice, with sides swapped.
//!
//! `cargo run --release --example two_agents`

use std::error::Error;
use std::sync::atomic::AtomicBool;

use jarmo::agent::build;
use jarmo::arena::{Entrant, Openings, Report, Settings, Tournament};
use jarmo::games::Tammi;

fn main() -> Result<(), Box<dyn Error>> {
    let game = Tammi::standard();
    let specs = ["rollout:100", "alphabeta:500"];
    let entrants = specs.map(|name| Entrant { name: name.to_owned(), checkpoint: None });
    let settings = Settings { pairs: 50, ..Settings::default() };
    let openings = Openings::random(&game, 4, settings.pairs as usize, settings.seed)?;
    // Each team plays on its own thread; one team is enough here.
    let mut team = Vec::new();
    for spec in specs {
        team.push(build(game.clone(), &spec.parse()?)?);
    }
    let mut tournament = Tournament::new(&game, entrants.into(), &openings, settings)?;
    tournament.play(vec![team], &AtomicBool::new(false), &mut ())?;
    print!("{}", Report::new(tournament.standings()).to_text(100));
    Ok(())
}

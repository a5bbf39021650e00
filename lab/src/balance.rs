//! How hard an opening is for each side, measured by games of a fallible agent against itself.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use jarmo_core::env::Line;
use jarmo_core::game::{Game, Player, Verdict};
use jarmo_core::random::stream;
use jarmo_exact::agent::Agent;
use jarmo_judge::arena::{Budget, Ended, GameId, Setup, play_games};

/// Games at a time per thread.
const IN_FLIGHT: usize = 512;

/// White's points, from 0 to 1 per game, over `games` games from each opening. An agent plays both sides, one
/// per thread. `tell` gets the number of finished games.
pub fn white_scores<G: Game>(
    game: &G,
    agents: Vec<Box<dyn Agent<G>>>,
    openings: &[Line<G::Position>],
    games: u32,
    seed: u64,
    mut tell: impl FnMut(usize),
) -> Vec<f64> {
    // A bout is an opening, and all seats belong to the only agent of a team.
    let ids: Vec<GameId> = (0..openings.len())
        .flat_map(|bout| (0..games).map(move |pair| (bout, pair)))
        .map(|(bout, pair)| GameId { bout, pair, first_plays: Player::White })
        .collect();
    let setup = |id: GameId| Setup {
        seats: [0, 0],
        opening: openings[id.bout].clone(),
        stream: stream(seed, (id.bout as u64) << 32 | u64::from(id.pair)),
    };
    let mut points = vec![0.0; openings.len()];
    let mut done = 0;
    let collect = |finished: Option<Ended<G::Position>>| {
        if let Some((id, _, outcome)) = finished {
            points[id.bout] += match outcome.verdict(Player::White) {
                Verdict::Win => 1.0,
                Verdict::Draw => 0.5,
                Verdict::Loss => 0.0,
            };
            done += 1;
            tell(done);
        }
        ControlFlow::Continue(())
    };
    let teams = agents.into_iter().map(|agent| vec![agent]).collect();
    let budget = (Budget::default(), IN_FLIGHT);
    let never = AtomicBool::new(false);
    play_games(game, teams, &ids, setup, budget, &never, collect);
    let share = |points: &f64| points / f64::from(games);
    points.iter().map(share).collect()
}

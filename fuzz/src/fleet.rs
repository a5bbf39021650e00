//! What the programs of a fleet take from each other: files of games, blocks of pairs, answers, and values at the server.

use jarmo::agent::AgentSpec;
use jarmo::arena::{Entrant, PairBlock, Settings};
use jarmo::config::Config;
use jarmo::facade::AgentPlan;
use jarmo::facade::measure::{AnyTournament, OpeningsPlan, TournamentPlan};
use jarmo::facade::selfplay::Net;
use jarmo::fleet::GameFile;
use jarmo::games::ConnectFour;
use jarmo::net::FrozenNet;
use jarmo::selfplay::SelfPlaySettings;
use jarmo::{AnyGame, Games, erase};
use jarmo_fleet::fuzz;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::targets::{Tools, agent_file, origin, sealed};

/// An arena and a learner of connect four.
pub(crate) struct Fleet {
    games: Games,
    game: Arc<dyn AnyGame>,
    settings: SelfPlaySettings,
}

impl Fleet {
    fn new() -> Fleet {
        let settings = SelfPlaySettings { games: 2, simulations: 2, ..Config::default().selfplay };
        Fleet { games: Games::shipped(), game: erase(ConnectFour::new(0)), settings }
    }

    fn of(tools: &mut Tools) -> &Fleet {
        tools.fleet.get_or_insert_with(Fleet::new)
    }

    fn tournament(&self) -> Box<dyn AnyTournament> {
        let plan = TournamentPlan {
            entrants: ["one", "two"].map(|name| Entrant { name: name.to_owned(), checkpoint: None }).into(),
            agents: &players(),
            openings: OpeningsPlan::Usual(Some(2)),
            settings: Settings { pairs: 1, ..Settings::default() },
            threads: 1,
            tables: None,
        };
        self.game.tournament(plan).expect("two agents and openings")
    }

    /// The only block of the tournament.
    fn block(&self) -> PairBlock {
        self.tournament().missing_blocks(1).remove(0)
    }

    fn messages(&self) -> [Vec<u8>; 2] {
        let block = self.block();
        let games = self.game.play_block(&block, &players(), &AtomicBool::new(false)).expect("random play");
        fuzz::messages(&block, games.expect("nobody stopped it"), &origin())
    }
}

fn players() -> [AgentPlan; 2] {
    [(); 2].map(|()| AgentPlan::given(AgentSpec::Random, None))
}

/// A file of games, as it is and compressed with the checksum made to fit. Every other game came with another file.
pub(crate) fn games(tools: &mut Tools, bytes: &[u8]) {
    let Fleet { game, settings, .. } = Fleet::of(tools);
    for file in [bytes, &fuzz::compressed(&sealed(bytes))] {
        fuzz::games(file, game.as_ref(), settings, &|id| id.0 % 2 == 0);
    }
}

pub(crate) fn written_games() -> Vec<Vec<u8>> {
    let Fleet { game, settings, .. } = Fleet::new();
    let net: Net = FrozenNet::new(agent_file().weights()).into();
    let mut play = game.self_play(&settings, &net, 1, 1);
    play.keep_episodes(3);
    let mut games = Vec::new();
    while games.len() < 3 {
        games.extend(play.round().episodes);
    }
    let [run, worker, program] = ["run", "worker", "jarmo"].map(str::to_owned);
    let file = GameFile { run, origin: origin(), worker, program, games };
    vec![fuzz::plain(&file.to_bytes())]
}

/// The answer of a worker, also as a file that a tournament continues.
pub(crate) fn answers(tools: &mut Tools, bytes: &[u8]) {
    let fleet = Fleet::of(tools);
    for message in [bytes, &fuzz::compressed(bytes)] {
        if let Some(games) = fuzz::answer(message) {
            let mut tournament = fleet.tournament();
            let added = tournament.add_block(&fleet.block(), &games, &mut ()).expect("a judge is not needed");
            assert_eq!(added.is_none(), tournament.is_over());
            let _ = fleet.tournament().restore(&games);
        }
    }
}

pub(crate) fn written_answers() -> Vec<Vec<u8>> {
    let [answer, _] = Fleet::new().messages();
    vec![answer]
}

/// A block of pairs for a worker.
pub(crate) fn tasks(tools: &mut Tools, bytes: &[u8]) {
    let Fleet { games, .. } = Fleet::of(tools);
    fuzz::task(bytes, games);
    fuzz::task(&fuzz::compressed(bytes), games);
}

pub(crate) fn written_tasks() -> Vec<Vec<u8>> {
    let [_, task] = Fleet::new().messages();
    vec![task]
}

/// A value of a bucket, a report of progress, or a batch of the inbox.
pub(crate) fn values(tools: &mut Tools, bytes: &[u8]) {
    fuzz::value(bytes, &Fleet::of(tools).games);
}

pub(crate) fn written_values() -> Vec<Vec<u8>> {
    fuzz::values(&origin())
}

//! What reads the messages of strangers and the values at the server, for the fuzzer. Programs have no use for it.

use std::sync::atomic::AtomicBool;

use crate::game_file::{MOST_PLAIN, compress, decompress};
use crate::matches::{Answer, NamedAgent, Task, hash_of, pack, unpack};
use crate::places::{Listed, Newest};
use crate::settings::{RunSettings, read_said, with_board};
use crate::status::workers;
use crate::{Orders, Status, WorkerStatus, json, supply};
use jarmo_core::net::GameVersion;
use jarmo_exact::agent::AgentSpec;
use jarmo_facade::{AgentPlan, Games};
use jarmo_host::record::GameRecord;
use jarmo_judge::arena::PairBlock;
use jarmo_learn::config::Config;
use jarmo_learn::observe::FleetReport;

pub use crate::supply::fuzz::games;

/// The compressed form in which workers and arenas send this.
pub fn compressed(plain: &[u8]) -> Vec<u8> {
    compress(plain)
}

/// The inverse of [`compressed`].
pub fn plain(bytes: &[u8]) -> Vec<u8> {
    decompress(bytes, MOST_PLAIN).expect("it was compressed here")
}

/// The answer to a block of pairs, and the block, before compression.
pub fn messages(block: &PairBlock, games: Vec<GameRecord>, origin: &GameVersion) -> [Vec<u8>; 2] {
    let agents = ["random", "greedy"].map(|spec| NamedAgent { spec: spec.to_owned(), parcel: None });
    let (tournament, origin, block) = ("name".to_owned(), origin.clone(), block.clone());
    let task = Task { number: 0, tournament, origin, quiet_limit: None, agents, block };
    [pack(&Answer { number: 0, games }), pack(&task)].map(|bytes| plain(&bytes.expect("a small message")))
}

/// Values that learners and workers write.
pub fn values(origin: &GameVersion) -> Vec<Vec<u8>> {
    let settings = RunSettings::new("run".to_owned(), "runs/first".to_owned(), origin.clone(), &Config::default());
    let written = [json(&settings), json(&WorkerStatus::default()), json(&FleetReport::default())];
    written.map(String::into_bytes).into()
}

/// The games in a worker's answer to an arena.
pub fn answer(bytes: &[u8]) -> Option<Vec<GameRecord>> {
    unpack::<Answer>(bytes).ok().map(|answer| answer.games)
}

/// Reads a block of pairs as a worker does, and plays it up to its first move.
pub fn task(bytes: &[u8], games: &Games) {
    let Ok(Task { origin, quiet_limit, agents, block, .. }) = unpack(bytes) else {
        return;
    };
    let Ok((mut rules, _board)) = with_board(&origin) else {
        return;
    };
    rules.quiet_limit = quiet_limit;
    if let Ok(game) = games.open(&origin.game, &rules)
        && origin.check(&game.facts().version).is_ok()
    {
        let players = [(); 2].map(|()| AgentPlan::given(AgentSpec::Random, None));
        let _ = game.play_block(&block, &players, &AtomicBool::new(true));
    }
    for agent in agents {
        if let Ok(AgentSpec::Network(source, _)) = agent.spec.parse() {
            hash_of(&source);
        }
    }
}

/// Reads a value of the bucket of runs, a report of progress, and a batch of the inbox, whichever it may be.
pub fn value(bytes: &[u8], games: &Games) {
    if let Ok(run) = read_said::<RunSettings>(bytes)
        && let (Ok((config, _)), Ok((rules, _board))) = (run.config(), with_board(&run.game))
        && let Ok(game) = games.open(&config.game.name, &rules)
    {
        let _ = run.game.check(&game.facts().version);
    }
    let _ = serde_json::from_slice::<Newest>(bytes);
    let _ = serde_json::from_slice::<Orders>(bytes);
    if let Ok(report) = serde_json::from_slice::<FleetReport>(bytes) {
        let _ = report.files_text();
    }
    let said = Listed { of: "KEY".to_owned(), name: "worker".to_owned(), content: bytes.to_vec(), age: 1.0 };
    let status = Status { workers: workers(&[said]), ..Status::default() };
    let _ = (status.to_string(), status.metrics());
    supply::fuzz::value(bytes);
}

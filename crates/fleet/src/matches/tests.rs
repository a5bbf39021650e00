//! Random histories of a match: workers that are lost, late, answer twice, wrongly, or for another block.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::{Answer, Host, Task, pack, unpack};
use jarmo_core::games::ConnectFour;
use jarmo_core::random::{below, stream};
use jarmo_exact::agent::AgentSpec;
use jarmo_facade::measure::{AnyTournament, OpeningsPlan, TournamentPlan};
use jarmo_facade::{AgentPlan, AnyGame, erase};
use jarmo_host::record::GameRecord;
use jarmo_judge::arena::{Entrant, Report, Settings};
use rand::Rng;

use crate::matches::NamedAgent;

const HISTORIES: u64 = 2_000;
const EVENTS: usize = 30;
const PAIRS: u32 = 4;
const KEYS: [&str; 3] = ["one", "two", "three"];

fn tournament(game: &dyn AnyGame, agents: &[AgentPlan; 2]) -> Box<dyn AnyTournament> {
    let plan = TournamentPlan {
        entrants: ["one", "two"].map(|name| Entrant { name: name.to_owned(), checkpoint: None }).into(),
        agents,
        openings: OpeningsPlan::Usual(Some(2)),
        settings: Settings { pairs: PAIRS, ..Settings::default() },
        threads: 1,
        tables: None,
    };
    game.tournament(plan).unwrap()
}

fn agents() -> [AgentPlan; 2] {
    ["random", "random"].map(|spec| AgentPlan::given(spec.parse::<AgentSpec>().unwrap(), None))
}

/// The blocks of a tournament, and the games of each.
fn blocks(game: &dyn AnyGame) -> (Vec<Task>, Vec<Vec<GameRecord>>) {
    let blocks = tournament(game, &agents()).missing_blocks(1);
    let never = AtomicBool::new(false);
    let played = blocks.iter().map(|block| game.play_block(block, &agents(), &never).unwrap().unwrap()).collect();
    let tasks = blocks
        .into_iter()
        .enumerate()
        .map(|(number, block)| Task {
            number,
            tournament: String::new(),
            origin: game.facts().version.clone(),
            quiet_limit: None,
            agents: ["one", "two"].map(|spec| NamedAgent { spec: spec.to_owned(), parcel: None }),
            block,
        })
        .collect();
    (tasks, played)
}

fn host<'a>(tournament: &'a mut dyn AnyTournament, tasks: &[Task]) -> Host<'a, fn(String)> {
    Host {
        tournament,
        observer: Box::leak(Box::new(())),
        open: (0..tasks.len()).map(|number| (number, None)).collect(),
        tasks: tasks.to_vec(),
        keys: BTreeMap::new(),
        answered: (Duration::ZERO, 0),
        added: Instant::now(),
        warned: None,
        tell: |_| {},
    }
}

/// Time passes for a block.
fn age(host: &mut Host<'_, fn(String)>, number: usize, seconds: u64) {
    let held = host.keys.values_mut().filter_map(|key| Some(&mut key.held.get_mut(&number)?.at));
    for at in host.open.get_mut(&number).into_iter().flatten().chain(held) {
        *at -= Duration::from_secs(seconds);
    }
}

#[test]
fn a_key_that_takes_all_blocks_again_and_again_delays_nobody() {
    let game = erase(ConnectFour::new(0));
    let (tasks, played) = blocks(game.as_ref());
    let mut tournament = tournament(game.as_ref(), &agents());
    let mut host = host(tournament.as_mut(), &tasks);
    let take_all = |host: &mut Host<'_, fn(String)>| {
        while let block @ [_, ..] = &host.offer("rogue").unwrap()[..] {
            // It could not play it, it says.
            let number = unpack::<Task>(block).unwrap().number;
            host.take("rogue", &pack(&Answer { number, games: Vec::new() }).unwrap()).unwrap();
        }
    };
    for _ in 0..tasks.len() {
        take_all(&mut host);
        (0..tasks.len()).for_each(|number| age(&mut host, number, 20));
        take_all(&mut host);
        let number = unpack::<Task>(&host.offer("honest").unwrap()).unwrap().number;
        let games = played[number].clone();
        assert_eq!(host.take("honest", &pack(&Answer { number, games }).unwrap()).unwrap(), "");
    }
    assert!(host.tournament.is_over());
}

#[test]
fn every_history_of_a_match_ends_with_the_games_of_one_machine() {
    let game = erase(ConnectFour::new(0));
    let game = game.as_ref();
    let agents = agents();
    let mut alone = tournament(game, &agents);
    let (tasks, played) = blocks(game);
    alone.play(&AtomicBool::new(false), &mut ()).unwrap();
    let expected = serde_json::to_value(Report::new(alone.standings())).unwrap();
    for history in 0..HISTORIES {
        let mut random = stream(history, 2);
        let mut draw = |bound: usize| below(random.next_u64(), bound as u32) as usize;
        let mut tournament = tournament(game, &agents);
        let mut host = host(tournament.as_mut(), &tasks);
        let mut held: Vec<(&str, usize)> = Vec::new(); // blocks, by the keys that got them
        for _ in 0..EVENTS {
            let key = KEYS[draw(KEYS.len())];
            match draw(8) {
                0..=2 => {
                    let offered = host.offer(key).unwrap();
                    if !offered.is_empty() {
                        held.push((key, unpack::<Task>(&offered).unwrap().number));
                    }
                }
                3 => {
                    // Time passes: a block is late.
                    age(&mut host, draw(tasks.len()), 3600);
                }
                4 if !held.is_empty() => {
                    held.swap_remove(draw(held.len())); // a worker is lost
                }
                _ if !held.is_empty() => {
                    let (key, number) = held[draw(held.len())]; // perhaps it answers again
                    let games = match draw(6) {
                        0 => Vec::new(),                                 // it could not play
                        1 => played[(number + 1) % tasks.len()].clone(), // the games of another block
                        2 => played[number][..1].to_vec(),               // not all of them
                        _ => played[number].clone(),
                    };
                    host.take(key, &pack(&Answer { number, games }).unwrap()).unwrap();
                }
                _ => {
                    host.take(key, b"garbage").unwrap();
                }
            }
        }
        // The others are gone, and one worker plays what is open.
        while !host.tournament.is_over() {
            for first in host.open.values_mut().flatten() {
                *first -= Duration::from_secs(1 << 20);
            }
            let number = unpack::<Task>(&host.offer("last").unwrap()).unwrap().number;
            let games = played[number].clone();
            assert_eq!(host.take("last", &pack(&Answer { number, games }).unwrap()).unwrap(), "");
        }
        let found = serde_json::to_value(Report::new(host.tournament.standings())).unwrap();
        assert_eq!(found, expected, "history {history}");
    }
}

//! Playing tournaments: pairs, openings, batches, interruption, sequential tests.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jarmo::agent::{Agent, Decision, GreedyAgent, RandomAgent, Request, build};
use jarmo::arena::{
    Anchor, Budget, Checkpoint, Conclusion, Entrant, Ladder, Observer, Openings, Pairing, Report, Settings, Sprt,
    Standings, Team, Tournament,
};
use jarmo::catalog::CatalogGame;
use jarmo::error::FileError;
use jarmo::eval::Value;
use jarmo::game::{Action, Game, Mask};
use jarmo::games::{ConnectFour, Guard, Jarmo};
use jarmo::record::GameRecord;

/// Plays the legal action with the lowest or highest index, and records its requests.
struct Lowest<G> {
    game: G,
    highest: bool,
    pause: Duration, // before it chooses
    asked: Arc<Mutex<Vec<Asked>>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Asked {
    batch: usize,
    nodes: Option<u64>,
    has_deadline: bool,
}

impl<G: Game> Agent<G> for Lowest<G> {
    fn choose(&mut self, requests: &mut [Request<'_, G>]) -> Vec<Decision> {
        std::thread::sleep(self.pause);
        self.asked.lock().unwrap().push(Asked {
            batch: requests.len(),
            nodes: requests[0].limit.nodes,
            has_deadline: requests[0].limit.deadline.is_some(),
        });
        let lowest = |request: &mut Request<'_, G>| Decision {
            action: self.pick(&request.position),
            value: Value::EVEN,
            proven: None,
            nodes: 0,
            depth: 0,
            candidates: Vec::new(),
        };
        requests.iter_mut().map(lowest).collect()
    }
}

impl<G: Game> Lowest<G> {
    fn pick(&self, position: &G::Position) -> Action {
        let legal = self.game.legal(position);
        legal.nth(if self.highest { legal.count() - 1 } else { 0 })
    }
}

/// Keeps all records, and stops the tournament after `stop_after` games.
struct Keeper<'a> {
    records: Vec<GameRecord>,
    stop_after: usize,
    stop: &'a AtomicBool,
}

impl Observer for Keeper<'_> {
    fn game(&mut self, record: &GameRecord) -> Result<(), FileError> {
        self.records.push(record.clone());
        if self.records.len() >= self.stop_after {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn standings(&mut self, _: &Standings) {}
}

fn entrants(names: &[&str]) -> Vec<Entrant> {
    let entrant = |name: &&str| Entrant { name: (*name).to_owned(), checkpoint: None };
    names.iter().map(entrant).collect()
}

/// One team of the named agents per thread.
fn teams<G: CatalogGame>(game: &G, names: &[&str], threads: usize) -> Vec<Team<G>> {
    let agent = |name: &&str| -> Box<dyn Agent<G>> {
        match *name {
            "random" => Box::new(RandomAgent::new(game.clone())),
            "greedy" => Box::new(GreedyAgent::new(game.clone()).unwrap()),
            "remembers" | "forgets" => {
                let keep = if *name == "remembers" { "yes" } else { "no" };
                let spec = format!("uniform:40?keep={keep}").parse().unwrap();
                build(game.clone(), &spec).unwrap()
            }
            "lowest" | "slow" | "highest" => Box::new(Lowest {
                game: game.clone(),
                highest: *name == "highest",
                pause: Duration::from_micros(if *name == "slow" { 200 } else { 0 }),
                asked: Arc::default(),
            }),
            _ => panic!("no such agent here: {name}"),
        }
    };
    (0..threads).map(|_| names.iter().map(agent).collect()).collect()
}

/// Plays a whole tournament.
fn play<G: CatalogGame>(game: &G, names: &[&str], settings: &Settings, threads: usize) -> (Report, Vec<GameRecord>) {
    let openings = Openings::random(game, 2, settings.pairs as usize, settings.seed).unwrap();
    let mut tournament = Tournament::new(game, entrants(names), &openings, settings.clone()).unwrap();
    let stop = AtomicBool::new(false);
    let mut keeper = Keeper { records: Vec::new(), stop_after: usize::MAX, stop: &stop };
    tournament.play(teams(game, names, threads), &stop, &mut keeper).unwrap();
    (Report::new(tournament.standings()), keeper.records)
}

fn pairs(pairs: u32) -> Settings {
    Settings { pairs, seed: 3, ..Settings::default() }
}

#[test]
fn games_do_not_depend_on_threads_or_batches() {
    fn check<G: CatalogGame>(game: G) {
        let names = ["random", "greedy", "random", "remembers"];
        let (expected, mut records) = play(&game, &names, &pairs(20), 1);
        assert_eq!(expected.games, 240);
        let alone = Settings { in_flight: 1, ..pairs(20) };
        for (settings, threads) in [(pairs(20), 3), (alone, 2)] {
            let (report, mut others) = play(&game, &names, &settings, threads);
            assert_eq!(report, expected);
            let key = |record: &GameRecord| record.to_line();
            records.sort_by_key(key);
            others.sort_by_key(key);
            assert_eq!(records, others);
        }
    }
    check(Jarmo::standard());
    check(Guard::standard()); // the same player may act several times in a row
}

#[test]
fn every_opening_is_played_from_both_sides_and_none_twice() {
    let game = Jarmo::standard();
    let (report, records) = play(&game, &["random", "lowest"], &pairs(121), 2);
    let mut by_pair: HashMap<u32, Vec<&GameRecord>> = HashMap::new();
    for record in &records {
        by_pair.entry(record.arena.unwrap().pair).or_default().push(record);
    }
    let mut openings = HashSet::new();
    for games in by_pair.values() {
        let [one, other] = games[..] else { panic!("a pair of {} games", games.len()) };
        assert_eq!(one.moves[..2], other.moves[..2]);
        assert_eq!((&one.white, &one.black), (&other.black, &other.white));
        assert_eq!(one.opening_plies, Some(2));
        assert!(openings.insert(&one.moves[..2]));
    }
    assert_eq!(openings.len(), 121, "all openings of two plies");
    let row = &report.matches[0];
    assert_eq!((row.scores.as_white.games(), row.scores.as_black.games()), (121, 121));
    assert_eq!(report.agents[0].scores.results, report.agents[1].scores.results.flip());
    assert_eq!(row.pairs.iter().sum::<u32>(), 121);
}

#[test]
fn records_replay_to_their_outcomes() {
    let game = Guard::standard();
    let (_, records) = play(&game, &["random", "greedy"], &pairs(10), 2);
    assert_eq!(records.len(), 20);
    for record in records {
        let again = GameRecord::parse(&record.to_line()).unwrap();
        assert_eq!(again, record);
        let last = again.replay(&game).unwrap().position;
        assert_eq!(again.rules(&game).unwrap().outcome(&last), record.outcome);
        assert!(record.outcome.is_some());
    }
}

#[test]
fn an_agent_gets_one_batch_of_all_games_in_which_it_moves() {
    let game = Jarmo::standard();
    let run = |settings: Settings| {
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let openings = Openings::random(&game, 2, settings.pairs as usize, 1).unwrap();
        let names = entrants(&["lowest", "highest"]);
        let mut tournament = Tournament::new(&game, names, &openings, settings).unwrap();
        let agent = |highest| Lowest { game: game.clone(), highest, pause: Duration::ZERO, asked: asked.clone() };
        let team: Team<Jarmo> = vec![Box::new(agent(false)), Box::new(agent(true))];
        let stop = AtomicBool::new(false);
        tournament.play(vec![team], &stop, &mut ()).unwrap();
        drop(tournament);
        Arc::try_unwrap(asked).unwrap().into_inner().unwrap()
    };
    let asked = run(Settings { in_flight: 32, ..pairs(60) });
    let rounds = asked.windows(2);
    let full = rounds.filter(|two| two[0].batch + two[1].batch == 32);
    let full = full.count();
    assert!(full > 10, "{full} full rounds of {}", asked.len());
    assert!(asked.iter().all(|asked| asked.nodes.is_none() && !asked.has_deadline));
    let asked = run(Settings { budget: Budget { nodes: Some(7), movetime_ms: Some(1000) }, ..pairs(2) });
    let alone = Asked { batch: 1, nodes: Some(7), has_deadline: true };
    assert!(asked.iter().all(|asked| *asked == alone), "timed games are played one at a time");
}

#[test]
fn an_interrupted_tournament_resumes_from_its_records_with_the_same_result() {
    let game = Jarmo::standard();
    // Slow enough that the stop comes before the end.
    let names = ["random", "greedy", "slow"];
    let settings = Settings { in_flight: 4, ..pairs(40) };
    let (expected, all) = play(&game, &names, &settings, 1);
    let openings = Openings::random(&game, 2, 40, 3).unwrap();
    let stop = AtomicBool::new(false);
    let mut records = Vec::new();
    let mut sittings = 0;
    let report = loop {
        let mut tournament = Tournament::new(&game, entrants(&names), &openings, settings.clone()).unwrap();
        tournament.restore(&records).unwrap();
        stop.store(false, Ordering::Relaxed);
        let mut keeper = Keeper { records: Vec::new(), stop_after: 50, stop: &stop };
        tournament.play(teams(&game, &names, 2), &stop, &mut keeper).unwrap();
        records.extend(keeper.records);
        sittings += 1;
        if tournament.standings().games() == tournament.standings().planned_games() {
            break Report::new(tournament.standings());
        }
    };
    assert!(sittings > 1);
    assert_eq!(report, expected);
    assert_eq!(records.len(), all.len(), "no game was played twice");
}

#[test]
fn games_and_agents_can_be_added_to_a_finished_tournament() {
    let game = Jarmo::standard();
    let (_, records) = play(&game, &["greedy", "random"], &pairs(10), 1);
    let names = ["lowest", "random", "greedy"];
    let (expected, _) = play(&game, &names, &pairs(20), 1);
    let openings = Openings::random(&game, 2, 20, 3).unwrap();
    let mut tournament = Tournament::new(&game, entrants(&names), &openings, pairs(20)).unwrap();
    tournament.restore(&records).unwrap();
    assert_eq!(tournament.standings().games(), 20);
    let stop = AtomicBool::new(false);
    tournament.play(teams(&game, &names, 1), &stop, &mut ()).unwrap();
    assert_eq!(Report::new(tournament.standings()), expected);
}

#[test]
fn records_of_another_tournament_are_refused() {
    let game = Jarmo::standard();
    let (_, records) = play(&game, &["random", "greedy"], &pairs(4), 1);
    let openings = Openings::random(&game, 2, 4, 3).unwrap();
    type Change = fn(&mut GameRecord);
    let changes: [(Change, &str); 12] = [
        (|record| record.arena = None, "not played in a tournament"),
        (|record| record.arena.as_mut().unwrap().seed = 4, "the seed is 4 in the record and 3 in this tournament"),
        (|record| record.arena.as_mut().unwrap().nodes = Some(8), "nodes per move"),
        (|record| record.arena.as_mut().unwrap().movetime_ms = Some(8), "milliseconds"),
        (|record| record.arena.as_mut().unwrap().pair = 4, "play more games"),
        (|record| record.arena.as_mut().unwrap().pair ^= 1, "another opening"),
        (|record| record.opening_plies = Some(1), "another opening"),
        (|record| record.white = Some("rollout:5".into()), "rollout:5 does not take part"),
        (|record| record.game = "tammi".into(), "of tammi, not of jarmo"),
        (|record| record.rules = Some(99), "version 99 of the rules"),
        (|record| record.max_plies = Some(50), "limit on plies"),
        (|record| record.outcome = None, "recorded result"),
    ];
    for (change, message) in changes {
        let mut tournament = Tournament::new(&game, entrants(&["random", "greedy"]), &openings, pairs(4)).unwrap();
        let mut changed = records.clone();
        change(&mut changed[2]);
        let error = tournament.restore(&changed).unwrap_err().to_string();
        assert!(error.contains(message), "{error} has no {message}");
        assert!(error.starts_with("game 3 "), "{error}");
    }
}

#[test]
fn impossible_tournaments_are_refused_with_the_remedy() {
    let game = Jarmo::standard();
    let openings = Openings::random(&game, 2, 4, 3).unwrap();
    let refused = |names: &[&str], settings: Settings| {
        Tournament::new(&game, entrants(names), &openings, settings).err().expect("it cannot be played").to_string()
    };
    assert!(refused(&["random"], pairs(1)).contains("at least two"));
    assert!(refused(&["random", "greedy"], pairs(0)).contains("at least 2"));
    let sprt = Settings { sprt: Some("0,10".parse().unwrap()), ..pairs(1) };
    assert!(refused(&["random", "greedy", "lowest"], sprt).contains("two agents, not 3"));
    let anchor = Settings { anchor: Some("lowest=0".parse().unwrap()), ..pairs(1) };
    let message = refused(&["random", "random"], anchor);
    assert!(message.contains("random, random#2"), "{message}");
}

#[test]
fn repeated_games_count_but_change_neither_rating_nor_interval() {
    let game = Jarmo::standard();
    let names = ["lowest", "highest"];
    let once = play(&game, &names, &pairs(121), 2).0;
    let thrice = play(&game, &names, &pairs(363), 2).0;
    assert_eq!((once.repeated_pairs, thrice.repeated_pairs), (0, 242));
    assert_eq!(thrice.games, 726);
    assert_eq!(thrice.matches[0].elo, once.matches[0].elo);
    assert_eq!(thrice.draws_between_equals, once.draws_between_equals);
}

#[test]
fn the_same_moves_from_another_position_are_no_repetition() {
    let game = ConnectFour::new(0);
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("play.openings");
    // Both players fill the columns from the left, and Black wins with the first stone of the fourth.
    let opening = |row| format!("{{\"game\":\"connect_four\",\"position\":\"7/7/7/7/7/{row} b 1\",\"moves\":[]}}\n");
    fs::write(&path, opening("5w1") + &opening("6w")).unwrap();
    let openings = Openings::from_file(&game, &path, None).unwrap();
    let names = ["lowest", "lowest"];
    let mut tournament = Tournament::new(&game, entrants(&names), &openings, pairs(2)).unwrap();
    tournament.play(teams(&game, &names, 1), &AtomicBool::new(false), &mut ()).unwrap();
    let report = Report::new(tournament.standings());
    assert_eq!((report.games, report.repeated_pairs), (4, 0));
}

#[test]
fn a_sequential_test_stops_early_at_the_same_pair_with_any_number_of_threads() {
    let game = Jarmo::standard();
    let settings = Settings { sprt: Some(Sprt { elo0: 0.0, elo1: 50.0 }), ..pairs(2000) };
    let (report, records) = play(&game, &["greedy", "random"], &settings, 1);
    let state = report.sprt.unwrap();
    assert_eq!(state.conclusion, Conclusion::Elo1);
    assert_eq!(state.games, report.games);
    assert!(state.games < 200 && records.len() < 4000);
    for threads in [2, 3] {
        assert_eq!(play(&game, &["greedy", "random"], &settings, threads).0, report);
    }
    let weaker = play(&game, &["random", "greedy"], &settings, 2).0;
    assert_eq!(weaker.sprt.unwrap().conclusion, Conclusion::Elo0);
}

#[test]
fn the_anchor_fixes_the_scale_and_nothing_else() {
    let game = Jarmo::standard();
    let names = ["random", "greedy", "lowest"];
    let free = play(&game, &names, &pairs(20), 1).0;
    let settings = Settings { anchor: Some(Anchor { agent: "random".into(), elo: 1000.0 }), ..pairs(20) };
    let fixed = play(&game, &names, &settings, 1).0;
    let rating = |report: &Report, name: &str| {
        let row = report.agents.iter().find(|row| row.name == name).unwrap();
        row.rating
    };
    assert_eq!(rating(&fixed, "random").elo, 1000.0);
    assert_eq!(rating(&fixed, "random").margin, 0.0);
    let shift = 1000.0 - rating(&free, "random").elo;
    for name in names {
        assert!((rating(&fixed, name).elo - rating(&free, name).elo - shift).abs() < 1e-6);
    }
    assert_eq!(free.matches, fixed.matches);
}

#[test]
fn a_ladder_joins_tournaments_through_common_agents() {
    let game = Jarmo::standard();
    let mut ladder = Ladder::default();
    let anchor: Anchor = "random=0".parse().unwrap();
    for (seed, names) in [(1, ["greedy", "random"]), (2, ["greedy", "lowest"]), (3, ["lowest", "greedy"])] {
        let settings = Settings { pairing: Pairing::Gauntlet, seed, ..pairs(30) };
        let openings = Openings::random(&game, 2, 30, seed).unwrap();
        let mut table = entrants(&names);
        if names[0] == "greedy" {
            table[0].checkpoint = Some(Checkpoint { run: "run".into(), step: 7, cpu_seconds: None });
        }
        let mut tournament = Tournament::new(&game, table, &openings, settings).unwrap();
        let stop = AtomicBool::new(false);
        tournament.play(teams(&game, &names, 1), &stop, &mut ()).unwrap();
        ladder.add(tournament.standings());
    }
    let text = serde_json::to_string(&ladder).unwrap();
    let again: Ladder = serde_json::from_str(&text).unwrap();
    assert_eq!(again, ladder);
    let ratings = ladder.ratings(&anchor);
    let names: Vec<&str> = ratings.iter().map(|(entrant, _)| &*entrant.name).collect();
    assert_eq!(names, ["greedy", "random", "lowest"]);
    assert_eq!(ratings[0].0.checkpoint.as_ref().unwrap().step, 7);
    assert_eq!(ratings[1].1.elo, 0.0);
    assert!(ratings[0].1.elo > ratings[2].1.elo + 200.0);
    assert!(ratings[2].1.margin > ratings[0].1.margin, "lowest met random only through greedy");
}

#[test]
fn agents_keep_their_memory_of_a_game() {
    let game = Jarmo::standard();
    let moves = |name: &str| {
        let (_, records) = play(&game, &[name, "greedy"], &pairs(4), 1);
        let mut moves: Vec<_> = records.into_iter().map(|record| record.moves).collect();
        moves.sort();
        moves
    };
    assert_ne!(moves("remembers"), moves("forgets"));
}

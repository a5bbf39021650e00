//! Tables in use: in front of an evaluator, as an agent, and to measure other agents.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jarmo::agent::{Agent, AgentSource, AgentSpec, Limit, RandomAgent, Request, build};
use jarmo::erase;
use jarmo::eval::{EvalBatch, Evaluation, Evaluator, ScriptedEvaluator, Value, WithEndgames, favourite};
use jarmo::facade::AgentPlan;
use jarmo::game::{Game, Proven, Verdict};
use jarmo::games::{Guard, Jarmo, JarmoPosition};
use jarmo::net::{AgentFile, FrozenNet, NetEvaluator, NetSettings, NetShape, Provenance, Weights};
use jarmo::random::stream;
use jarmo::tables::index::JarmoLayer;
use jarmo::tables::{BuildSettings, Endgames, HasEndgames, Tables, random_position};

fn tables(force: u32) -> Tables {
    Tables::solve(&Jarmo::standard(), force).unwrap()
}

fn build_in(folder: &Path, force: u32) {
    let settings = BuildSettings { force, save_every: Duration::from_secs(1000) };
    jarmo::tables::build(&Jarmo::standard(), folder, settings, &mut |_| {}).unwrap();
}

fn agent(text: &str) -> Box<dyn Agent<Jarmo>> {
    build(Jarmo::standard(), &text.parse::<AgentSpec>().unwrap()).unwrap()
}

fn choose(agent: &mut dyn Agent<Jarmo>, position: JarmoPosition) -> jarmo::agent::Decision {
    let mut stream = stream(1, 1);
    let mut requests = [Request { position, stream: &mut stream, limit: Limit::default(), memory: None }];
    agent.choose(&mut requests).remove(0)
}

#[test]
fn positions_in_the_tables_do_not_reach_the_evaluator() {
    let game = Jarmo::standard();
    let known = game.parse_position("5/2w2/5/2b2/5 w - - 0").unwrap();
    let unknown = ScriptedEvaluator::new(&game, 1, |position, _| {
        assert_ne!(*position, known);
        Evaluation::of(Value::EVEN)
    });
    let mut evaluator = WithEndgames::new(game.clone(), Arc::new(tables(3)), unknown);
    let mut batch = EvalBatch::new(game.actions());
    for (position, seed) in [game.start(), known, game.start()].into_iter().zip(1..) {
        batch.push(position, seed);
    }
    evaluator.evaluate(&mut batch);
    let [first, second, third] = [0, 1, 2].map(|row| *batch.evaluation(row));
    assert_eq!(second.proven, Some(Proven::win(1)));
    assert_eq!(second.value.win, 1.0);
    assert_eq!(first.proven, None);
    assert_eq!(first, third);
}

#[test]
fn a_result_beyond_the_limit_on_the_length_is_a_draw() {
    let tables = tables(4);
    let text = |ply: u32| format!("5/b4/4b/5/2w1w w - - {ply}");
    let game = Jarmo::standard();
    let known = |ply| {
        let position = game.parse_position(&text(ply)).unwrap();
        tables.known(&game, &position)
    };
    assert_eq!(known(0), Some(Proven::win(23)));
    assert_eq!(known(200 - 23), Some(Proven::win(23)));
    assert_eq!(known(200 - 22), Some(Proven::DRAW));
    assert_eq!(tables.known(&game, &game.start()), None);
}

#[test]
fn the_agent_wins_every_won_position_in_the_plies_it_announces() {
    let folder = tempfile::tempdir().unwrap();
    build_in(folder.path(), 4);
    let game = Jarmo::standard();
    let tables = Tables::open(&game, folder.path()).unwrap();
    let mut perfect = agent(&format!("rollout:8?tables={}", folder.path().display()));
    let mut other = RandomAgent::new(game.clone());
    let layer = JarmoLayer::new(4);
    let mut draw = stream(5, 5);
    let mut won = 0;
    for _ in 0..200 {
        let start = random_position(&layer, &mut draw);
        let Some(Proven { verdict: Verdict::Win, plies: Some(plies @ 1..) }) = tables.proven(&start) else {
            continue;
        };
        let announced = choose(perfect.as_mut(), start).proven;
        assert_eq!(announced, Some(Proven::win(plies)));
        let mut position = start;
        while game.outcome(&position).is_none() {
            let mover = position.to_move();
            let decision = if mover == start.to_move() {
                choose(perfect.as_mut(), position)
            } else {
                choose(&mut other, position)
            };
            game.play(&mut position, decision.action);
        }
        let outcome = game.outcome(&position).unwrap();
        assert_eq!(outcome.verdict(start.to_move()), Verdict::Win);
        assert!(game.ply(&position) <= plies);
        won += 1;
    }
    assert!(won > 50);
    // Outside the tables the agent searches.
    let decision = choose(perfect.as_mut(), game.start());
    assert_eq!((decision.nodes, decision.proven), (8, None));
}

#[test]
fn every_tree_agent_can_use_tables_at_its_leaves() {
    let folder = tempfile::tempdir().unwrap();
    build_in(folder.path(), 4);
    let game = Jarmo::standard();
    // Every capture leads into the tables; the position itself is outside.
    let position = game.parse_position("b4/2w2/1b3/1w3/2W2 w - - 0").unwrap();
    assert_eq!(position.force(), 6);
    let spec = format!("uniform:64?tables={}", folder.path().display());
    let decision = choose(agent(&spec).as_mut(), position);
    assert_eq!(decision.nodes, 64);
    let inside = game.parse_position("5/b4/4b/5/2w1w w - - 0").unwrap();
    let decision = choose(agent(&spec).as_mut(), inside);
    assert_eq!(decision.proven, Some(Proven::win(23)));
}

#[test]
fn alpha_beta_plays_by_tables_where_they_know_the_result() {
    let folder = tempfile::tempdir().unwrap();
    build_in(folder.path(), 4);
    let game = Jarmo::standard();
    let mut agent = agent(&format!("alphabeta:50?tables={}", folder.path().display()));
    let inside = game.parse_position("5/b4/4b/5/2w1w w - - 0").unwrap();
    assert_eq!(choose(agent.as_mut(), inside).proven, Some(Proven::win(23)));
    let outside = choose(agent.as_mut(), game.start());
    assert!(outside.proven.is_none() && outside.nodes > 0, "{outside:?}");
}

#[test]
fn an_agent_that_is_to_read_no_file_opens_no_tables_and_no_network() {
    let folder = tempfile::tempdir().unwrap();
    build_in(folder.path(), 3);
    let tables = folder.path().display();
    let game = erase(Jarmo::standard());
    let refusal = |spec: &str, net: Option<&FrozenNet>| {
        let plan = AgentPlan::given(spec.parse().unwrap(), net.cloned());
        game.agent(&plan).err().map(|error| error.to_string())
    };
    let shipped = game.load(&AgentSource::Program).unwrap();
    let net = FrozenNet::new(shipped.weights());
    for agent in ["rollout:8", "alphabeta:8", "trained"] {
        let spec = format!("{agent}?tables={tables}");
        let problem = refusal(&spec, Some(&net)).expect("there are tables in the folder");
        assert!(problem.ends_with("there are no exact tables here"), "{problem}");
    }
    assert!(refusal("trained", None).expect("none was given").ends_with("its file is missing"));
    assert_eq!(refusal("trained?sims=8", Some(&net)), None);
    assert_eq!(refusal("nowhere/none.safetensors", Some(&net)), None, "the network is the given one");
}

#[test]
fn missing_tables_and_games_without_tables_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let spec: AgentSpec = format!("rollout?tables={path}").parse().unwrap();
    assert_eq!(spec.to_string(), format!("rollout?tables={path}"));
    let message = build(Jarmo::standard(), &spec).err().unwrap().to_string();
    assert!(message.contains("has no tables of jarmo"), "{message}");
    let message = build(Guard::standard(), &spec).err().unwrap().to_string();
    assert!(message.contains("jarmo and tammi only, not for guard"), "{message}");
    assert!("tables:x".parse::<AgentSpec>().is_err());
}

#[test]
fn open_tables_are_shared() {
    let folder = tempfile::tempdir().unwrap();
    build_in(folder.path(), 3);
    let game = Jarmo::standard();
    let first = game.open_endgames(folder.path()).unwrap();
    let second = game.open_endgames(&folder.path().join(".")).unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    drop((first, second));
    std::fs::remove_file(folder.path().join("force-03.table")).unwrap();
    std::fs::remove_file(folder.path().join("force-02.table")).unwrap();
    assert!(game.open_endgames(folder.path()).is_err(), "the tables were dropped");
}

#[test]
fn batched_lookups_agree_with_single_ones() {
    let tables = tables(4);
    let game = Jarmo::standard();
    let mut draw = stream(1, 9);
    let forces = [5, 2, 4, 3];
    let positions: Vec<_> =
        (0..333).map(|number| random_position(&JarmoLayer::new(forces[number % 4]), &mut draw)).collect();
    let mut found = vec![None; positions.len()];
    tables.proven_all(&positions, &mut found);
    let single: Vec<_> = positions.iter().map(|one| tables.proven(one)).collect();
    assert_eq!(found, single);
    assert!(found[0].is_none() && found[1].is_some());
    // The same under a limit on the length that turns some results into draws.
    let short = game.with_max_plies(6);
    let mut known = Vec::new();
    tables.known_all(&short, &positions, &mut known);
    let single: Vec<_> = positions.iter().map(|one| tables.known(&short, one)).collect();
    assert_eq!(known, single);
    let cut = |at: usize| found[at].unwrap().plies > Some(6) && known[at].unwrap().plies.is_none();
    assert!((0..333).any(|at| found[at].is_some() && cut(at)));
}

/// The weights and the agent file of an untrained network.
fn untrained(folder: &Path) -> (Weights, String) {
    let game = Jarmo::standard();
    let config = NetSettings { width: 32, blocks: 1 };
    let weights = Weights::random(config, NetShape::of(&game), &mut stream(3, 0));
    let path = folder.join("untrained.safetensors");
    let file_of_agent = AgentFile::new(&game, weights.clone(), Provenance::default(), Vec::new());
    jarmo::agent_file::save(&file_of_agent, &path).unwrap();
    (weights, path.display().to_string())
}

#[test]
fn a_network_without_search_plays_its_favourite_legal_action() {
    let folder = tempfile::tempdir().unwrap();
    let (weights, file) = untrained(folder.path());
    let game = Jarmo::standard();
    let spec = format!("{file}?sims=0");
    let mut evaluator = NetEvaluator::new(game.clone(), &weights);
    let mut batch = EvalBatch::new(game.actions());
    let layer = JarmoLayer::new(4);
    let mut draw = stream(7, 7);
    for _ in 0..50 {
        let position = random_position(&layer, &mut draw);
        if game.outcome(&position).is_some() {
            continue;
        }
        batch.clear();
        batch.push(position, 0);
        evaluator.evaluate(&mut batch);
        let decision = choose(agent(&spec).as_mut(), position);
        assert_eq!(decision.action, favourite(&game.legal(&position), batch.logits(0)));
        assert_eq!((decision.nodes, decision.value), (0, batch.evaluation(0).value));
        assert!(decision.candidates.is_sorted_by(|a, b| a.policy >= b.policy));
        let shares: f32 = decision.candidates.iter().map(|one| one.policy).sum();
        assert!((shares - 1.0).abs() < 1e-4);
    }
    let wrong: AgentSpec = format!("{file}?sims=0&c_puct=1").parse().unwrap();
    let error = build(game, &wrong).err().unwrap().to_string();
    assert!(error.contains("`c_puct` configures the search"), "{error}");
}

#[test]
fn the_search_of_an_agent_file_uses_tables_as_proven_values() {
    let folder = tempfile::tempdir().unwrap();
    build_in(folder.path(), 4);
    let (_, file) = untrained(folder.path());
    let game = Jarmo::standard();
    let tables = tables(5);
    let path = folder.path().display();
    let mut with = agent(&format!("{file}?sims=32&tables={path}"));
    let mut without = agent(&format!("{file}?sims=32"));
    let layer = JarmoLayer::new(5);
    let mut draw = stream(2, 2);
    let (mut wins, mut proven, mut found) = (0, 0, 0);
    for _ in 0..6000 {
        let position = random_position(&layer, &mut draw);
        // A slow win that is also reached by a capture into the tables.
        let Some(Proven { verdict: Verdict::Win, plies: Some(5..) }) = tables.proven(&position) else {
            continue;
        };
        let actions = tables.actions(&game, &position).unwrap();
        if !actions.iter().any(|one| {
            let mut next = position;
            game.play(&mut next, one.action);
            next.force() < 5 && one.proven.verdict == Verdict::Win
        }) {
            continue;
        }
        wins += 1;
        let decision = choose(with.as_mut(), position);
        if let Some(Proven { verdict, plies }) = decision.proven {
            assert_eq!(verdict, Verdict::Win);
            let fewest = tables.proven(&position).unwrap().plies;
            assert!(plies >= fewest, "nothing is quicker than best play");
            proven += 1;
        }
        found += u32::from(choose(without.as_mut(), position).proven.is_some());
    }
    assert!(wins > 20, "{wins}");
    assert!(proven > wins * 3 / 4, "{proven} of {wins}");
    assert!(found < proven / 2, "{found} without tables");
    // Inside the tables the agent plays their best action, with search or without.
    let inside = game.parse_position("5/5/4b/w4/3w1 w - - 0").unwrap();
    for spec in [format!("{file}?sims=0&tables={path}"), format!("{file}?sims=9&tables={path}")] {
        let decision = choose(agent(&spec).as_mut(), inside);
        assert_eq!(decision.proven, Some(Proven::win(11)));
    }
}

#[test]
fn a_draw_that_only_a_shuttle_holds_is_lost_under_the_shuttle_rule() {
    let game = Jarmo::standard();
    let position = game.parse_position("1w3/1b3/5/b4/w4 w - - 0").unwrap();
    assert_eq!(tables(4).proven(&position), Some(Proven::DRAW));
    let decision = choose(agent("alphabeta:20000").as_mut(), position);
    assert_eq!(decision.proven, Some(Proven::win(13)));
}

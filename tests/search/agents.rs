//! Agents that need no network: their specs, their decisions, their strength.

use crate::common;
use jarmo::agent::{Agent, AgentSpec, Decision, Limit, Memory, Request, build};
use jarmo::bench::search;
use jarmo::catalog::{CatalogGame, GAMES, GameSettings, GameTask, with_game};
use jarmo::game::{Game, Mask, Player, Proven, Verdict};
use jarmo::games::scripted::Node;
use jarmo::games::{ConnectFour, Guard, Jarmo, Scripted, ScriptedPosition, Tammi};
use jarmo::random::stream;
use jarmo::search::heuristic::NoHeuristic;
use jarmo::search::{AlphaBeta, Heuristic};
use std::time::{Duration, Instant};

/// A task for every game of the catalog.
fn for_every_game<T: GameTask + Copy>(task: T) {
    for name in GAMES {
        with_game(name, &GameSettings::default(), task).unwrap();
    }
}

fn choose<G: Game>(agent: &mut dyn Agent<G>, position: G::Position, limit: Limit<'_>) -> Decision {
    choose_with(agent, position, limit, None)
}

fn choose_with<G: Game>(
    agent: &mut dyn Agent<G>,
    position: G::Position,
    limit: Limit<'_>,
    memory: Option<&mut Memory>,
) -> Decision {
    let mut stream = stream(1, 0);
    let mut requests = [Request { position, stream: &mut stream, limit, memory }];
    agent.choose(&mut requests).remove(0)
}

#[test]
fn specs_write_what_they_read() {
    for text in [
        "random",
        "greedy",
        "rollout",
        "rollout:800",
        "uniform:32?root=puct&c_puct=2.5&fpu=0&keep=yes&mb=1&tables=/a b/50%25+x=y?",
        "uniform:32?considered=4&least_range=0.25",
        "alphabeta:200000?lines=3&mb=16",
        "alphabeta:9?tables=/a",
        "checkpoints/jarmo.safetensors?sims=64",
        "C:\\agents\\best.safetensors?sims=800&temperature=2&min_visit_share=0.5&kernel=portable",
        "best.safetensors?sims=0&sampling=1.5",
        "rollout:5?tables=a:b.safetensors",
        "trained",
        "trained?sims=64&tables=/a",
    ] {
        let spec: AgentSpec = text.parse().unwrap();
        assert_eq!(spec.to_string(), text);
    }
    // Equivalent specs have one canonical text.
    for (text, canonical) in [
        ("rollout?mb=1&sims=7&root=gumbel", "rollout:7?root=gumbel&mb=1"),
        ("alphabeta?lines=2&nodes=9", "alphabeta:9?lines=2"),
        ("best.safetensors:800", "best.safetensors?sims=800"),
        ("trained:800", "trained?sims=800"),
        ("uniform?root=puct&c_puct=2.50", "uniform?root=puct&c_puct=2.5"),
    ] {
        let spec: AgentSpec = text.parse().unwrap();
        assert_eq!(spec.to_string(), canonical);
        assert_eq!(canonical.parse::<AgentSpec>().unwrap(), spec);
    }
}

#[test]
fn every_number_of_a_spec_has_bounds_that_its_error_names() {
    let refusal = |agent: &str, key: &str, value: &str| {
        let spec = format!("{agent}?{key}={value}").parse::<AgentSpec>();
        spec.err().map(|error| error.to_string())
    };
    let mut tried = 0;
    for agent in ["uniform", "rollout", "alphabeta", "a.safetensors"] {
        // The error about an unknown setting lists all settings.
        let listed = refusal(agent, "unknown", "1").unwrap();
        let keys = listed.split('`').filter(|word| !word.is_empty() && word.chars().all(char::is_alphabetic));
        let words = ["root", "keep", "tables", "proof", "kernel"]; // settings that are no numbers
        let known = |key: &&str| !words.contains(key) && *key != "unknown" && *key != agent;
        for key in keys.filter(known) {
            let message = refusal(agent, key, "NaN").unwrap();
            let range = message.rsplit_once("number from ").expect(&message).1;
            let (least, most) = range.split_once(" to ").unwrap();
            for inside in [least, most] {
                assert_eq!(refusal(agent, key, inside), None, "{agent} {key}={inside}");
            }
            let past = (most.parse::<u128>().unwrap() + 1).to_string();
            for outside in ["-1", "-0.001", "", "inf", "-inf", &past, "18446744073709551616", "1e39"] {
                let message = refusal(agent, key, outside).expect(outside);
                assert!(message.contains(&format!("setting {key}={outside}: ")), "{message}");
                assert!(message.ends_with(range), "{message}");
            }
            let zero = refusal(agent, key, "0");
            assert_eq!(zero.is_none(), least == "0", "{agent} {key}=0");
            tried += 1;
        }
    }
    assert!(tried >= 15, "{tried}");
}

#[test]
fn errors_about_specs_list_the_alternatives() {
    let cases: &[(&str, &[&str])] = &[
        ("", &["unknown agent", "rollout:SIMULATIONS"]),
        ("minimax", &["agent `minimax`", "alphabeta:NODES"]),
        ("best.onnx", &["FILE.safetensors"]),
        ("random:5", &["random takes no number"]),
        ("rollout:many", &["setting sims=many", "a whole number from 0 to 1000000000"]),
        ("rollout:-1", &["setting sims=-1: expected a whole number"]),
        ("rollout:5000000000", &["to 1000000000"]),
        ("alphabeta:1e6", &["setting nodes=1e6: expected a whole number"]),
        ("alphabeta:0", &["from 1 to"]),
        ("alphabeta?depth=5", &["unknown field `depth`", "`nodes`, `lines`, `mb`"]),
        ("greedy?x=1", &["greedy takes no number and no settings"]),
        ("rollout?", &["no setting follows"]),
        ("rollout?sims", &["`sims` is not a setting", "KEY=VALUE"]),
        ("rollout?sims=1&sims=2", &["given twice", "`sims`"]),
        ("rollout:5?sims=5", &["given twice", "`sims`"]),
        ("alphabeta:5?nodes=5", &["given twice", "`nodes`"]),
        ("rollout?sims=x", &["expected a whole number from 0"]),
        ("uniform?root=best", &["setting root=best", "expected `gumbel` or `puct`"]),
        ("rollout?keep=maybe", &["keep=maybe", "expected `yes` or `no`"]),
        ("best.safetensors?kernel=x", &["kernel=x", "`portable`", "`int8`"]),
        ("rollout?kernel=int8", &["unknown field `kernel`", "`tables`"]),
        ("rollout?fpu=-1", &["fpu=-1: expected a number from 0 to 100"]),
        ("best.safetensors?temperature=0", &["a number from 0.01 to 100"]),
        ("best.safetensors?sampling=0", &["a number from 0.01 to 100"]),
        ("rollout?min_visit_share=2", &["a number from 0.001 to 1"]),
        ("uniform?considered=0", &["a whole number from 1 to 65536"]),
        ("rollout?sampling=1", &["unknown field `sampling`"]),
        ("rollout?c_puct=NaN", &["from 0 to 100"]),
        ("alphabeta?mb=much", &["a whole number from 1 to 65536"]),
    ];
    for (text, parts) in cases {
        let error = text.parse::<AgentSpec>().unwrap_err().to_string();
        for part in *parts {
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

#[test]
fn impossible_settings_are_refused_when_the_agent_is_built() {
    let cases = [
        ("rollout?sims=0", "0 simulations are only possible for agent files"),
        ("uniform?c_puct=1", "`c_puct` needs root=puct"),
        ("rollout?root=gumbel&fpu=1", "`fpu` needs root=puct"),
        ("rollout?considered=4", "`considered` needs root=gumbel"),
        ("rollout?root=gumbel&min_visit_share=1", "`min_visit_share` needs root=puct"),
        ("checkpoints/jarmo.safetensors?root=gumbel&temperature=2", "`temperature` needs root=puct"),
        ("src/none.safetensors", "src contains no agent file"),
    ];
    for (text, part) in cases {
        let spec = text.parse().unwrap();
        let Err(error) = build(Jarmo::standard(), &spec) else {
            panic!("{text} is an agent");
        };
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
}

/// The exact value of a scripted game for the player to move: -1, 0 or 1.
fn minimax(game: &Scripted, position: &ScriptedPosition) -> i8 {
    let mover = game.to_move(position);
    if let Some(outcome) = game.outcome(position) {
        return outcome.verdict(mover).sign();
    }
    let children = game.legal(position);
    let values = children.iter().map(|action| {
        let mut next = *position;
        game.play(&mut next, action);
        let value = minimax(game, &next);
        if game.to_move(&next) == mover { value } else { -value }
    });
    values.max().unwrap()
}

/// A random tree in which the mover sometimes repeats.
fn random_tree(choose: &mut impl FnMut(usize) -> usize, depth: usize) -> Node {
    if depth == 0 || choose(8) == 0 {
        return Node::end(choose(3) as u8, choose(3) as u8);
    }
    let player = Player::BOTH[choose(2)];
    let branches = 1 + choose(4);
    let branches: Vec<Node> = (0..branches).map(|_| random_tree(choose, depth - 1)).collect();
    Node::Choice(player, branches)
}

#[test]
fn alphabeta_agrees_with_minimax_where_the_mover_repeats() {
    let mut choose = common::chooser(21);
    let mut seen = [0; 3];
    for _ in 0..300 {
        let game = Scripted::new(&random_tree(&mut choose, 7));
        let start = game.start();
        if game.outcome(&start).is_some() {
            continue;
        }
        let exact = minimax(&game, &start);
        let mut search = AlphaBeta::new(game.clone(), NoHeuristic, 1 << 16, 1 << 20);
        let found = search.search(&start, 1 << 20, 1, &mut || false, &mut |_| {});
        let line = &found.lines[0];
        let verdict = line.proven.map_or(Verdict::Draw, |proven| proven.verdict);
        assert_eq!(verdict.sign(), exact);
        seen[(exact + 1) as usize] += 1;
        let mut position = start;
        for &action in &line.actions {
            game.try_play(&mut position, action).unwrap();
        }
        if let Some(proven) = line.proven {
            assert_eq!(proven.plies, Some(game.ply(&position)), "the line ends where it says");
            let outcome = game.outcome(&position).unwrap();
            assert_eq!(outcome.verdict(game.to_move(&start)), verdict);
        }
    }
    assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
}

#[test]
fn alphabeta_prefers_quick_wins_and_slow_losses() {
    let decisions = |player: Player, points: (u8, u8)| {
        let end = || Node::end(points.0, points.1);
        let far = Node::Choice(player, vec![Node::Choice(player, vec![end()])]);
        Scripted::new(&Node::Choice(player, vec![far, end(), Node::Choice(player, vec![end()])]))
    };
    for (points, best, plies) in [((2, 1), 1, 1), ((1, 2), 0, 3)] {
        let game = decisions(Player::White, points);
        let mut search = AlphaBeta::new(game.clone(), NoHeuristic, 1 << 16, 1000);
        let found = search.search(&game.start(), 1000, 1, &mut || false, &mut |_| {});
        assert_eq!(found.lines[0].actions[0].index(), best);
        assert_eq!(found.lines[0].proven.unwrap().plies, Some(plies));
    }
}

/// Positions of random games.
fn positions<G: Game>(game: &G, count: usize) -> Vec<G::Position> {
    let mut choose = common::chooser(77);
    let mut found = Vec::new();
    while found.len() < count {
        let mut position = game.start();
        while game.outcome(&position).is_none() {
            found.push(position);
            let legal = game.legal(&position);
            game.play(&mut position, legal.nth(choose(legal.count() as usize) as u32));
        }
    }
    found
}

#[test]
fn heuristics_keep_to_their_contract() {
    #[derive(Clone, Copy)]
    struct Check;
    impl GameTask for Check {
        type Output = ();
        fn run<G: CatalogGame>(self, game: G) {
            let heuristic = game.heuristic().unwrap();
            let mut forced = 0;
            for position in positions(&game, 2000) {
                let text = game.position_text(&position);
                let worth = heuristic.evaluate(&position);
                assert!(worth.abs() <= jarmo::search::heuristic::MAX_CENTIPOINTS, "{text}");
                let legal = game.legal(&position);
                let forcing = heuristic.forcing(&position, &legal);
                assert!(forcing.iter().all(|action| legal.contains(action)), "{text}");
                forced += forcing.count();
                for action in forcing.iter() {
                    assert!(heuristic.gain(&position, action) >= 0, "{text}");
                }
                let again = game.parse_position(&text).unwrap();
                if again == position {
                    let keys = [again, position].map(|position| heuristic.key(&position));
                    assert_eq!(keys[0], keys[1], "{text}");
                }
            }
            assert!(forced > 100, "{}: {forced}", game.id());
        }
    }
    for_every_game(Check);
}

#[test]
fn a_value_has_the_odds_of_its_evaluation() {
    for worth in (-8000..=8000).step_by(160) {
        let value = <NoHeuristic as Heuristic<ConnectFour>>::value(worth);
        let odds = 100.0 * (value.win / value.loss).ln();
        assert!((odds - worth as f32).abs() < 0.1, "{worth}: {odds}");
        assert_eq!(value.flip().win, value.loss);
    }
}

#[test]
fn keys_tell_positions_apart() {
    #[derive(Clone, Copy)]
    struct Check;
    impl GameTask for Check {
        type Output = ();
        fn run<G: CatalogGame>(self, game: G) {
            let heuristic = game.heuristic().unwrap();
            let mut boards = std::collections::HashMap::new();
            for position in positions(&game, 5000) {
                let text = game.position_text(&position);
                let fields: Vec<&str> = text.split(' ').collect();
                let board = fields[..2].join(" ");
                let first = boards.entry(heuristic.key(&position)).or_insert(board.clone());
                assert_eq!(*first, board, "one key, two boards");
            }
            assert!(boards.len() > 1000, "{}", game.id());
        }
    }
    for_every_game(Check);
}

#[test]
fn an_agent_answers_the_same_alone_in_a_batch_and_again() {
    #[derive(Clone, Copy)]
    struct Check;
    impl GameTask for Check {
        type Output = ();
        fn run<G: CatalogGame>(self, game: G) {
            let positions = positions(&game, 12);
            for spec in ["greedy", "uniform:40", "rollout:60", "alphabeta:400"] {
                let mut agent = build(game.clone(), &spec.parse().unwrap()).unwrap();
                let alone: Vec<Decision> =
                    (positions.iter()).map(|position| choose(agent.as_mut(), *position, Limit::default())).collect();
                let mut streams: Vec<_> = positions.iter().map(|_| stream(1, 0)).collect();
                let mut requests: Vec<Request<'_, G>> = (positions.iter().zip(&mut streams))
                    .map(|(position, stream)| Request {
                        position: *position,
                        stream,
                        limit: Limit::default(),
                        memory: None,
                    })
                    .collect();
                assert_eq!(agent.choose(&mut requests), alone, "{spec}");
            }
        }
    }
    for_every_game(Check);
}

#[test]
fn the_only_proven_draw_is_played() {
    let game = ConnectFour::new(0);
    let position = game.parse_position("2b1bw1/2w1bww/b1wwbbb/wbbbwwb/wwbwbbw/bwwwbbw w 34").unwrap();
    for spec in ["uniform?sims=3000", "uniform?sims=3000&root=puct"] {
        let mut agent = build(game.clone(), &spec.parse().unwrap()).unwrap();
        let decision = choose(agent.as_mut(), position, Limit::default());
        assert_eq!(decision.proven, Some(Proven::DRAW), "{spec}");
        assert_eq!(game.action_text(&position, decision.action), "A", "{spec}"); // G loses
        assert_eq!(decision.candidates[0].policy, 1.0, "{spec}");
    }
}

/// Visits behind a decision, including those of earlier decisions.
fn visits(decision: &Decision) -> u64 {
    decision.candidates.iter().map(|one| one.visits).sum()
}

#[test]
fn an_agent_keeps_its_own_tree_within_a_game() {
    let game = Jarmo::standard();
    let agent = |spec: &str| build(game.clone(), &spec.parse().unwrap()).unwrap();
    let mut keeper = agent("uniform:2000?keep=yes");
    let mut memory = Memory::new();
    let limit = Limit::default();
    let mut position = game.start();
    let first = choose_with(keeper.as_mut(), position, limit, Some(&mut memory));
    assert_eq!(visits(&first), 2000);
    for &action in &first.candidates[0].line[..2] {
        game.play(&mut position, action);
    }

    // Without a memory nothing is kept.
    let alone = choose(keeper.as_mut(), position, limit);
    assert_eq!((alone.nodes, visits(&alone)), (2000, 2000));
    let second = choose_with(keeper.as_mut(), position, limit, Some(&mut memory));
    assert_eq!(second.nodes, 2000);
    assert!(visits(&second) > 2010, "{}", visits(&second));

    // A memory of another agent or of another game is not used.
    let mut other = agent("uniform:2000?keep=yes");
    assert_eq!(choose_with(other.as_mut(), position, limit, Some(&mut memory)), alone);
    assert_eq!(choose_with(other.as_mut(), game.start(), limit, Some(&mut memory)), first);

    for spec in ["uniform:2000", "uniform:2000?keep=no"] {
        let (mut agent, mut memory) = (agent(spec), Memory::new());
        choose_with(agent.as_mut(), game.start(), limit, Some(&mut memory));
        let again = choose_with(agent.as_mut(), position, limit, Some(&mut memory));
        assert_eq!(again, alone, "{spec}");
    }
}

#[test]
fn a_tree_that_is_kept_for_a_whole_game_never_fills_up() {
    struct Check;
    impl GameTask for Check {
        type Output = ();
        fn run<G: CatalogGame>(self, game: G) {
            let spec = "uniform:60?keep=yes".parse().unwrap();
            let (mut agent, mut memory) = (build(game.clone(), &spec).unwrap(), Memory::new());
            let mut position = game.start();
            while game.outcome(&position).is_none() {
                let limit = Limit::default();
                let decision = choose_with(agent.as_mut(), position, limit, Some(&mut memory));
                assert!(decision.nodes == 60 || decision.proven.is_some(), "{}", decision.nodes);
                game.play(&mut position, decision.action);
            }
        }
    }
    for name in GAMES {
        with_game(name, &GameSettings::default(), Check).unwrap();
    }
}

#[test]
fn limits_override_the_spec() {
    for spec in ["uniform:1000000", "rollout:1000000", "alphabeta:100000000"] {
        let game = Guard::standard();
        let mut agent = build(game.clone(), &spec.parse().unwrap()).unwrap();
        let few = Limit { nodes: Some(100), ..Limit::default() };
        let decision = choose(agent.as_mut(), game.start(), few);
        assert!(decision.nodes <= 200, "{spec}: {}", decision.nodes);
        let now = Limit { deadline: Some(&|| true), ..Limit::default() };
        let start = Instant::now();
        let decision = choose(agent.as_mut(), game.start(), now);
        assert!(game.legal(&game.start()).contains(decision.action));
        assert!(start.elapsed() < Duration::from_secs(2), "{spec}");
    }
}

#[test]
fn every_position_of_a_batch_is_searched_before_the_time_is_up() {
    let game = Guard::standard();
    for spec in ["uniform", "rollout", "trained"] {
        let mut agent = build(game.clone(), &spec.parse().unwrap()).unwrap();
        let mut streams: Vec<_> = (0..40).map(|number| stream(3, number)).collect();
        let now = Limit { deadline: Some(&|| true), ..Limit::default() };
        let decisions = agent.decide(&[game.start(); 40], &mut streams, now);
        assert!(decisions.iter().all(|decision| !decision.candidates.is_empty()), "{spec}");
    }
}

/// Wins, draws and losses of the first agent in games with swapped sides.
fn play<G: CatalogGame>(game: &G, specs: [&str; 2], games: u64) -> [u32; 3] {
    let mut agents = specs.map(|spec| build(game.clone(), &spec.parse().unwrap()).unwrap());
    let mut results = [0; 3];
    for number in 0..games {
        let mut stream = stream(9, number);
        let mut position = game.start();
        let first = (number % 2) as usize;
        while game.outcome(&position).is_none() {
            let agent = &mut agents[game.to_move(&position).index() ^ first];
            let limit = Limit::default();
            let mut requests = [Request { position, stream: &mut stream, limit, memory: None }];
            let decision = agent.choose(&mut requests).remove(0);
            game.try_play(&mut position, decision.action).unwrap();
        }
        let outcome = game.outcome(&position).unwrap();
        let verdict = outcome.verdict(Player::BOTH[first]);
        results[(1 - verdict.sign()) as usize] += 1;
    }
    results
}

#[test]
fn more_search_plays_better() {
    let jarmo = Jarmo::standard();
    assert!(play(&jarmo, ["greedy", "random"], 40)[0] >= 36);
    assert!(play(&jarmo, ["rollout:200", "random"], 40)[0] >= 38);
    assert!(play(&jarmo, ["alphabeta:5000", "rollout:200"], 40)[0] >= 34);
    let guard = Guard::standard();
    assert!(play(&guard, ["alphabeta:5000", "greedy"], 20)[0] >= 17);
    assert!(play(&Tammi::standard(), ["alphabeta:3000", "random"], 10)[0] >= 9);
}

#[test]
fn speed_is_measured_over_real_choices() {
    let game = Jarmo::standard();
    let mut agent = build(game.clone(), &"uniform:16".parse().unwrap()).unwrap();
    let speed = search(&game, "uniform:16".to_owned(), agent.as_mut(), 3, Some(8), 1, Duration::from_millis(5));
    let speed = serde_json::to_value(speed).unwrap();
    let number = |key: &str| speed[key].as_f64().unwrap();
    assert!(number("nodes_per_decision") <= 8.0, "{speed}");
    assert!(number("simulations_per_cpu_s") > number("positions_per_cpu_s"), "{speed}");
    assert!(number("evaluations_per_cpu_s") > 0.0, "{speed}");
}

//! Self-play: games are legal to the end, samples match them, and the seed determines everything.

use assert_cmd::Command;
use jarmo::checksum::digits;
use jarmo::encode::Encode;
use jarmo::eval::{EvalBatch, EvalRow, Evaluation, Evaluator, Uniform, Value};
use jarmo::game::{Game, Player};
use jarmo::games::{ConnectFour, Guard, Jarmo, Tammi};
use jarmo::net::{
    AgentFile, FeatureBatch, FrozenNet, GameVersion, Logits, NetEvaluator, NetSettings, NetShape, Network, Provenance,
    Weights, softmax,
};
use jarmo::random::stream;
use jarmo::replay::{Sample, Samples};
use jarmo::search::{Root, SearchSettings};
use jarmo::selfplay::{Round, SelfPlay, SelfPlaySettings};
use jarmo::tables::HasEndgames;
use predicates::str::contains;
use serde_json::json;

const SETTINGS: SelfPlaySettings = SelfPlaySettings {
    games: 12,
    simulations: 4,
    search: SearchSettings::of(Root::Gumbel),
    max_random_plies: 3,
    endgames: 0.0,
    endgame_force: 7,
    lambda: 1.0,
};

const NET: NetSettings = NetSettings { width: 32, blocks: 1 };

fn weights<G: Encode>(game: &G, seed: u64) -> Weights {
    Weights::random(NET, NetShape::of(game), &mut stream(seed, 0))
}

fn net_rounds<G: Encode + HasEndgames>(game: &G, shards: usize, rounds: usize) -> Round {
    net_rounds_with(&SETTINGS, game, shards, rounds)
}

fn net_rounds_with<G: Encode + HasEndgames>(
    settings: &SelfPlaySettings,
    game: &G,
    shards: usize,
    rounds: usize,
) -> Round {
    let evaluators = vec![NetEvaluator::new(game.clone(), &weights(game, 1)); shards];
    let mut play = SelfPlay::new(game, settings, evaluators, 5);
    let mut all = Round::default();
    for _ in 0..rounds {
        all.add(play.round());
    }
    all
}

fn check_samples<G: Encode + HasEndgames>(game: &G, rounds: usize) {
    let all = net_rounds(game, 2, rounds);
    let id = game.id();
    assert!(all.counts.games.games > 0, "{id}: games end");
    let counts = all.counts;
    assert_eq!(counts.positions, (SETTINGS.games * rounds) as u64);
    assert!(counts.requests <= counts.simulations + counts.positions);
    assert!(counts.cached < counts.requests);
    assert!(all.counts.games.white + all.counts.games.black + all.counts.games.truncated <= all.counts.games.games);
    for sample in all.samples.iter() {
        assert!(sample.features.is_sorted_by(|a, b| a != b), "{id}");
        let sum: f32 = sample.policy.iter().sum();
        assert!((sum - 1.0).abs() < 1e-4, "{id}: {sum}");
        assert!(sample.actions.is_sorted());
        if game.max_points() > 0 {
            let sign = i32::from(sample.score.signum());
            let [win, draw, loss] = sample.result;
            assert!(draw == 1.0 || sign as f32 == win - loss, "{id}: {sample:?}");
        } else {
            assert_eq!(sample.score, 0);
        }
    }
    // Every action of a finished game except those of its opening.
    let opening = all.counts.games.games * u64::from(SETTINGS.max_random_plies);
    let (plies, samples) = (all.counts.games.plies, all.samples.len() as u64);
    assert!(plies - opening <= samples && samples <= plies, "{id}: {samples} of {plies}");
}

#[test]
fn samples_of_every_game_are_complete_and_correct() {
    check_samples(&Jarmo::standard(), 250);
    check_samples(&Guard::standard(), 250);
    check_samples(&Tammi::new(30, 200), 250);
    check_samples(&ConnectFour::new(0), 60);
}

fn results(samples: &Samples) -> Vec<[f32; 3]> {
    samples.iter().map(|sample| sample.result).collect()
}

#[test]
fn the_seed_determines_the_games_for_any_number_of_shards() {
    let game = ConnectFour::new(0);
    let one = net_rounds(&game, 1, 30);
    let again = net_rounds(&game, 1, 30);
    assert_eq!(one.samples, again.samples);
    let three = net_rounds(&game, 3, 30);
    assert_eq!(results(&one.samples), results(&three.samples));
    assert_eq!(one.counts.games, three.counts.games);
    let evaluators = vec![NetEvaluator::new(game.clone(), &weights(&game, 1))];
    let mut other = SelfPlay::new(&game, &SETTINGS, evaluators, 6);
    let mut samples = Samples::new();
    for _ in 0..30 {
        samples.extend(&other.round().samples);
    }
    assert_ne!(samples, one.samples);
}

/// Evaluates by small fractions that follow from the features alone.
#[derive(Clone)]
struct Fractions<G>(G);

impl<G: Encode> Evaluator<G> for Fractions<G> {
    fn evaluate(&mut self, batch: &mut EvalBatch<G::Position>) {
        for EvalRow { position, logits, evaluation, .. } in batch.rows() {
            let mut sum = 0;
            self.0.inputs(position, |feature| sum += 7 * feature + 3);
            for (action, logit) in logits.iter_mut().enumerate() {
                *logit = ((sum + 5 * action) % 17) as f32 / 8.0;
            }
            let win = (sum % 13) as f32 / 16.0;
            *evaluation = Evaluation::of(Value { win, draw: 0.125, loss: 0.875 - win, score: 0.0 });
        }
    }
}

/// The number of samples, and a digest of samples, saved games and episodes.
fn digest<G: Encode + HasEndgames>(game: &G, root: Root, rounds: usize) -> (usize, String) {
    let settings = SelfPlaySettings {
        games: 24,
        simulations: 6,
        search: SearchSettings { least_range: Some(0.1), ..SearchSettings::of(root) },
        max_random_plies: 5,
        endgames: 0.25,
        endgame_force: 7,
        lambda: 0.75,
    };
    // Games are kept, or become samples.
    let play = |keeps: bool| {
        let start = |weights| {
            let mut play = SelfPlay::new(game, &settings, vec![Fractions(game.clone()); 2], 3);
            if keeps {
                play.keep_episodes(weights);
            }
            play
        };
        let mut play = start(4);
        let (mut samples, mut text) = (Samples::new(), String::new());
        for round in 0..rounds {
            if round == rounds / 2 {
                let saved = serde_json::to_string(&play.save()).unwrap();
                text += &saved;
                play = start(9);
                play.restore(&serde_json::from_str(&saved).unwrap()).unwrap();
            }
            let round = play.round();
            samples.extend(&round.samples);
            text += &serde_json::to_string(&round.episodes).unwrap();
        }
        (samples, text)
    };
    let ((samples, _), (_, text)) = (play(false), play(true));
    let bytes = samples.to_bytes(&GameVersion::of(game));
    (samples.len(), digits(&[&bytes, text.as_bytes()]))
}

/// A change of these digests is a change of what every run learns from. They depend on the logarithms of the platform,
/// of which the noise is made.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn games_samples_saved_games_and_episodes_are_those_of_earlier_versions() {
    let (gumbel, puct) = (Root::Gumbel, Root::Puct);
    let digests = [
        digest(&Jarmo::standard(), gumbel, 150),
        digest(&Jarmo::standard(), puct, 150),
        digest(&Guard::standard(), gumbel, 150),
        digest(&Tammi::standard(), puct, 200),
        digest(&ConnectFour::new(0), gumbel, 60),
    ];
    let expected = [
        (2993, "577b56a520c16b17"),
        (2768, "287f33826ce93f2a"),
        (2779, "67a293c23e055e95"),
        (3884, "22abb2c615639a48"),
        (1325, "93be75518eab52fa"),
    ];
    assert_eq!(digests, expected.map(|(samples, digest)| (samples, digest.to_owned())));
}

#[test]
fn every_setting_of_a_search_changes_self_play() {
    let game = ConnectFour::new(0);
    let samples = |search: SearchSettings| {
        let settings = SelfPlaySettings { simulations: 40, search, ..SETTINGS };
        net_rounds_with(&settings, &game, 1, 30).samples
    };
    let [gumbel, puct] = [Root::Gumbel, Root::Puct].map(SearchSettings::of);
    let usual = [gumbel, puct].map(samples);
    assert!(!usual[0].is_empty() && !usual[1].is_empty());
    for search in [
        SearchSettings { considered: Some(3), ..gumbel },
        SearchSettings { least_range: Some(0.5), ..gumbel },
        SearchSettings { c_puct: Some(4.0), ..puct },
        SearchSettings { fpu: Some(0.0), ..puct },
        SearchSettings { temperature: Some(3.0), ..puct },
    ] {
        assert!(!usual.contains(&samples(search)), "{search:?}");
    }
}

#[test]
fn the_seed_determines_the_games_of_a_puct_root_too() {
    let game = ConnectFour::new(0);
    let settings = SelfPlaySettings { simulations: 40, search: SearchSettings::of(Root::Puct), ..SETTINGS };
    let one = net_rounds_with(&settings, &game, 1, 45);
    let three = net_rounds_with(&settings, &game, 3, 45);
    assert_eq!(one.counts.games, three.counts.games);
    assert!(one.counts.games.games > 5);
}

#[test]
fn a_puct_root_plays_and_records_shares_of_visits() {
    let settings = SelfPlaySettings {
        games: 2000,
        simulations: 40,
        search: SearchSettings::of(Root::Puct),
        max_random_plies: 0,
        ..SETTINGS
    };
    let mut play = SelfPlay::new(&ConnectFour::new(0), &settings, vec![Uniform], 5);
    play.round();
    let saved = serde_json::to_value(play.save()).unwrap();
    let (mut played, mut expected, mut most) = (0.0, 0.0, 0.0);
    let games = saved["env"]["games"].as_array().unwrap();
    for (game, moves) in games.iter().zip(saved["moves"].as_array().unwrap()) {
        let shares: Vec<f64> =
            moves[0]["policy"].as_array().unwrap().iter().map(|share| share.as_f64().unwrap()).collect();
        for visits in shares.iter().map(|share| share * 40.0) {
            assert!((visits - visits.round()).abs() < 1e-3, "{visits} visits");
        }
        played += shares[game["actions"][0].as_u64().unwrap() as usize];
        expected += shares.iter().map(|share| share * share).sum::<f64>();
        most += shares.iter().copied().fold(0.0, f64::max);
    }
    // A mean over 2000 games of a quantity with a deviation below 0.2.
    assert!((played - expected).abs() / 2000.0 < 0.02, "{played}, {expected}");
    assert!((most - expected) / 2000.0 > 0.03, "{most}, {expected}");
}

#[test]
fn a_new_evaluator_continues_the_games() {
    let game = ConnectFour::new(0);
    let mut play = SelfPlay::new(&game, &SETTINGS, vec![Uniform, Uniform], 5);
    let mut games = 0;
    for _ in 0..30 {
        games += play.round().counts.games.games;
        play.replace_evaluators(vec![Uniform, Uniform]);
    }
    let mut untouched = SelfPlay::new(&game, &SETTINGS, vec![Uniform, Uniform], 5);
    let expected: u64 = (0..30).map(|_| untouched.round().counts.games.games).sum();
    assert!(games > 0);
    assert_eq!(games, expected);
}

#[test]
fn saved_games_continue_as_they_would_have() {
    let game = Tammi::new(30, 200);
    let evaluators = |count| vec![NetEvaluator::new(game.clone(), &weights(&game, 1)); count];
    let mut play = SelfPlay::new(&game, &SETTINGS, evaluators(2), 5);
    for _ in 0..40 {
        play.round();
    }
    let text = serde_json::to_string(&play.save()).unwrap();
    let saved = serde_json::from_str(&text).unwrap();
    let mut resumed = SelfPlay::new(&game, &SETTINGS, evaluators(3), 5);
    resumed.restore(&saved).unwrap();
    let mut games = 0;
    for _ in 0..80 {
        let (expected, round) = (play.round(), resumed.round());
        games += round.counts.games.games;
        assert_eq!(round.samples, expected.samples);
        assert_eq!(round.counts.games, expected.counts.games);
    }
    assert!(games > 5);
    assert_eq!(resumed.save(), play.save());
    let fewer = SelfPlaySettings { games: 11, ..SETTINGS };
    let mut other = SelfPlay::new(&game, &fewer, evaluators(1), 5);
    let error = other.restore(&saved).unwrap_err().to_string();
    assert!(error.contains("12 games were saved, but selfplay.games is 11"), "{error}");
}

#[test]
fn saved_games_that_do_not_fit_are_refused() {
    let game = ConnectFour::new(0);
    let mut play = SelfPlay::new(&game, &SETTINGS, vec![Uniform], 5);
    play.round();
    let saved = serde_json::to_value(play.save()).unwrap();
    for (place, wrong, message) in [
        ("/env/games/3", json!(null), "a saved game is missing"),
        ("/env/games/3/actions/0", json!(7), "has only 7 actions"),
        ("/env/games/3/actions", json!([]), "more searches than positions"),
        ("/moves/3/0/policy", json!([1.0]), "a policy does not fit its position"),
        ("/moves", json!([]), "0 games were saved, but selfplay.games is 12"),
    ] {
        let mut state = saved.clone();
        *state.pointer_mut(place).unwrap() = wrong;
        let state = serde_json::from_value(state).unwrap();
        let error = play.restore(&state).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn lambda_blends_the_result_with_what_search_expected() {
    let game = ConnectFour::new(0); // players take turns
    let samples = |lambda| {
        let settings = SelfPlaySettings { lambda, ..SETTINGS };
        let evaluators = vec![NetEvaluator::new(game.clone(), &weights(&game, 1))];
        let mut play = SelfPlay::new(&game, &settings, evaluators, 5);
        let mut samples = Samples::new();
        for _ in 0..40 {
            samples.extend(&play.round().samples);
        }
        samples
    };
    let [expected, half, results] = [0.0, 0.5, 1.0].map(samples);
    assert!(expected.len() > 100);
    let stones = 2 * game.cells(); // features of both players' pieces come first
    let pieces = |sample: &Sample<'_>| {
        let features = sample.features.iter();
        features.filter(|&&set| usize::from(set) < stones).count()
    };
    let mut later = [0.0; 3];
    let mut doubts = 0;
    for index in (0..expected.len()).rev() {
        let (search, half, result) = (expected.get(index), half.get(index), results.get(index));
        assert!(result.result.contains(&1.0));
        assert_eq!(result.result.iter().sum::<f32>(), 1.0);
        // The last of a game: the next one begins with fewer pieces.
        if index + 1 == results.len() || pieces(&results.get(index + 1)) <= pieces(&result) {
            later = result.result;
            later.reverse(); // as the opponent sees it
        }
        later.reverse();
        for (next, expected) in later.iter_mut().zip(search.result) {
            *next = 0.5 * *next + 0.5 * expected;
        }
        for (one, other) in half.result.iter().zip(later) {
            assert!((one - other).abs() < 1e-6, "{half:?}");
        }
        doubts += usize::from(search.result != result.result);
    }
    assert!(doubts > expected.len() / 2, "{doubts}");
}

#[test]
fn a_share_of_the_games_starts_from_random_endgames() {
    let game = Jarmo::standard();
    let settings = SelfPlaySettings { games: 200, endgames: 0.25, endgame_force: 5, ..SETTINGS };
    let start = |shards| SelfPlay::new(&game, &settings, vec![Uniform; shards], 5);
    let mut play = start(1);
    let mut forces = [0; 11];
    for _ in 0..40 {
        play.round();
        let state = serde_json::to_value(play.save()).unwrap();
        let games = state["env"]["games"].as_array().unwrap().iter();
        let searched = state["moves"].as_array().unwrap();
        let begun = games.zip(searched).filter(|(_, moves)| **moves == json!([]));
        for text in begun.filter_map(|(game, _)| game["start"].as_str()) {
            let position = game.parse_position(text).unwrap();
            assert_eq!(game.outcome(&position), None, "{text}");
            let archers = Player::BOTH.map(|player| position.archers(player).count());
            forces[(archers[0] + archers[1] + position.marked().count()) as usize] += 1;
        }
    }
    assert!(forces[2..=5].iter().all(|&count| count > 0), "{forces:?}");
    assert_eq!(forces[6..].iter().sum::<u32>(), 0, "{forces:?}");
    let saved = play.save();
    let text = serde_json::to_string(&saved).unwrap();
    let mut resumed = start(3);
    resumed.restore(&serde_json::from_str(&text).unwrap()).unwrap();
    for _ in 0..40 {
        let (expected, round) = (play.round(), resumed.round());
        assert_eq!(round.samples, expected.samples);
        assert_eq!(round.counts.games, expected.counts.games);
    }
    assert_eq!(resumed.save(), play.save());

    let first = serde_json::to_value(start(1).save()).unwrap();
    let starts = first["env"]["games"].as_array().unwrap().iter();
    let endgames = starts.filter(|slot| slot.get("start").is_some()).count();
    assert!((30..=70).contains(&endgames), "{endgames} of 200");

    let tammi = Tammi::standard();
    let settings = SelfPlaySettings { endgame_force: 7, ..settings };
    let first = serde_json::to_value(SelfPlay::new(&tammi, &settings, vec![Uniform], 5).save()).unwrap();
    let starts = first["env"]["games"].as_array().unwrap().iter().filter_map(|slot| slot.get("start")?.as_str());
    let mut pieces = [0; 25];
    for text in starts {
        let position = tammi.parse_position(text).unwrap();
        assert_eq!(tammi.outcome(&position), None, "{text}");
        let count = |player| (position.men(player) | position.kings(player)).count_ones();
        pieces[(count(Player::White) + count(Player::Black)) as usize] += 1;
    }
    assert!(pieces[2..=5].iter().all(|&count| count > 0), "{pieces:?}");
    assert!((30..=70).contains(&pieces[2..=5].iter().sum::<u32>()), "{pieces:?}");
    assert_eq!(pieces[6..].iter().sum::<u32>(), 0, "tammi's random endgames have at most five pieces");

    let guard = SelfPlay::new(&Guard::standard(), &settings, vec![Uniform], 5);
    let text = serde_json::to_string(&guard.save()).unwrap();
    assert!(!text.contains("start"), "guard knows no endgames");
}

#[test]
fn a_network_evaluates_as_its_logits_say() {
    let game = Jarmo::standard();
    let weights = weights(&game, 3);
    let mut positions = EvalBatch::new(game.actions());
    positions.push(game.start(), 0);
    for text in ["bbbbb/5/5/5/wwwww b - - 1", "4b/w4/5/5/1w3 w - - 30"] {
        positions.push(game.parse_position(text).unwrap(), 0);
    }
    NetEvaluator::new(game.clone(), &weights).evaluate(&mut positions);
    let mut batch = FeatureBatch::new();
    for position in positions.positions() {
        batch.push(&game, position);
    }
    let mut expected = Logits::new(*weights.shape());
    FrozenNet::new(&weights).evaluate(&batch, &mut expected);
    for row in 0..positions.len() {
        let evaluation = positions.evaluation(row);
        assert_eq!(positions.logits(row), expected.policy(row));
        let mut result = expected.result(row).to_vec();
        softmax(&mut result);
        let value = evaluation.value;
        assert_eq!([value.win, value.draw, value.loss], result[..]);
        let mut score = expected.score(row).to_vec();
        softmax(&mut score);
        let mean: f32 = (-10_i16..).zip(&score).map(|(s, p)| f32::from(s) * p).sum();
        assert!((value.score - mean).abs() < 1e-5);
        assert!(evaluation.proven.is_none());
    }
}

#[test]
fn an_agent_file_plays_in_the_arena() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.safetensors");
    let game = Jarmo::standard();
    let file_of_agent = AgentFile::new(&game, weights(&game, 1), Provenance::default(), Vec::new());
    jarmo::agent_file::save(&file_of_agent, &path).unwrap();
    let arena = |file: &str, game: &str| {
        let mut command = Command::cargo_bin("jarmo").unwrap();
        command.args(["arena", "random", "--game", game, "--games", "4", "--json"]).arg(format!("{file}?sims=4"));
        command
    };
    let file = path.to_str().unwrap();
    let output = arena(file, "jarmo").output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["games"], 4);
    assert_eq!(report["matches"][0]["second"], format!("{file}?sims=4"));
    arena(file, "guard").assert().failure().stderr(contains("it is for jarmo, not for guard"));
    arena("no/such.safetensors", "jarmo").assert().failure().stderr(contains("no/such.safetensors"));
}

#[test]
fn bench_selfplay_reports_rates_and_shares() {
    let run = |arguments: &[&str]| {
        Command::cargo_bin("jarmo")
            .unwrap()
            .args(["bench", "selfplay", "--json", "--seconds", "0.2"])
            .args(["--config", "configs/connect_four.toml"])
            .args(["--set", "selfplay.games=64", "--set", "selfplay.simulations=8"])
            .args(arguments)
            .output()
            .unwrap()
    };
    let output = run(&["--set", "net.width=32"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |key: &str| json[key].as_f64().unwrap();
    assert!(number("root_positions_per_s") > 0.0);
    assert!(number("simulations_per_s") > number("root_positions_per_s"));
    let shares = ["tree_share", "features_share", "network_share"].map(number);
    assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{shares:?}");
    assert!((0.01..1.0).contains(&number("cached")), "{json}");
    let trained = "checkpoints/connect_four.safetensors";
    let output = run(&["--agent", trained]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["net"]["width"], 256);
    let output = run(&["--set", "net.width=32", "--set", "selfplay.root=\"puct\""]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["root"], "puct");
    let refused = run(&["--set", "selfplay.games=0"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("selfplay.games = 0"));
}

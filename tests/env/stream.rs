//! What the Python package relies on: golden streams of random play, and shards in which some slots wait.

use jarmo::catalog::{CatalogGame, GAMES, GameSettings, GameTask, with_game};
use jarmo::env::{Keep, Line, Shard, VecEnv};
use jarmo::game::{Action, Game};
use jarmo::games::ConnectFour;
use serde_json::json;

/// Random play that the Python package must repeat: a hash of all actions, and the games that ended.
#[derive(Clone, Copy)]
struct GoldenStream;

impl GameTask for GoldenStream {
    type Output = (u64, u64);

    fn run<G: CatalogGame>(self, game: G) -> (u64, u64) {
        let golden = golden_streams();
        let number = |key: &str| golden[key].as_u64().unwrap();
        let mut env = VecEnv::new(game, number("games") as usize, number("seed"));
        let mut actions = vec![Action(0); env.len()];
        let mut hash = 0_u64;
        for _ in 0..number("steps") {
            env.sample(&mut actions);
            for action in &actions {
                hash = hash.wrapping_mul(31).wrapping_add(action.0.into());
            }
            env.step(&actions);
        }
        (hash, env.take_stats().games)
    }
}

fn golden_streams() -> serde_json::Value {
    let text = std::fs::read_to_string("tests/data/golden/env_streams.json").unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_seed_gives_the_games_that_it_always_gave() {
    let golden = golden_streams();
    for name in GAMES {
        let (hash, ends) = with_game(name, &GameSettings::default(), GoldenStream).unwrap();
        assert_eq!(golden["hash"][name], json!(hash.to_string()), "{name}");
        assert_eq!(golden["ends"][name], json!(ends), "{name}");
    }
}

/// Games of an environment in which only some slots act at a time.
#[test]
fn some_slots_act_while_the_others_wait() {
    let game = ConnectFour::new(0);
    let keep = Keep { history: true, events: false };
    let open = |_| Some(Line::at(game.start()));
    let mut shard = Shard::new(&game, 0..3, keep, open);
    shard.step(&[Action(0); 3], |_, _| None);
    for _ in 0..3 {
        shard.step_some(&[(1, Action(1)), (2, Action(2))], |_, _| None);
        shard.step_some(&[(1, Action(0))], |_, _| None);
    }
    assert_eq!(shard.steps(), 1, "these moves belong to the last step");
    assert_eq!(game.ply(shard.position(0)), 1);
    assert_eq!(shard.history(2).actions, [0, 2, 2, 2].map(Action));
    let mut ended = Vec::new();
    assert!(shard.is_idle(1), "four in a column");
    shard.step_some(&[(1, Action(0)), (2, Action(6))], |game, _| {
        ended.push(game.slot);
        None
    });
    assert!(ended.is_empty(), "an idle slot is skipped");
    assert_eq!(game.ply(shard.position(2)), 5);
}

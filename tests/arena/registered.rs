//! A game from another crate: it is registered with its rules and features alone, and everything runs it.

use std::panic::catch_unwind;
use std::sync::atomic::AtomicBool;

use jarmo::Games;
use jarmo::agent::build;
use jarmo::arena::{Entrant, Openings, Settings, Tournament};
use jarmo::catalog::{GAMES, GameSettings};
use jarmo::env::{Finished, VecEnv};
use jarmo::eval::Uniform;
use jarmo::game::{Action, Game, Outcome, Player, Verdict, conformance};
use jarmo::games::scripted::Node;
use jarmo::games::{ConnectFour, Scripted};
use jarmo::search::{Batch, PuctSettings, SearchPlan, SearchRule, Tree, TreeSize};
use jarmo::view::GameView;

/// White wins with the second branch only; after the first one, Black chooses how to win.
fn scripted() -> Scripted {
    let black_wins = || Node::End(Outcome::plain(Some(Player::Black)));
    let white_wins = || Node::End(Outcome::plain(Some(Player::White)));
    let lost = Node::black([black_wins(), black_wins(), black_wins()]);
    let won = Node::black([white_wins(), white_wins()]);
    Scripted::new(&Node::white([lost, won]))
}

/// The games of `jarmo` and the registered one.
fn games() -> Games {
    Games::shipped().register(scripted())
}

#[test]
fn a_registered_game_is_listed_after_the_others_in_errors_too() {
    let games = games();
    assert_eq!(games.names()[..4], GAMES);
    assert_eq!(games.names()[4..], ["scripted"]);
    let unknown = games.open("chess", &GameSettings::default()).err().unwrap();
    assert_eq!(unknown.to_string(), "unknown game `chess`; choose one of jarmo, guard, tammi, connect_four, scripted");
    for name in games.names() {
        let found = games.open(name, &GameSettings::default()).unwrap();
        assert_eq!(found.facts().name, name);
    }
    assert_eq!(Games::empty().register(scripted()).names(), ["scripted"]);
}

#[test]
fn a_name_that_is_taken_is_refused_with_both_games() {
    let panic = catch_unwind(|| Games::shipped().register(ConnectFour::new(0))).unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    for part in ["`connect_four`", "::ConnectFour and ", "another id"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(catch_unwind(|| Games::empty().register(scripted()).register(scripted())).is_err());
}

#[test]
fn a_registered_game_has_a_limit_on_its_length_and_no_other_setting() {
    let settings = |max_plies, quiet_limit| GameSettings { max_plies, quiet_limit, ..GameSettings::default() };
    let limit = |settings: &GameSettings| games().open("scripted", settings).map(|game| game.facts().max_plies);
    assert_eq!(limit(&settings(None, None)), Ok(0));
    assert_eq!(limit(&settings(Some(1), None)), Ok(1));
    let quiet = settings(None, Some(20));
    assert_eq!(limit(&quiet).unwrap_err().to_string(), "scripted has no quiet limit");
    assert!(limit(&quiet.fitting("scripted")).is_ok());
}

#[test]
fn rules_and_environment_run_a_registered_game() {
    let game = scripted();
    let mut number = 0;
    conformance::check(&game, 20, &mut |below| {
        number += 1;
        number % below
    });
    let mut env = VecEnv::new(game, 8, 1);
    env.step(&[Action(1); 8]);
    env.step(&[Action(0); 8]);
    assert_eq!(env.finished().count(), 8);
    let won = |game: &Finished<_>| game.outcome.winner == Some(Player::White);
    assert!(env.finished().all(won));
}

#[test]
fn search_proves_the_win_in_a_registered_game() {
    let game = scripted();
    let limit = TreeSize::for_simulations(&game, 100);
    let rule = SearchRule::Puct(PuctSettings::default());
    let mut trees = [Tree::new(game.clone(), rule, limit, game.start())];
    trees[0].plan(SearchPlan::new(100).seed(1));
    Batch::new(&game).search(&mut trees, &mut Uniform, |_| false);
    assert_eq!(trees[0].best(), Some(Action(1)));
    assert_eq!(trees[0].proven().map(|won| won.verdict), Some(Verdict::Win));
}

#[test]
fn agents_without_an_evaluation_play_a_registered_game_in_the_arena() {
    let game = scripted();
    let specs = ["rollout:64", "random"];
    let entrants = specs.map(|name| Entrant { name: name.to_owned(), checkpoint: None });
    let settings = Settings { pairs: 20, ..Settings::default() };
    let openings = Openings::random(&game, 0, 20, 1).unwrap();
    let team = specs.map(|spec| build(game.clone(), &spec.parse().unwrap()).unwrap());
    let mut tournament = Tournament::new(&game, entrants.into(), &openings, settings).unwrap();
    let played = tournament.play(vec![team.into()], &AtomicBool::new(false), &mut ());
    played.unwrap();
    let rating = tournament.standings().fit().difference(0, 1);
    assert!(rating.elo > 50.0, "{}", rating.elo);
}

#[test]
fn agents_that_need_an_evaluation_say_that_the_game_has_none() {
    for agent in ["greedy", "alphabeta:100"] {
        let built = build(scripted(), &agent.parse().unwrap());
        let error = built.err().expect("there is no evaluation").to_string();
        assert!(error.contains("scripted has no evaluation"), "{error}");
        assert!(error.contains("use rollout:SIMULATIONS"), "{error}");
    }
    assert!(scripted().layout().is_none());
}

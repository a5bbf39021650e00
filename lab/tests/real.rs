//! What each side holds under the shuttle rule: against exact play, after interruptions, on the command line.

use std::collections::HashSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;
use jarmo_core::game::{Action, Game, Mask, Player, Proven, Verdict};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_core::random::stream;
use jarmo_exact::agent::{Agent, AgentSpec, Limit, Request};
use jarmo_exact::tables::{self, BuildSettings, HasEndgames, ShuttleBounds, Tables};
use lab::shuttle_bounds;
use predicates::prelude::*;
use predicates::str::contains;

fn build(folder: &Path, force: u32) -> Tables {
    let game = Jarmo::standard();
    let tables = Tables::solve(&game, force).unwrap();
    for bound in Player::BOTH {
        shuttle_bounds::build(&game, &tables, folder, bound, force, &mut |_| {}).unwrap();
    }
    tables
}

#[test]
fn a_draw_that_only_a_shuttle_holds_is_not_held() {
    let folder = tempfile::tempdir().unwrap();
    let tables = build(folder.path(), 4);
    let game = Jarmo::standard();
    let holds = ShuttleBounds::open(&game, folder.path()).unwrap();
    let value = |text: &str| {
        let position = game.parse_position(text).unwrap();
        let verdict = tables.proven(&position).unwrap().verdict;
        (verdict, Player::BOTH.map(|player| holds.holds(&position, player)))
    };
    // White wins in 13: Black has to stop going back and forth.
    let (verdict, known) = value("1w3/1b3/5/b4/w4 w - - 0");
    assert_eq!(verdict, Verdict::Draw);
    assert_eq!(known, [Some(true), Some(false)]);
    let counts = |bound, force| shuttle_bounds::counts(&holds, &tables, bound, force).unwrap();
    let white = counts(Player::White, 4);
    assert_eq!(white.drawn.iter().sum::<u64>(), 28_720);
    assert_eq!(white.drawn[0], 40);
    assert_eq!(white.streaks, [0, 0, 41, 9733]);
    assert_eq!(counts(Player::Black, 4).drawn[0], 171);
}

#[test]
fn a_pass_that_the_other_side_answers_by_passing_ends_the_game() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), 5);
    let game = Jarmo::standard().with_max_plies(0);
    let holds = ShuttleBounds::open(&game, folder.path()).unwrap();
    // White's only move is forbidden, so White passes a second time, and Black has lost 3:4. One ply before, Black's only
    // move is forbidden.
    for text in ["1w3/5/w4/b4/1wb2 w D2-B1*4 pass 0", "1w3/5/w4/b4/1wb2 b D2-B1*4 C3-A2*4 0"] {
        let position = game.parse_position(text).unwrap();
        assert_eq!(holds.holds(&position, Player::Black), Some(false), "{text}");
    }
}

#[test]
fn a_file_that_is_missing_below_others_is_named() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), 4);
    fs::remove_file(folder.path().join("white-03.held")).unwrap();
    let error = ShuttleBounds::open(&Jarmo::standard(), folder.path()).unwrap_err();
    let error = error.to_string();
    assert!(error.ends_with("white-03.held: is missing; build it first"));
}

#[test]
fn an_interrupted_build_continues_to_the_same_files() {
    let game = Jarmo::standard();
    let whole = tempfile::tempdir().unwrap();
    let tables = build(whole.path(), 4);
    let stopped = tempfile::tempdir().unwrap();
    for bound in Player::BOTH {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let mut messages = 0;
            let mut tell = |_| {
                messages += 1;
                assert!(messages < 23 * attempts, "stopped");
            };
            let build = || shuttle_bounds::build(&game, &tables, stopped.path(), bound, 4, &mut tell);
            if catch_unwind(AssertUnwindSafe(build)).is_ok_and(|done| done.is_ok()) {
                break;
            }
        }
        assert!(attempts > 2, "{attempts} attempts");
        for force in 2..=4 {
            let name = format!("{}-{force:02}.held", bound.name());
            let [one, other] = [&whole, &stopped].map(|dir| fs::read(dir.path().join(&name)));
            assert!(one.unwrap() == other.unwrap(), "{name}");
        }
    }
}

#[test]
fn a_damaged_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), 3);
    let path = folder.path().join("black-03.held");
    let mut bytes = fs::read(&path).unwrap();
    bytes[1000] ^= 1;
    fs::write(&path, bytes).unwrap();
    let error = ShuttleBounds::open(&Jarmo::standard(), folder.path()).unwrap_err();
    assert!(error.to_string().ends_with("black-03.held: is damaged; remove it and build it again"));
}

fn choose(agent: &mut dyn Agent<Jarmo>, position: JarmoPosition) -> Action {
    let request = Request { position, stream: &mut stream(1, 1), limit: Limit::default(), memory: None };
    agent.choose(&mut [request])[0].action
}

/// Whether the opponent of an agent can win from a position, within 40 plies and some thousands of positions.
fn can_be_beaten(agent: &mut dyn Agent<Jarmo>, start: JarmoPosition) -> bool {
    let game = Jarmo::standard().with_max_plies(0);
    let own = start.to_move();
    let (mut seen, mut frontier) = (HashSet::new(), vec![start]);
    for _ in 0..40 {
        let mut next = Vec::new();
        for position in frontier {
            let actions = if position.to_move() == own {
                vec![choose(agent, position)]
            } else {
                game.legal(&position).iter().collect()
            };
            for action in actions {
                let mut after = position;
                game.play(&mut after, action);
                if let Some(outcome) = game.outcome(&after) {
                    if outcome.verdict(own) == Verdict::Loss {
                        return true;
                    }
                    continue;
                }
                // The ply, the last word of the text, tells nothing apart.
                let text = game.position_text(&after);
                let text = text.rsplit_once(' ').unwrap().0.to_owned();
                let after = game.parse_position(&format!("{text} 0")).unwrap();
                if seen.insert(text) {
                    next.push(after);
                }
            }
        }
        if seen.len() > 5_000 {
            return false;
        }
        frontier = next;
    }
    false
}

#[test]
fn an_agent_with_the_files_is_not_beaten_by_the_rule() {
    let folder = tempfile::tempdir().unwrap();
    let settings = BuildSettings { force: 4, save_every: Duration::MAX };
    let game = Jarmo::standard();
    let tables = tables::build(&game, folder.path(), settings, &mut |_| {}).unwrap();
    let spec = format!("rollout:1?tables={}", folder.path().display());
    let agent = || jarmo_exact::agent::build(game.clone(), &spec.parse::<AgentSpec>().unwrap()).unwrap();
    let mut by_tables = agent();
    for bound in Player::BOTH {
        shuttle_bounds::build(&game, &tables, folder.path(), bound, 4, &mut |_| {}).unwrap();
    }
    let known = game.open_endgames(folder.path()).unwrap();
    let mut by_files = agent();

    // Drawn positions in which both sides hold, but the side to move gives that up by an action that the tables call
    // a draw.
    let mut stream = stream(5, 5);
    let mut starts = Vec::new();
    while starts.len() < 30 {
        let position = known.random(&mut stream);
        if game.outcome(&position).is_some() || known.known(&game, &position) != Some(Proven::DRAW) {
            continue;
        }
        let gives_up = game.legal(&position).iter().any(|action| {
            let mut next = position;
            game.play(&mut next, action);
            game.outcome(&next).is_none()
                && known.after(&game, &position, action) == Proven::DRAW
                && known.holds(&game, &next, position.to_move()) == Some(false)
        });
        if gives_up {
            starts.push(position);
        }
    }
    let beaten = |agent: &mut dyn Agent<Jarmo>| {
        let beaten = starts.iter().filter(|&&start| can_be_beaten(agent, start));
        beaten.count()
    };
    assert_eq!(beaten(&mut *by_files), 0);
    assert!(beaten(&mut *by_tables) > 0, "the rule beats the tables");

    // A lost game goes on as long as it can.
    let lost = game.parse_position("5/w2b1/5/5/2b1b w - - 0").unwrap();
    for agent in [&mut by_tables, &mut by_files] {
        let chosen = choose(&mut **agent, lost);
        assert_eq!(game.action_text(&lost, chosen), "A4-C3");
    }

    // White wins here by the rule, in 13 plies; so the draw of the table is not known.
    let position = game.parse_position("1w3/1b3/5/b4/w4 w - - 0").unwrap();
    assert_eq!(tables.proven(&position), Some(Proven::DRAW));
    assert_eq!(known.known(&game, &position), None);
}

#[test]
fn files_are_built_shown_and_counted() {
    let lab = |arguments: &[&str]| {
        let mut command = Command::cargo_bin("lab").unwrap();
        command.arg("real").args(arguments).assert()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = |name| folder.path().join(name).to_str().unwrap().to_owned();
    let (tables, holds) = (path("tables"), path("holds"));
    let settings = BuildSettings { force: 4, save_every: Duration::MAX };
    tables::build(&Jarmo::standard(), Path::new(&tables), settings, &mut |_| {}).unwrap();
    let build = ["build", &tables, "--out", &holds, "--force"];
    lab(&[&build[..], &["4"]].concat()).success().stderr(contains("black, force 4: 219100 bare positions in "));
    lab(&[&build[..], &["4", "--side", "white"]].concat()).success().stderr(contains("white, force 4: already there"));
    lab(&[&build[..], &["5"]].concat()).failure().stderr(contains("force 5: a table with distances is needed"));
    lab(&["stats", &tables, &holds]).success().stdout(contains("28720         40"));
    let position = "1w3/1b3/5/b4/w4 w - - 0";
    let show = ["show", &holds];
    lab(&[&show[..], &["--position", position, "--plies", "1"]].concat())
        .success()
        .stdout(contains("white does not lose\n").and(contains(" openings of 1 ply are proven drawn")));
    lab(&show).success().stdout("no files of this force\n");
    lab(&["show", &tables]).failure().stderr(contains("has no files of bare positions held"));
}

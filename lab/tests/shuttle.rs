//! What the shuttle rule changes.

use assert_cmd::Command;
use jarmo_core::game::{Game, Mask, Player, Verdict};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_exact::tables::{ShuttleBounds, Tables};
use lab::shuttle::{HoldCheck, check_holds, shuttle_effect};
use lab::shuttle_bounds::build;
use predicates::str::contains;

#[test]
fn the_shuttle_rule_changes_no_placement_of_two_archers() {
    let effects = shuttle_effect(&Jarmo::standard(), 2).unwrap();
    let effect = &effects[0];
    let fresh = effect.fresh();
    assert_eq!(fresh.positions, 770);
    assert_eq!((fresh.other_result(), fresh.other_distance), (0, 0));
    // At the shuttle limit the only way to win, or to escape, can be forbidden.
    let all = effect.all();
    assert_eq!((all.positions, all.other_result()), (113_234, 2_498));
    let at_limit = effect.streaks.last().unwrap();
    assert!(at_limit.other_result() > 0);
    let game = Jarmo::standard().with_max_plies(0);
    let example = at_limit.example.unwrap();
    let with_rule = best_by_search(&game, &example, 12);
    let without = Tables::solve(&game, 2).unwrap().proven(&example).unwrap().verdict;
    assert_ne!(with_rule, without, "{}", game.position_text(&example));
}

#[test]
fn the_program_measures_it() {
    let lab = |force: &str| {
        let mut command = Command::cargo_bin("lab").unwrap();
        command.args(["shuttle", "--force", force]).assert()
    };
    lab("2").success().stdout(contains("of 770 bare positions, 0 have another result"));
    lab("5").code(2).stderr(contains("from 2 to 4"));
}

/// The result under all rules within some plies, else a draw.
fn best_by_search(game: &Jarmo, position: &JarmoPosition, plies: u32) -> Verdict {
    if let Some(outcome) = game.outcome(position) {
        return outcome.verdict(position.to_move());
    }
    if plies == 0 {
        return Verdict::Draw;
    }
    let mut best = Verdict::Loss;
    for action in game.legal(position).iter() {
        let mut next = *position;
        game.play(&mut next, action);
        best = best.max(best_by_search(game, &next, plies - 1).flip());
        if best == Verdict::Win {
            break;
        }
    }
    best
}

#[test]
fn what_a_side_holds_it_never_loses_in_exact_play_with_all_histories() {
    let folder = tempfile::tempdir().unwrap();
    let game = Jarmo::standard();
    let tables = Tables::solve(&game, 3).unwrap();
    for bound in Player::BOTH {
        build(&game, &tables, folder.path(), bound, 3, &mut |_| {}).unwrap();
    }
    let holds = ShuttleBounds::open(&game, folder.path()).unwrap();
    let checks = check_holds(&game, 3, &holds);
    let fresh = |force: usize, player: Player| checks[force - 2][player.index()][0];
    for side in checks.iter().flatten().flatten() {
        assert_eq!(side.wrong, 0);
    }
    let check = |not_lost, held| HoldCheck { not_lost, held, wrong: 0 };
    assert_eq!(fresh(2, Player::White), check(385, 385));
    assert_eq!(fresh(2, Player::Black), check(385, 385));
    // The difference is what the freedom of the other side costs.
    assert_eq!(fresh(3, Player::White), check(13_317, 13_303));
    assert_eq!(fresh(3, Player::Black), check(13_343, 13_315));
}

#[test]
fn what_is_held_is_compared_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let game = Jarmo::standard();
    let tables = Tables::solve(&game, 2).unwrap();
    for bound in Player::BOTH {
        build(&game, &tables, folder.path(), bound, 2, &mut |_| {}).unwrap();
    }
    let mut command = Command::cargo_bin("lab").unwrap();
    command.args(["shuttle", "--force", "2", "--holds"]).arg(folder.path());
    let says = contains("not lost 385, of these held 385; held but lost 0");
    command.assert().success().stdout(says);
}

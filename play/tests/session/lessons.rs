//! The guided lessons and the puzzles: every task can be solved, and every other move is answered.

use crate::lang::written;
use jarmo::catalog::GAMES;
use play::lang::Language;
use play::lessons::{self, Answer};
use play::puzzles::{self, Progress, SCALE};

#[test]
fn every_lesson_is_played_through_in_every_language() {
    for language in Language::ALL {
        let texts = language.texts();
        let mut steps = 0;
        for game in GAMES {
            for step in lessons::of(game) {
                let (own, mut board) = (texts.lesson(game, &step.key), step.session(game));
                for text in [&own.title, &own.text, &own.task, &own.right, &own.wrong] {
                    assert!(!text.trim().is_empty(), "{language:?} {game} {}", step.key);
                }
                let legal = board.board().scene().legal;
                let mut right = 0;
                for text in legal.iter().map(|legal| &legal.text) {
                    let answer = step.answer(&mut board, texts, text);
                    assert!(answer.legal);
                    if step.accept.contains(text) {
                        assert_eq!((answer.right, &answer.said), (true, &own.right));
                        board = step.session(game);
                        right += 1;
                    } else {
                        assert_eq!((answer.right, &answer.said), (false, &own.wrong));
                    }
                    assert_eq!(board.board().moves().len(), step.moves.len());
                }
                assert_eq!(right, step.accept.len(), "{game} {}: legal", step.key);
                let Answer { legal, right, said } = step.answer(&mut board, texts, "Z9");
                assert!(!legal && !right);
                assert!(said.starts_with("Z9: "), "{said}");
                steps += 1;
            }
        }
        let lessons = &written(language)["lessons"];
        let lessons = lessons.as_table().unwrap().values();
        assert_eq!(lessons.map(|steps| steps.as_table().unwrap().len()).sum::<usize>(), steps, "{language:?}");
    }
    assert_eq!(lessons::of("jarmo").len(), 6);
}

#[test]
fn the_forbidden_move_of_the_shuttle_is_refused_by_the_rule() {
    let step = lessons::of("jarmo").iter().find(|step| step.key == "shuttle");
    let step = step.unwrap();
    let mut board = step.session("jarmo");
    let said = step.answer(&mut board, Language::En.texts(), "A1-C2").said;
    assert!(said.contains("no endless shuttling"), "{said}");
}

#[test]
fn moves_may_be_written_in_other_ways() {
    let step = &lessons::of("jarmo")[1];
    let mut board = step.session("jarmo");
    assert!(step.answer(&mut board, Language::En.texts(), "b3-c3").right);
}

#[test]
fn every_puzzle_is_solved_by_its_line_and_by_no_other_first_move() {
    let texts = Language::En.texts();
    for puzzle in GAMES.into_iter().flat_map(puzzles::of) {
        let mut board = puzzles::session(puzzle, 0);
        let legal = board.board().scene().legal;
        for text in legal.iter().map(|legal| &legal.text) {
            if *text != puzzle.line[0] {
                let answer = puzzles::answer(puzzle, &mut board, texts, text);
                assert!(answer.legal && !answer.right);
                assert_eq!(board.board().moves().len(), 0);
            }
        }
        for own in puzzle.line.iter().step_by(2) {
            assert!(!puzzles::is_over(puzzle, &board));
            let Answer { right, said, .. } = puzzles::answer(puzzle, &mut board, texts, own);
            assert!(right);
            assert!(said.starts_with("Right"), "{said}");
        }
        assert!(puzzles::is_over(puzzle, &board));
        assert_eq!(board.board().moves().len(), puzzle.line.len());
    }
}

#[test]
fn ratings_follow_the_results_and_puzzles_do_not_come_again_soon() {
    let all = puzzles::of("jarmo");
    let mut progress = Progress::default();
    let first = progress.choose(all);
    let away = |rating: u16| (i32::from(rating) - SCALE.start).abs();
    assert!(all.iter().all(|one| away(first.rating) <= away(one.rating)));
    assert!(progress.count(first, true, all.len()) > 0);
    let mut seen = vec![&first.position];
    for number in 1..all.len() / 2 {
        let puzzle = progress.choose(all);
        assert!(!seen.contains(&&puzzle.position), "{number}");
        seen.push(&puzzle.position);
        let change = progress.count(puzzle, number % 2 == 0, all.len());
        assert_eq!(change > 0, number % 2 == 0);
        assert!(change.abs() <= SCALE.first);
    }
    let best = all.last().unwrap();
    assert!(progress.count(best, true, all.len()) <= SCALE.last);
    assert_eq!(progress.latest.len(), all.len() / 2);
}

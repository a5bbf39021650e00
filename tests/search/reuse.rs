//! Reuse in search: cached evaluations, and subtrees of later positions.

use crate::trees::{GUMBEL, corridor, grown, opinionated, search_rules, summary};
use jarmo::eval::{Cache, EvalBatch, Evaluation, Evaluator, ScriptedEvaluator, Value};
use jarmo::game::{Game, Mask, Player, Proven};
use jarmo::games::scripted::Node;
use jarmo::games::{Jarmo, Scripted, ScriptedPosition, Tammi};
use jarmo::search::{Batch, SearchPlan, Tree, TreeSize};

fn room<G: Game>(game: &G, simulations: u32) -> TreeSize {
    TreeSize::for_simulations(game, simulations)
}

#[test]
fn a_cache_changes_nothing_but_the_number_of_evaluations() {
    let game = Jarmo::standard();
    let plain = grown(&game, GUMBEL, 400, &mut opinionated(&game, 1));
    for capacity in [1, 64, 1 << 14] {
        let mut cache = Cache::new(&game, opinionated(&game, 1), capacity);
        let first = grown(&game, GUMBEL, 400, &mut cache);
        let misses = cache.misses;
        let second = grown(&game, GUMBEL, 400, &mut cache);
        let (hits, all_misses) = (cache.hits, cache.misses);
        assert_eq!(summary(&first), summary(&plain));
        assert_eq!(summary(&second), summary(&plain));
        if capacity > 400 {
            assert_eq!(misses, all_misses, "everything is cached");
            assert!(hits >= 300, "{hits}");
        }
    }
}

#[test]
fn a_cache_evaluates_equal_positions_in_a_batch_once() {
    let game = Jarmo::standard();
    let mut cache = Cache::new(&game, opinionated(&game, 1), 16);
    let mut batch = EvalBatch::new(game.actions());
    for _ in 0..5 {
        batch.push(game.start(), 0);
    }
    cache.evaluate(&mut batch);
    assert_eq!((cache.hits, cache.misses), (4, 1));
    for row in 1..5 {
        assert_eq!(batch.evaluation(row), batch.evaluation(0));
        assert_eq!(batch.logits(row), batch.logits(0));
    }
}

#[test]
fn the_subtree_of_a_move_is_kept_whole() {
    let game = Tammi::standard();
    for rule in search_rules() {
        let mut evaluator = opinionated(&game, 1);
        let (limit, room) = (room(&game, 5000), room(&game, 100));
        let mut tree = Tree::new(game.clone(), rule, limit, game.start());
        let mut position = game.start();
        for ply in 0..30 {
            if tree.proven().is_some() || game.outcome(&position).is_some() {
                break;
            }
            tree.plan(SearchPlan::new(100).seed(ply));
            Batch::new(&game).search(std::slice::from_mut(&mut tree), &mut evaluator, |_| false);
            let action = tree.best().unwrap();
            let before = tree.root_actions();
            let chosen = before.iter().find(|root| root.action == action).unwrap();
            let (visits, line) = (chosen.visits, tree.line(action));
            game.play(&mut position, action);
            tree.continue_at(position, room);
            assert_eq!(*tree.position(), position);
            if game.outcome(&position).is_some() {
                break;
            }
            let after: u32 = tree.root_actions().iter().map(|root| root.visits).sum();
            let own = u32::from(game.legal(&position).count() > 1); // the evaluation of the node itself
            assert_eq!(after + own, visits, "ply {ply}");
            if line.len() > 1 {
                assert_eq!(tree.line(line[1]), line[1..], "ply {ply}");
            }
        }
    }
}

#[test]
fn the_subtree_of_a_later_position_is_kept_if_there_is_room() {
    let game = Jarmo::standard();
    for rule in search_rules() {
        let grow = || {
            let mut tree = Tree::new(game.clone(), rule, room(&game, 600), game.start());
            tree.plan(SearchPlan::new(300).seed(7));
            let mut evaluator = opinionated(&game, 1);
            Batch::new(&game).search(std::slice::from_mut(&mut tree), &mut evaluator, |_| false);
            tree
        };
        let mut step_by_step = grow();
        let line = step_by_step.line(step_by_step.best().unwrap());
        let mut position = game.start();
        for &action in &line[..2] {
            game.play(&mut position, action);
            step_by_step.continue_at(position, room(&game, 300));
        }
        assert!(step_by_step.size().nodes > 10, "a test of a tree, not of a leaf");
        let mut at_once = grow();
        at_once.continue_at(position, room(&game, 300));
        assert_eq!(*at_once.position(), position);
        assert_eq!(summary(&at_once), summary(&step_by_step));

        let mut full = grow();
        full.continue_at(position, room(&game, 600));
        assert_eq!((*full.position(), full.size().nodes), (position, 0));
        let mut elsewhere = grow();
        let text = "5/2w2/5/2b2/5 w - - 0";
        elsewhere.continue_at(game.parse_position(text).unwrap(), room(&game, 300));
        assert_eq!(elsewhere.size().nodes, 0);
    }
}

#[test]
fn a_proven_position_without_its_line_is_searched_again() {
    // White has a quiet move, and one after which Black has a decision that the evaluator proves lost.
    let win = |node| Node::Choice(Player::White, vec![node]);
    let slow = win(win(Node::end(1, 0)));
    let lost = Node::Choice(Player::Black, vec![slow, win(Node::end(1, 0))]);
    let game = Scripted::new(&Node::Choice(Player::White, vec![corridor(Player::Black, 9), lost]));
    for rule in search_rules() {
        let rules = game.clone();
        let mut evaluator = ScriptedEvaluator::new(&game, 1, move |position: &ScriptedPosition, logits| {
            logits.fill(0.0);
            let decisions = rules.legal(position).count();
            let is_start = rules.ply(position) == 0;
            Evaluation {
                proven: (decisions == 2 && !is_start).then_some(Proven::loss(3)),
                ..Evaluation::of(Value::EVEN)
            }
        });
        let limit = room(&game, 40);
        let mut tree = Tree::new(game.clone(), rule, limit, game.start());
        let mut batch = Batch::new(&game);
        tree.plan(SearchPlan::new(20).seed(7));
        batch.search(std::slice::from_mut(&mut tree), &mut evaluator, |_| false);
        assert_eq!(tree.proven(), Some(Proven::win(4)), "{rule:?}");
        let mut position = game.start();
        game.play(&mut position, tree.best().unwrap());
        tree.continue_at(position, room(&game, 20));
        assert_eq!(tree.size().nodes, 0, "{rule:?}");
        tree.plan(SearchPlan::new(20).seed(7));
        batch.search(std::slice::from_mut(&mut tree), &mut evaluator, |_| false);
        assert_eq!(tree.proven(), Some(Proven::loss(3)), "{rule:?}");
    }
}

#[test]
fn a_gumbel_root_plays_what_its_own_search_found() {
    let game = Jarmo::standard();
    let mut tree = grown(&game, GUMBEL, 400, &mut opinionated(&game, 1));
    let actions = tree.root_actions();
    let favourite = tree.best().unwrap();
    let other = actions.iter().position(|root| root.action != favourite).unwrap();
    let mut noise = vec![0.0; actions.len()];
    noise[other] = 50.0;
    tree.plan(SearchPlan::new(16).noise(&noise).seed(7));
    let mut evaluator = opinionated(&game, 1);
    Batch::new(&game).search(std::slice::from_mut(&mut tree), &mut evaluator, |_| false);
    assert_eq!(tree.best(), Some(actions[other].action));
}

//! Trees: backups where the mover repeats, proven values, memory limits, batches.

use std::collections::HashMap;

use crate::common;
use crate::trees::{GUMBEL, corridor, grown, opinionated, search_rules, summary};
use jarmo::eval::{Evaluation, Rollout, ScriptedEvaluator, Uniform, Value};
use jarmo::game::{Action, Game, Mask, Player, Proven, Verdict};
use jarmo::games::scripted::Node;
use jarmo::games::{ConnectFour, Guard, Jarmo, Scripted, ScriptedPosition, Tammi};
use jarmo::random::stream;
use jarmo::search::{
    Batch, GumbelSettings, PuctSettings, SearchPlan, SearchRule, Step, Tree, TreeSize, dirichlet, gumbel_noise,
};
use rand::Rng;

/// Evaluates each node of a scripted game by its number. Values are for White.
fn by_node(
    game: &Scripted,
    white: HashMap<u32, f32>,
) -> ScriptedEvaluator<impl FnMut(&ScriptedPosition, &mut [f32]) -> Evaluation + use<>> {
    let rules = game.clone();
    ScriptedEvaluator::new(game, 1, move |position: &ScriptedPosition, logits| {
        logits.fill(0.0);
        let text = rules.position_text(position);
        let node: u32 = text.split(' ').next().unwrap().parse().unwrap();
        let result = white.get(&node).copied().unwrap_or(0.0);
        let value = Value { win: (1.0 + result) / 2.0, draw: 0.0, loss: (1.0 - result) / 2.0, score: 10.0 * result };
        Evaluation::of(match rules.to_move(position) {
            Player::White => value,
            Player::Black => value.flip(),
        })
    })
}

#[test]
fn values_keep_their_sign_where_the_mover_repeats() {
    // White moves to node 1, again to node 2, then Black to node 3, Black to node 4.
    let line = Node::white([Node::white([Node::white([Node::black([Node::black([corridor(Player::White, 20)])])])])]);
    let game = Scripted::new(&line);
    let white = HashMap::from([(1, 0.5), (2, 0.25), (3, 0.125), (4, -0.5)]);
    for rule in search_rules() {
        let tree = grown(&game, rule, 4, &mut by_node(&game, white.clone()));
        let root = tree.root_actions()[0];
        let mean = (0.5 + 0.25 + 0.125 - 0.5) / 4.0;
        let value = root.value.unwrap();
        assert!((value.expectation() - mean).abs() < 1e-6, "{value:?}");
        assert!((value.score - 10.0 * mean).abs() < 1e-5, "{value:?}");
        // The evaluation of the root itself, 0, counts as well.
        let own = tree.value().unwrap().expectation();
        assert!((own - mean * 4.0 / 5.0).abs() < 1e-6, "{own}");
    }
}

#[test]
fn both_players_choose_for_themselves_where_the_mover_repeats() {
    // Black would hand White the win at once if its second decision were taken for White's.
    let trap = Node::black([Node::black([Node::end(9, 0), Node::end(0, 9)])]);
    let game = Scripted::new(&Node::white([trap, Node::end(5, 5)]));
    for rule in search_rules() {
        let tree = grown(&game, rule, 64, &mut Uniform);
        assert_eq!(tree.best(), Some(Action(1)), "{rule:?}");
        assert_eq!(tree.proven(), Some(Proven::DRAW), "{rule:?}");
    }
}

#[test]
fn points_are_reported_and_do_not_decide() {
    // Both nearly lose: the first a little less likely, the second by fewer points.
    let game = Scripted::new(&Node::white([corridor(Player::Black, 50), corridor(Player::Black, 50)]));
    let best = |rule: SearchRule| {
        let rules = game.clone();
        let mut evaluator = ScriptedEvaluator::new(&game, 1, move |position: &_, logits| {
            logits.fill(0.0);
            let text = rules.position_text(position);
            let node: u32 = text.split(' ').next().unwrap().parse().unwrap();
            let (win, score) = if node > 51 { (0.96, 1.0) } else { (0.95, 6.0) };
            Evaluation::of(Value { win, draw: 0.0, loss: 1.0 - win, score })
        });
        let tree = grown(&game, rule, 32, &mut evaluator);
        for root in tree.root_actions() {
            let value = root.value.unwrap();
            let [result, score] = [[-0.9, -6.0], [-0.92, -1.0]][root.action.index()];
            assert!((value.expectation() - result).abs() < 1e-5, "{value:?}");
            assert!((value.score - score).abs() < 1e-5, "{value:?}");
        }
        tree.best()
    };
    for rule in search_rules() {
        assert_eq!(best(rule), Some(Action(0)), "{rule:?}");
    }
}

#[test]
fn an_action_with_fewer_visits_is_played_if_its_value_is_clearly_better() {
    let game = Scripted::new(&Node::white([corridor(Player::Black, 200), corridor(Player::Black, 200)]));
    let chosen = |min_visit_share: f32, results: [f32; 2]| {
        let rules = game.clone();
        let mut evaluator = ScriptedEvaluator::new(&game, 1, move |position: &_, logits| {
            logits.fill(0.0);
            logits[0] = 3.5;
            let text = rules.position_text(position);
            let node: u32 = text.split(' ').next().unwrap().parse().unwrap();
            let black = -results[usize::from(node > 201)];
            Evaluation::of(Value { win: (1.0 + black) / 2.0, draw: 0.0, loss: (1.0 - black) / 2.0, score: 0.0 })
        });
        let tree =
            grown(&game, SearchRule::Puct(PuctSettings { min_visit_share, ..Default::default() }), 128, &mut evaluator);
        let visits: Vec<u32> = tree.root_actions().iter().map(|root| root.visits).collect();
        assert!(visits[0] > visits[1] && visits[1] > 1, "{visits:?}");
        tree.best()
    };
    assert_eq!(chosen(0.1, [0.2, 0.4]), Some(Action(1)));
    // Only the most visited one may be played, or the better value may be chance.
    assert_eq!(chosen(1.0, [0.2, 0.4]), Some(Action(0)));
    assert_eq!(chosen(0.01, [0.2, 0.22]), Some(Action(0)));
}

#[test]
fn of_proven_wins_the_quickest_is_played() {
    let slow = Node::black([Node::white([Node::end(2, 1)])]);
    let slower = Node::black([Node::white([Node::black([Node::white([Node::end(2, 1)])])])]);
    let game = Scripted::new(&Node::white([slower, slow.clone(), Node::end(3, 3)]));
    for rule in search_rules() {
        let mut tree = grown(&game, rule, 100, &mut Uniform);
        let Proven { verdict, plies } = tree.proven().unwrap();
        assert_eq!(verdict, Verdict::Win);
        assert!(plies == Some(3) || plies == Some(5), "{plies:?}");
        let best = tree.best().unwrap();
        let known: Vec<_> = tree.root_actions().iter().map(|root| root.proven).collect();
        let quickest = known
            .iter()
            .flatten()
            .filter(|proven| proven.verdict == Verdict::Win)
            .map(|proven| proven.plies.unwrap())
            .min();
        let win = quickest.map(Proven::win);
        assert_eq!(known[best.index()], win);
        let mut weights = vec![0.0; game.actions()];
        tree.write_policy(&mut weights);
        assert_eq!(weights[best.index()], 1.0, "{weights:?}");
        // The search is over: nothing more is selected.
        tree.plan(SearchPlan::new(10));
        assert!(matches!(tree.select(), Step::Done));
    }
}

#[test]
fn a_proven_draw_is_not_given_up_for_an_action_that_can_at_best_draw() {
    // After the second action Black can draw, but White seems to win. The third leads to an open position.
    let trap = Node::black([Node::end(5, 5), corridor(Player::White, 300)]);
    for open in [vec![], vec![corridor(Player::Black, 300)]] {
        let game = Scripted::new(&Node::Choice(Player::White, [vec![Node::end(5, 5), trap.clone()], open].concat()));
        for rule in search_rules() {
            let tree = grown(&game, rule, 64, &mut by_node(&game, HashMap::from([(2, 0.9)])));
            let mut policy = vec![0.0; game.actions()];
            tree.write_policy(&mut policy);
            assert_eq!((tree.best(), policy[1]), (Some(Action(0)), 0.0), "{rule:?}");
        }
    }
}

#[test]
fn of_proven_losses_the_slowest_is_played() {
    let long = Node::black([Node::white([Node::black([Node::end(0, 1)])])]);
    let game = Scripted::new(&Node::white([Node::end(0, 4), long, Node::black([Node::end(0, 1)])]));
    for rule in search_rules() {
        let tree = grown(&game, rule, 100, &mut Uniform);
        assert_eq!(tree.proven(), Some(Proven::loss(4)), "{rule:?}");
        assert_eq!(tree.best(), Some(Action(1)));
        assert_eq!(tree.line(Action(1)).len(), 4);
    }
}

#[test]
fn proven_children_are_never_visited_again() {
    let game = Scripted::new(&Node::white([
        Node::end(0, 1),
        Node::end(1, 1),
        corridor(Player::Black, 300),
        Node::black([Node::end(0, 1), corridor(Player::Black, 300)]),
    ]));
    for rule in search_rules() {
        let tree = grown(&game, rule, 200, &mut Uniform);
        let roots = tree.root_actions();
        assert_eq!((roots[0].visits, roots[1].visits), (1, 1), "{rule:?}");
        assert_eq!(roots[1].proven, Some(Proven::DRAW));
        // Black's first branch of the fourth proves it a loss for White.
        assert_eq!(roots[3].proven, Some(Proven::loss(2)));
        assert!(roots[3].visits <= 3, "{}", roots[3].visits);
        let mut weights = vec![0.0; game.actions()];
        tree.write_policy(&mut weights);
        assert_eq!((weights[0], weights[3]), (0.0, 0.0), "no mass on proven losses");
    }
}

#[test]
fn a_proven_value_from_an_evaluator_counts_like_an_end() {
    let game = Scripted::new(&Node::white([corridor(Player::Black, 50), corridor(Player::Black, 50)]));
    let rules = game.clone();
    let mut tables = ScriptedEvaluator::new(&game, 1, move |position: &ScriptedPosition, logits| {
        logits.fill(0.0);
        let lost = rules.position_text(position) == "1 1";
        Evaluation { value: Value::EVEN, proven: lost.then_some(Proven::loss(6)) }
    });
    let tree = grown(&game, GUMBEL, 20, &mut tables);
    assert_eq!(tree.proven(), Some(Proven::win(7)));
    assert_eq!(tree.best(), Some(Action(0)));
}

#[test]
fn forced_positions_are_skipped_in_games_where_they_are_frequent() {
    let game = Tammi::new(30, 200);
    let mut start = game.start();
    let mut stream = stream(3, 0);
    while game.ply(&start) < 20 || game.legal(&start).count() == 1 {
        let legal = game.legal(&start);
        game.play(&mut start, legal.nth(stream.next_u64() as u32 % legal.count()));
    }
    for rule in search_rules() {
        for nodes in [3, 10, 100, 1000] {
            let rules = game.clone();
            let mut asked = Vec::new();
            let mut evaluator = ScriptedEvaluator::new(&game, 1, |position: &_, logits| {
                logits.fill(0.0);
                asked.push(rules.legal(position).count());
                Evaluation::of(Value::EVEN)
            });
            let limit = TreeSize { nodes, edges: 100 * nodes };
            let mut tree = Tree::new(game.clone(), rule, limit, start);
            tree.plan(SearchPlan::new(400).seed(7));
            Batch::new(&game).search(std::slice::from_mut(&mut tree), &mut evaluator, |_| false);
            let size = tree.size();
            assert!(size.nodes <= nodes);
            // A forced position is evaluated only if the tree is full.
            let forced = asked.iter().filter(|&&count| count == 1).count();
            assert!(forced <= usize::from(tree.is_full()), "{forced} evaluated");
            if nodes == 1000 {
                assert_eq!(tree.simulations_done(), 400);
                assert!(size.nodes as usize > asked.len() + 40, "{size:?}, {}", asked.len());
            }
            for root in tree.root_actions() {
                let value = root.value.map_or(0.0, |value| value.expectation());
                assert!((-1.0..=1.0).contains(&value), "{root:?}");
            }
        }
    }
}

#[test]
fn a_full_tree_stops_and_answers() {
    let game = Jarmo::standard();
    let limit = TreeSize { nodes: 20, edges: 100 };
    for rule in search_rules() {
        let mut tree = Tree::new(game.clone(), rule, limit, game.start());
        tree.plan(SearchPlan::new(1000));
        Batch::new(&game).search(std::slice::from_mut(&mut tree), &mut Uniform, |_| false);
        assert!(tree.is_full());
        assert!(game.legal(&game.start()).contains(tree.best().unwrap()));
        let size = tree.size();
        assert!(size.nodes <= 20 && size.edges <= 100, "{size:?}");
    }
    let none = TreeSize { nodes: 0, edges: 0 };
    let mut tree = Tree::new(game.clone(), GUMBEL, none, game.start());
    tree.plan(SearchPlan::new(10));
    assert!(matches!(tree.select(), Step::Done));
    assert_eq!((tree.best(), tree.value()), (None, None));
}

#[test]
fn an_edge_takes_at_most_100_bytes() {
    fn check<G: Game>(game: G) {
        let tree = grown(&game, GUMBEL, 2000, &mut Rollout::new(game.clone()));
        let size = tree.size();
        let affordable = TreeSize::for_bytes::<G>(100 * size.edges as usize, size.edges / size.nodes);
        assert!(affordable.nodes >= size.nodes, "{}: {size:?}", game.id());
    }
    check(Jarmo::standard());
    check(Guard::standard());
    check(Tammi::standard());
    check(ConnectFour::new(0));
}

#[test]
fn a_simulation_allocates_nothing() {
    fn check<G: Game>(game: G) {
        for rule in search_rules() {
            let limit = TreeSize::for_simulations(&game, 600);
            let mut tree = Tree::new(game.clone(), rule, limit, game.start());
            let mut batch = Batch::new(&game);
            let mut rollout = Rollout::new(game.clone());
            let mut more = |simulations| {
                tree.plan(SearchPlan::new(simulations).seed(3));
                batch.search(std::slice::from_mut(&mut tree), &mut rollout, |_| false);
            };
            more(10); // the rows of the batch and of the plan
            let count = allocation_counter::measure(|| more(500)).count_total;
            assert_eq!(count, 0, "{} {rule:?}", game.id());
        }
    }
    check(Jarmo::standard());
    check(Guard::standard());
    check(Tammi::standard());
    check(ConnectFour::new(0));
}

#[test]
fn without_simulations_the_evaluation_of_the_root_decides() {
    let game = Scripted::new(&Node::white([corridor(Player::Black, 9), corridor(Player::Black, 9)]));
    let mut second = ScriptedEvaluator::new(&game, 1, |_: &ScriptedPosition, logits: &mut [f32]| {
        logits.fill(0.0);
        logits[1] = 1.0;
        Evaluation::of(Value::EVEN)
    });
    for rule in search_rules() {
        let tree = grown(&game, rule, 0, &mut second);
        assert_eq!(tree.best(), Some(Action(1)), "{rule:?}");
        assert_eq!(tree.size().nodes, 1);
        let mut policy = vec![0.0; game.actions()];
        tree.write_policy(&mut policy);
        assert!(policy[1] > policy[0] && policy[0] > 0.0, "{rule:?}: {policy:?}");
    }
}

#[test]
fn a_tree_has_room_for_all_simulations() {
    fn check<G: Game>(game: &G, position: &str) {
        for rule in search_rules() {
            let limit = TreeSize::for_simulations(game, 64);
            let mut tree = Tree::new(game.clone(), rule, limit, game.parse_position(position).unwrap());
            tree.plan(SearchPlan::new(64).seed(7));
            Batch::new(game).search(std::slice::from_mut(&mut tree), &mut Uniform, |_| false);
            assert!(!tree.is_full() && (tree.simulations_done() == 64 || tree.proven().is_some()), "{position}");
        }
    }
    check(&Tammi::standard(), "1b1b1b2/b5b1/3b3b/8/7b/2b1B3/7w/w1w5 w - 0 30"); // many captures are forced
    check(&Jarmo::standard(), &Jarmo::standard().position_text(&Jarmo::standard().start()));
}

#[test]
fn a_kept_tree_in_which_the_game_has_ended_has_nothing_to_search() {
    let game = ConnectFour::new(0);
    let mut position = game.start();
    for column in [3, 0, 3, 0, 3, 1] {
        game.play(&mut position, Action(column));
    }
    let limit = TreeSize::for_simulations(&game, 200);
    let mut tree = Tree::new(game.clone(), GUMBEL, limit, position);
    tree.plan(SearchPlan::new(100).seed(7));
    Batch::new(&game).search(std::slice::from_mut(&mut tree), &mut Uniform, |_| false);
    game.play(&mut position, Action(3)); // wins
    tree.continue_at(position, TreeSize { nodes: 0, edges: 0 });
    assert_eq!(tree.best(), None);
}

#[test]
fn a_position_that_is_over_has_nothing_to_search() {
    let game = Scripted::new(&Node::white([Node::end(1, 0)]));
    let mut position = game.start();
    game.play(&mut position, Action(0));
    let mut tree = Tree::new(game, GUMBEL, TreeSize { nodes: 9, edges: 9 }, position);
    tree.plan(SearchPlan::new(5));
    assert!(matches!(tree.select(), Step::Done));
    assert_eq!(tree.best(), None);
}

#[test]
#[should_panic(expected = "not the leaf selected last")]
fn a_leaf_from_before_a_restart_is_refused() {
    let game = Jarmo::standard();
    let limit = TreeSize::for_simulations(&game, 8);
    let mut tree = Tree::new(game.clone(), GUMBEL, limit, game.start());
    tree.plan(SearchPlan::new(8));
    let Step::Evaluate(leaf) = tree.select() else {
        panic!("the root needs an evaluation");
    };
    tree.restart(game.start());
    tree.expand(leaf, &[], &Evaluation::of(Value::EVEN));
}

#[test]
fn a_tree_does_not_depend_on_its_neighbours() {
    fn check<G: Game>(game: G, positions: usize) {
        let mut choose = common::chooser(5);
        let mut starts = Vec::new();
        while starts.len() < positions {
            let mut position = game.start();
            for _ in 0..choose(25) {
                let legal = game.legal(&position);
                if legal.is_empty() {
                    break;
                }
                game.play(&mut position, legal.nth(choose(legal.count() as usize) as u32));
            }
            starts.push(position);
        }
        for rule in search_rules() {
            let make = |(index, position): (usize, &G::Position)| {
                let limit = TreeSize::for_simulations(&game, 60);
                let mut tree = Tree::new(game.clone(), rule, limit, *position);
                let mut noise = stream(3, index as u64);
                let legal = game.legal(position).count() as usize;
                let noise: Vec<f32> = match rule {
                    SearchRule::Gumbel(_) => (0..legal).map(|_| gumbel_noise(noise.next_u64())).collect(),
                    SearchRule::Puct(_) => {
                        let mut sample = vec![0.0; legal];
                        dirichlet(0.5, &mut sample, || noise.next_u64());
                        sample
                    }
                };
                tree.plan(SearchPlan::new(20 + index as u32).up_to(60).noise(&noise).seed(index as u64));
                tree
            };
            let trees = || starts.iter().enumerate().map(make).collect::<Vec<_>>();
            let mut alone = trees();
            for tree in &mut alone {
                Batch::new(&game).search(std::slice::from_mut(tree), &mut opinionated(&game, 1), |_| false);
            }
            for width in [3, 1000] {
                let mut together = trees();
                let mut evaluator = opinionated(&game, width);
                Batch::new(&game).search(&mut together, &mut evaluator, |_| false);
                for (one, other) in alone.iter().zip(&together) {
                    assert_eq!(summary(one), summary(other), "{} {width}", game.id());
                }
            }
            // Rollouts draw from the seed of their own tree.
            let (mut one_by_one, mut all) = (trees(), trees());
            let mut rollout = Rollout::new(game.clone());
            for tree in &mut one_by_one {
                Batch::new(&game).search(std::slice::from_mut(tree), &mut rollout, |_| false);
            }
            Batch::new(&game).search(&mut all, &mut rollout, |_| false);
            for (one, other) in one_by_one.iter().zip(&all) {
                assert_eq!(summary(one), summary(other), "{}", game.id());
            }
        }
    }
    check(Jarmo::standard(), 20);
    check(Guard::standard(), 20);
    check(Tammi::standard(), 10);
}

#[test]
fn a_temperature_makes_priors_flatter() {
    let game = Jarmo::standard();
    let priors = |temperature: f32| -> Vec<f32> {
        let settings = PuctSettings { temperature, ..PuctSettings::default() };
        let tree = grown(&game, SearchRule::Puct(settings), 4, &mut opinionated(&game, 1));
        tree.root_actions().iter().map(|root| root.prior).collect()
    };
    let (plain, flat) = (priors(1.0), priors(2.0));
    assert!((flat.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    let roots: Vec<f32> = plain.iter().map(|prior| prior.sqrt()).collect();
    let sum: f32 = roots.iter().sum();
    let most = |numbers: &[f32]| numbers.iter().fold(0.0, |most: f32, &n| most.max(n));
    assert!(most(&plain) > 1.2 * most(&flat), "a test of an opinion");
    for (flat, root) in flat.iter().zip(roots) {
        assert!((flat - root / sum).abs() < 1e-5);
    }
}

#[test]
fn values_within_the_least_range_have_less_influence_on_the_improved_policy() {
    let game = Scripted::new(&Node::white([corridor(Player::White, 50), corridor(Player::White, 50)]));
    let white = HashMap::from([(0, 0.49), (1, 0.5), (52, 0.48)]); // better by 0.02
    let full = 0.1 * (50.0 + 1.0); // nats, after one visit to each
    for (least_range, nats) in [(0.0, full), (0.01, full), (0.2, 0.1 * full)] {
        let settings = GumbelSettings { least_range, ..GumbelSettings::default() };
        let rule = SearchRule::Gumbel(settings);
        let tree = grown(&game, rule, 2, &mut by_node(&game, white.clone()));
        let mut shares = vec![0.0; game.actions()];
        tree.write_policy(&mut shares);
        let found = (shares[0] / shares[1]).ln();
        assert!((found - nats).abs() < 1e-3, "{least_range}: {found}");
    }
}

#[test]
fn noise_is_an_argument_and_changes_the_choice() {
    let game = Jarmo::standard();
    let legal = game.legal(&game.start()).count() as usize;
    let pick = |favourite: usize| {
        let limit = TreeSize::for_simulations(&game, 16);
        let mut tree = Tree::new(game.clone(), GUMBEL, limit, game.start());
        let mut noise = vec![0.0; legal];
        noise[favourite] = 50.0;
        tree.plan(SearchPlan::new(16).noise(&noise));
        Batch::new(&game).search(std::slice::from_mut(&mut tree), &mut Uniform, |_| false);
        tree.best()
    };
    let actions: Vec<Action> = game.legal(&game.start()).iter().collect();
    for (favourite, action) in actions.into_iter().enumerate() {
        assert_eq!(pick(favourite), Some(action));
    }
}

#[test]
fn dirichlet_and_gumbel_noise_have_their_means() {
    let mut bits = stream(11, 0);
    for alpha in [0.03, 0.3, 1.0, 10.0] {
        let (mut sum, mut squares) = (0.0, 0.0);
        const SAMPLES: usize = 20_000;
        for _ in 0..SAMPLES {
            let mut sample = [0.0; 4];
            dirichlet(alpha, &mut sample, || bits.next_u64());
            assert!((sample.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            sum += f64::from(sample[0]);
            squares += f64::from(sample[0]).powi(2);
        }
        let mean = sum / SAMPLES as f64;
        let variance = squares / SAMPLES as f64 - mean * mean;
        let expected = 0.25 * 0.75 / (4.0 * alpha + 1.0);
        assert!((mean - 0.25).abs() < 0.02, "{alpha}: {mean}");
        assert!((variance / expected - 1.0).abs() < 0.1, "{alpha}: {variance}");
    }
    let mean = (0..20_000).map(|_| f64::from(gumbel_noise(bits.next_u64()))).sum::<f64>() / 20_000.0;
    assert!((mean - 0.577).abs() < 0.03, "{mean}");
}

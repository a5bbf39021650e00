//! The tree of moves: random edits against a naive model, the text form, and what a session does with variations.

use jarmo::catalog::GameSettings;
use jarmo::game::Player;
use jarmo::record::GameRecord;
use play::board::RecordProblem;
use play::session::Session;
use play::specs::Store;
use play::tree::{MARKS, Node, Remark, Tree};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The same tree as nested lists.
#[derive(Clone, Debug, Default, PartialEq)]
struct Naive {
    text: String,
    mark: String,
    comment: String,
    children: Vec<Naive>,
}

impl Naive {
    fn at(&mut self, path: &[usize]) -> &mut Naive {
        path.iter().fold(self, |tree, &child| &mut tree.children[child])
    }

    /// The ways to all positions.
    fn paths(&self) -> Vec<Vec<usize>> {
        let below = self.children.iter().enumerate().flat_map(|(index, child)| {
            let paths = child.paths().into_iter();
            paths.map(move |path| [&[index], path.as_slice()].concat())
        });
        std::iter::once(Vec::new()).chain(below).collect()
    }

    fn label(&self) -> String {
        let comment = if self.comment.is_empty() { String::new() } else { format!("{{{}}}", self.comment) };
        let parts = [self.text.as_str(), &self.mark, &comment];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// What follows this position.
    fn rest(&self) -> String {
        let [main, others @ ..] = self.children.as_slice() else {
            return String::new();
        };
        let aside = others.iter().map(|other| format!("( {}{} )", other.label(), other.rest()));
        let parts: Vec<String> = std::iter::once(main.label()).chain(aside).collect();
        format!(" {}{}", parts.join(" "), main.rest())
    }
}

/// The position of a tree at the end of a way.
fn node(tree: &Tree<String>, path: &[usize]) -> Node {
    path.iter().fold(Node::ROOT, |node, &child| tree.at(node).children[child])
}

fn read(text: &str) -> Option<Tree<String>> {
    let mut tree = Tree::new(String::new());
    let play = |tree: &mut Tree<String>, from, text: &str| {
        let known = tree.at(from).children.iter().copied().find(|&child| tree.at(child).content == text);
        Ok::<_, ()>(known.unwrap_or_else(|| tree.add(from, text.to_owned())))
    };
    tree.read(text, play).unwrap().map(|()| tree)
}

#[test]
fn random_edits_leave_the_same_tree_as_a_naive_model() {
    let mut rng = StdRng::seed_from_u64(60);
    for _ in 0..200 {
        let (mut naive, mut tree) = (Naive::default(), Tree::new(String::new()));
        for step in 0..60 {
            let paths = naive.paths();
            let path = &paths[rng.random_range(0..paths.len())];
            let here = node(&tree, path);
            match rng.random_range(0..8) {
                0 if !path.is_empty() => {
                    let (last, parent) = path.split_last().unwrap();
                    naive.at(parent).children.remove(*last);
                    assert!(tree.remove(here));
                    assert!(!tree.has(here));
                }
                1 => {
                    let turn = path.iter().rposition(|&child| child > 0);
                    if let Some(turn) = turn {
                        let children = &mut naive.at(&path[..turn]).children;
                        let first = children.remove(path[turn]);
                        children.insert(0, first);
                    }
                    assert_eq!(tree.promote(here), turn.is_some());
                }
                2 if !path.is_empty() => {
                    let mark = MARKS[rng.random_range(0..MARKS.len())];
                    let there = naive.at(path);
                    (there.mark, there.comment) = (mark.to_owned(), format!("as {step} ( ?"));
                    tree.set_remark(here, Remark::new(mark, &format!(" as {step}\n( ? ")));
                }
                _ => {
                    let text = format!("m{step}");
                    naive.at(path).children.push(Naive { text: text.clone(), ..Naive::default() });
                    tree.add(here, text);
                }
            }
            let paths = naive.paths();
            assert_eq!(tree.size() + 1, paths.len());
            for path in &paths {
                let there = node(&tree, path);
                assert_eq!(tree.at(there).content, naive.at(path).text);
                assert_eq!(tree.path(there).len(), path.len() + 1);
            }
            let text = tree.text(|text| text);
            assert_eq!(text, naive.rest().trim());
            assert_eq!(read(&text).unwrap().text(|text| text), text);
            let main = paths.iter().filter(|path| path.iter().all(|&child| child == 0)).count();
            assert_eq!(tree.line(Node::ROOT).len(), main);
            let plain = paths.len() == main && !text.contains('{');
            assert_eq!(tree.is_plain(), plain, "{text}");
        }
    }
}

#[test]
fn texts_that_are_no_trees_are_refused() {
    for text in ["( a )", "a ( b", "a )", "a ( b ) )", ")", "a ( ( b ) )"] {
        assert!(read(text).is_none(), "{text}");
    }
    for text in ["", "a", "a b", "a ( b ) c", "a ( b c ( d ) ) e", "a {x", "?! a"] {
        assert!(read(text).is_some(), "{text}");
    }
}

fn session(game: &str, seats: [&str; 2]) -> Session {
    let mut session = Session::new(Store::default(), game, GameSettings::default(), None, seats, 5).unwrap();
    session.evaluating = false;
    session
}

fn texts(session: &Session) -> Vec<String> {
    session.board().moves().into_iter().map(|played| played.text).collect()
}

#[test]
fn a_move_from_an_earlier_position_loses_nothing() {
    let mut game = session("connect_four", ["human", "human"]);
    for text in ["D", "D", "C", "C"] {
        game.play(text).unwrap();
    }
    game.go_to(1);
    assert!(game.asks(), "the game continues elsewhere");
    game.play("A").unwrap();
    assert!(!game.asks() && game.is_live(), "it continues here now");
    assert_eq!(texts(&game), ["D", "A"]);
    let record = game.record();
    assert_eq!(record.moves, ["D", "A"], "the moves of the game");
    assert_eq!(record.tree.as_deref(), Some("D A ( D C C )"));
    game.undo();
    assert!(!game.asks(), "who takes back wants to move elsewhere");
}

#[test]
fn an_analysis_adds_variations_and_the_game_stays() {
    let mut game = session("connect_four", ["human", "greedy"]);
    game.load(&GameRecord::parse(r#"{"game":"connect_four","moves":["D","D","C","C"]}"#).unwrap()).unwrap();
    game.set_analysing(true);
    game.go_to(2);
    game.play("E").unwrap();
    game.play("E").unwrap();
    assert_eq!(game.record().moves, ["D", "D", "C", "C"]);
    assert_eq!(game.record().tree.as_deref(), Some("D D C ( E E ) C"));
    // The same move again is the same variation, and shows how it continues.
    game.go_to(2);
    game.play("E").unwrap();
    assert_eq!(texts(&game), ["D", "D", "E", "E"]);
    assert_eq!(game.board().cursor(), 3);
    let variation = game.board().shown();
    game.set_remark(variation, Remark::new("?!", "why {not}"));
    game.promote(variation);
    assert_eq!(game.record().tree.as_deref(), Some("D D E ?! {why (not)} ( C C ) E"));
    game.set_analysing(false);
    let line = game.record();
    let mut other = session("jarmo", ["human", "human"]);
    other.load(&line).unwrap();
    assert_eq!(other.record().tree, line.tree, "a record brings it all back");
    game.remove(variation);
    assert_eq!(game.record().tree, None);
    assert_eq!(texts(&game), ["D", "D", "C", "C"]);
    assert_eq!(game.board().cursor(), 2);
}

#[test]
fn a_game_against_an_agent_continues_only_outside_the_analysis() {
    let mut game = session("connect_four", ["human", "random"]);
    game.play("D").unwrap();
    game.set_analysing(true);
    for text in ["D", "C"] {
        game.play(text).unwrap();
    }
    game.set_analysing(false);
    assert_eq!(game.board().cursor(), 1);
    assert!(game.is_live() && game.agents_turn());
    // People can enter their moves there.
    game.set_seat(Player::Black, "human").unwrap();
    game.set_analysing(true);
    game.play("E").unwrap();
    game.set_analysing(false);
    assert_eq!(texts(&game), ["D", "E"]);
    assert!(game.is_live());
}

#[test]
fn leaving_the_analysis_in_a_variation_shows_the_game() {
    let mut game = session("connect_four", ["human", "human"]);
    for text in ["D", "D", "C"] {
        game.play(text).unwrap();
    }
    game.set_analysing(true);
    game.go_to(0);
    game.play("A").unwrap();
    game.set_analysing(false);
    assert_eq!(texts(&game), ["D", "D", "C"]);
    assert!(game.is_live());
    // Playing on from the variation makes it the game.
    game.set_analysing(true);
    game.go_to(0);
    game.play("A").unwrap();
    game.resume();
    assert_eq!(game.record().moves, ["A"]);
    assert_eq!(game.record().tree.as_deref(), Some("A ( D D C )"));
}

#[test]
fn moves_are_numbered_as_moves() {
    let record = r#"{"game":"tammi","moves":["c3-d4","d6-c5"]}"#;
    let mut game = session("tammi", ["human", "human"]);
    game.load(&GameRecord::parse(record).unwrap()).unwrap();
    let legal = game.board().scene().legal.remove(0).text;
    game.play(&legal).unwrap();
    let numbers: Vec<u32> = game.board().moves().iter().map(|played| played.number).collect();
    assert_eq!(numbers[..2], [1, 1]);
    assert_eq!(numbers[2], 2);
}

#[test]
fn variations_that_do_not_fit_the_moves_are_refused() {
    let mut game = session("jarmo", ["human", "human"]);
    for tree in ["D ( C", "D E", "D C )"] {
        let line = format!(r#"{{"game":"connect_four","moves":["D","C"],"tree":"{tree}"}}"#);
        assert_eq!(game.load(&GameRecord::parse(&line).unwrap()), Err(RecordProblem::Tree), "{tree}");
    }
    let illegal = r#"{"game":"connect_four","moves":["D"],"tree":"D ( H )"}"#;
    let problem = game.load(&GameRecord::parse(illegal).unwrap()).unwrap_err();
    assert!(matches!(problem, RecordProblem::Move { number: 2, .. }), "{problem}");
    assert_eq!(game.board().game(), "jarmo");
}

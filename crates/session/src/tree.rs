//! A tree of moves: a main line, and variations that begin anywhere in it or in other variations. It does not depend on
//! the game: the caller defines moves and decides which are legal.
//!
//! As text, a move is followed by its annotation and its comment. A variation in parentheses follows the move that it
//! replaces: `A1-C2 A5-B3 ?! {too early} ( B5-C3 C1-D3 ) C1-D3`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The annotations of moves, best first.
pub const MARKS: [&str; 6] = ["!!", "!", "!?", "?!", "?", "??"];

/// A position of a tree. A tree never uses the same name for two positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Node(u32);

impl Node {
    /// The first position.
    pub const ROOT: Node = Node(0);
}

/// A person's annotation of a move and comment on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remark {
    /// One of [`MARKS`], or empty.
    pub mark: &'static str,
    /// One line without braces, or empty.
    pub comment: String,
}

impl Remark {
    /// A remark; what the text form cannot hold is replaced.
    pub fn new(mark: &str, comment: &str) -> Remark {
        let words: Vec<&str> = comment.split_whitespace().collect();
        Remark {
            mark: known_mark(mark).unwrap_or_default(),
            comment: words.join(" ").replace('{', "(").replace('}', ")"),
        }
    }
}

fn known_mark(text: &str) -> Option<&'static str> {
    MARKS.into_iter().find(|mark| *mark == text)
}

/// A tree with a content for each position.
#[derive(Clone)]
pub struct Tree<T> {
    entries: BTreeMap<Node, Entry<T>>,
    next: u32,
}

/// A position of a tree.
#[derive(Clone)]
pub struct Entry<T> {
    /// The caller's data.
    pub content: T,
    /// The position before the move that leads here; `None` for the first one.
    pub parent: Option<Node>,
    /// The positions after the moves from here. The first continues the line.
    pub children: Vec<Node>,
    /// The remark on the move that leads here.
    pub remark: Remark,
}

/// A part of the text of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token<M> {
    /// A move.
    Move(M),
    /// The annotation of the previous move.
    Mark(&'static str),
    /// The comment on the previous move.
    Comment(String),
    /// A variation begins, which replaces the previous move.
    Open,
    /// The variation ends.
    Close,
}

impl<T> Tree<T> {
    /// A tree without moves.
    pub fn new(content: T) -> Tree<T> {
        let root = Entry { content, parent: None, children: Vec::new(), remark: Remark::default() };
        Tree { entries: BTreeMap::from([(Node::ROOT, root)]), next: 1 }
    }

    /// Adds a move as the last of those from a position.
    pub fn add(&mut self, parent: Node, content: T) -> Node {
        let node = Node(self.next);
        self.next += 1;
        self.entry_mut(parent).children.push(node);
        self.entries
            .insert(node, Entry { content, parent: Some(parent), children: Vec::new(), remark: Remark::default() });
        node
    }

    /// The number of moves.
    pub fn size(&self) -> usize {
        self.entries.len() - 1
    }

    /// Whether the tree has this position.
    pub fn has(&self, node: Node) -> bool {
        self.entries.contains_key(&node)
    }

    /// A position of the tree, which must have it.
    pub fn at(&self, node: Node) -> &Entry<T> {
        &self.entries[&node]
    }

    /// Replaces the remark on a move, if the tree has the move.
    pub fn set_remark(&mut self, node: Node, remark: Remark) {
        if let Some(entry) = self.entries.get_mut(&node) {
            entry.remark = remark;
        }
    }

    /// The positions from the first one to this one.
    pub fn path(&self, node: Node) -> Vec<Node> {
        let mut path: Vec<Node> = std::iter::successors(Some(node), |&node| self.at(node).parent).collect();
        path.reverse();
        path
    }

    /// The line through a position: the moves to it, and its main continuation.
    pub fn line(&self, node: Node) -> Vec<Node> {
        let mut line = self.path(node);
        line.extend(std::iter::successors(self.at(node).children.first(), |&&node| self.at(node).children.first()));
        line
    }

    /// Where the variation that a position belongs to begins, makes it the main line. Returns false if the position is
    /// on the main line or not in the tree.
    pub fn promote(&mut self, node: Node) -> bool {
        if !self.has(node) {
            return false;
        }
        for step in self.path(node).windows(2).rev() {
            let children = &mut self.entry_mut(step[0]).children;
            let place =
                children.iter().position(|child| *child == step[1]).expect("a position is a child of its parent");
            if place > 0 {
                children[..=place].rotate_right(1);
                return true;
            }
        }
        false
    }

    /// Removes a move and everything after it. Returns false if there is no such move.
    pub fn remove(&mut self, node: Node) -> bool {
        let Some(parent) = self.entries.get(&node).and_then(|entry| entry.parent) else {
            return false;
        };
        self.entry_mut(parent).children.retain(|child| *child != node);
        let mut doomed = vec![node];
        while let Some(entry) = doomed.pop().and_then(|node| self.entries.remove(&node)) {
            doomed.extend(entry.children);
        }
        true
    }

    /// Whether the tree is a single line without remarks.
    pub fn is_plain(&self) -> bool {
        self.entries.values().all(|entry| entry.children.len() < 2 && entry.remark == Remark::default())
    }

    /// The tree in the order of its text.
    pub fn tokens(&self) -> Vec<Token<Node>> {
        enum Todo {
            After(Node),
            Variation(Node),
            Close,
        }
        let mut tokens = Vec::new();
        let tell = |node, tokens: &mut Vec<Token<Node>>| {
            tokens.push(Token::Move(node));
            let Remark { mark, comment } = &self.at(node).remark;
            tokens.extend((!mark.is_empty()).then_some(Token::Mark(mark)));
            tokens.extend((!comment.is_empty()).then(|| Token::Comment(comment.clone())));
        };
        let mut todo = vec![Todo::After(Node::ROOT)];
        while let Some(next) = todo.pop() {
            match next {
                Todo::After(node) => {
                    if let [first, others @ ..] = self.at(node).children.as_slice() {
                        tell(*first, &mut tokens);
                        todo.push(Todo::After(*first));
                        todo.extend(others.iter().rev().map(|&other| Todo::Variation(other)));
                    }
                }
                Todo::Variation(node) => {
                    tokens.push(Token::Open);
                    tell(node, &mut tokens);
                    todo.extend([Todo::Close, Todo::After(node)]);
                }
                Todo::Close => tokens.push(Token::Close),
            }
        }
        tokens
    }

    /// All moves in the order of the text.
    pub fn nodes(&self) -> Vec<Node> {
        let moves = self.tokens().into_iter().filter_map(|token| match token {
            Token::Move(node) => Some(node),
            _ => None,
        });
        moves.collect()
    }

    /// The text of the tree, with the texts of its moves.
    pub fn text<'a>(&'a self, of: impl Fn(&'a T) -> &'a str) -> String {
        let words = self.tokens().into_iter().map(|token| match token {
            Token::Move(node) => of(&self.at(node).content).to_owned(),
            Token::Mark(mark) => mark.to_owned(),
            Token::Comment(comment) => format!("{{{comment}}}"),
            Token::Open => "(".to_owned(),
            Token::Close => ")".to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// Adds the moves of a text. `play` finds or adds the position after a move. Returns `None` if the text is not
    /// that of a tree.
    pub fn read<E>(
        &mut self,
        text: &str,
        mut play: impl FnMut(&mut Tree<T>, Node, &str) -> Result<Node, E>,
    ) -> Result<Option<()>, E> {
        let (mut here, mut open) = (Node::ROOT, Vec::new());
        for token in tokens_of(text) {
            match token {
                Token::Move(text) => here = play(self, here, text)?,
                Token::Mark(mark) => self.entry_mut(here).remark.mark = mark,
                Token::Comment(comment) => self.entry_mut(here).remark.comment = Remark::new("", &comment).comment,
                Token::Open => {
                    open.push(here);
                    let Some(parent) = self.at(here).parent else {
                        return Ok(None);
                    };
                    here = parent;
                }
                Token::Close => {
                    let Some(before) = open.pop() else {
                        return Ok(None);
                    };
                    here = before;
                }
            }
        }
        Ok(open.is_empty().then_some(()))
    }

    fn entry_mut(&mut self, node: Node) -> &mut Entry<T> {
        self.entries.get_mut(&node).expect("a position of the tree")
    }
}

/// The parts of a text. A comment that does not end goes to the end of the text.
pub fn tokens_of(text: &str) -> Vec<Token<&str>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (token, length) = match rest.strip_prefix('{') {
            Some(comment) => {
                let end = comment.find('}').unwrap_or(comment.len());
                (Token::Comment(comment[..end].to_owned()), (end + 2).min(rest.len()))
            }
            None => {
                let word = rest.split_whitespace().next().unwrap_or_default();
                let token = match (word, known_mark(word)) {
                    (_, Some(mark)) => Token::Mark(mark),
                    ("(", _) => Token::Open,
                    (")", _) => Token::Close,
                    _ => Token::Move(word),
                };
                (token, word.len())
            }
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    tokens
}

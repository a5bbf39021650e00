//! The caller's arrays as slices, and their parts for each thread.

/// Features of 0 and 1, as one of the types that an environment writes.
pub enum Features<'a> {
    /// `float32`.
    Float(&'a mut [f32]),
    /// `uint8`.
    Byte(&'a mut [u8]),
}

/// Legal actions.
pub enum Masks<'a> {
    /// One `bool` per action.
    Bool(&'a mut [bool]),
    /// Eight actions per byte, the lowest in the lowest bit.
    Packed(&'a mut [u8]),
}

/// What a step writes, row by row: one row per game.
pub struct Out<'a> {
    pub features: Features<'a>,
    pub masks: Masks<'a>,
    pub rewards: &'a mut [f32], // [games, 2], White and Black
    pub terminated: &'a mut [bool],
    pub truncated: &'a mut [bool],
    pub to_move: &'a mut [i8],
    /// Whether features and masks are all 0 already.
    pub zeroed: bool,
}

impl<'a> Out<'a> {
    /// Cuts the rows into parts of `share` rows; the last part may have fewer.
    pub fn parts(self, share: usize) -> Vec<Out<'a>> {
        let games = self.to_move.len();
        let zeroed = self.zeroed;
        let mut features = match self.features {
            Features::Float(all) => chunks(all, games, share, Features::Float),
            Features::Byte(all) => chunks(all, games, share, Features::Byte),
        }
        .into_iter();
        let mut masks = match self.masks {
            Masks::Bool(all) => chunks(all, games, share, Masks::Bool),
            Masks::Packed(all) => chunks(all, games, share, Masks::Packed),
        }
        .into_iter();
        let rewards = self.rewards.chunks_mut(2 * share);
        let terminated = self.terminated.chunks_mut(share);
        let truncated = self.truncated.chunks_mut(share);
        let to_move = self.to_move.chunks_mut(share);
        rewards
            .zip(terminated)
            .zip(truncated)
            .zip(to_move)
            .map(|(((rewards, terminated), truncated), to_move)| Out {
                features: features.next().expect("as many parts"),
                masks: masks.next().expect("as many parts"),
                rewards,
                terminated,
                truncated,
                to_move,
                zeroed,
            })
            .collect()
    }
}

fn chunks<'a, T, P>(
    all: &'a mut [T],
    games: usize,
    share: usize,
    part: fn(&'a mut [T]) -> P,
) -> Vec<P> {
    let width = all.len() / games;
    all.chunks_mut(width * share).map(part).collect()
}

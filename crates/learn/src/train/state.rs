//! The learner as a file: everything that the next step depends on, bit by bit.

use serde::{Deserialize, Serialize};

use super::adam::Adam;
use super::learner::{Learner, LearnerSettings};
use jarmo_core::net::container::Format;
use jarmo_core::net::{FileError, NetKind, NetSettings, NetShape, Weights};

const FORMAT: Format = Format { key: "jarmo_learner", what: "learner", version: 3 };

/// What comes before the names of the four numbers that are kept for every weight.
const PARTS: [&str; 4] = ["weights/", "average/", "first/", "second/"];

#[derive(Serialize, Deserialize)]
struct LearnerHeader {
    net: NetSettings,
    shape: NetShape,
    steps: u64,
}

impl Learner {
    /// Everything that the next step depends on, but for the settings.
    pub fn to_bytes(&self) -> Vec<u8> {
        let header =
            LearnerHeader { net: self.weights.settings(), shape: *self.weights.shape(), steps: self.adam.steps };
        let parts = [&self.weights, &self.average, &self.adam.first, &self.adam.second];
        let arrays = PARTS.into_iter().zip(parts);
        let arrays: Vec<_> = arrays.flat_map(|(part, weights)| weights.to_arrays(part)).collect();
        FORMAT.write(&header, &arrays)
    }

    /// A learner as it was when its bytes were written, with these settings. Averaged weights that could
    /// overflow are refused.
    pub fn from_bytes(settings: LearnerSettings, bytes: &[u8]) -> Result<Learner, FileError> {
        let (header, arrays) = FORMAT.read::<LearnerHeader>(bytes)?;
        let net = NetKind::BuiltIn(header.net);
        let [weights, average, first, second] =
            PARTS.map(|part| Weights::from_arrays(&net, header.shape, &arrays, part));
        let adam = Adam { first: first?, second: second?, steps: header.steps };
        let average = average?;
        average.check_range().map_err(|error| error.to_string())?;
        Ok(Learner::from_parts(settings, weights?, average, adam))
    }
}
